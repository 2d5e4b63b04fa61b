//! The backlog in the chat: `/backlog` and the buttons, in words.

use async_trait::async_trait;

use super::changing::named;
use super::{Asker, Backlog, DeskError, ListQuery};
use crate::chat::command::{BacklogCommand, Choice, Command, CommandCall, CommandReply, Department, Standing};
use crate::chat::medium::Medium;
use crate::domain::message::Place;
use crate::domain::work::{ItemDraft, WorkItem};
use crate::store::{Ended, StoreError};
use crate::work::button::WorkButton;
use crate::work::render::{Detail, name_of_owner, render_item, render_list};

/// How many rows fit into a message.
const LISTED: u32 = 15;

#[async_trait]
impl Department for Backlog {
    async fn carry(&self, call: &CommandCall, standing: Standing) -> anyhow::Result<Option<CommandReply>> {
        let asker = Asker::of(call, standing);
        let carried = match &call.command {
            Command::Backlog(command) => self.carry_command(command, &asker, call).await,
            Command::Press { button } => match WorkButton::parse(button) {
                Some(button) => self.press(&button, &asker).await,
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        match carried {
            Ok(reply) => Ok(Some(reply)),
            Err(DeskError::Refused(why)) => Ok(Some(CommandReply::refused(sentence(&why)))),
            Err(DeskError::Store(error)) => Err(error.into()),
        }
    }

    async fn complete(&self, typed: &str) -> Vec<Choice> {
        self.list_choices(typed).await.unwrap_or_else(|error: StoreError| {
            tracing::warn!(%error, "items cannot be offered for completion");
            Vec::new()
        })
    }
}

impl Backlog {
    async fn carry_command(&self, command: &BacklogCommand, asker: &Asker, call: &CommandCall) -> Result<CommandReply, DeskError> {
        let by = Medium::Chat.line_within(asker.name(), 40);
        Ok(match command {
            BacklogCommand::List { status, owner } => {
                let query = ListQuery { status: status.as_deref(), owner: owner.as_deref(), limit: LISTED };
                CommandReply::private(render_list(&self.list(&query).await?.view(), &self.parts.roster))
            }
            BacklogCommand::Show { id } => {
                CommandReply::private(render_item(&self.get_sheet(id).await?, &self.parts.roster, Detail::Brief))
            }
            BacklogCommand::Add(draft) => self.add_here(draft, asker, call, &by).await?,
            BacklogCommand::Run { id } => CommandReply::public(format!("{by} wants this next: {}", line(&self.run(id, asker).await?))),
            BacklogCommand::Retry { id } => {
                CommandReply::public(format!("{by} has this tried again: {}", line(&self.retry(id, asker).await?)))
            }
            BacklogCommand::Cancel { id } => CommandReply::public(tell_cancelled(&by, &self.cancel(id, asker).await?)),
            BacklogCommand::Edit { id, changes } => {
                CommandReply::public(format!("{by} changed an item: {}", line(&self.edit(id, changes, asker).await?)))
            }
        })
    }

    async fn add_here(&self, draft: &ItemDraft, asker: &Asker, call: &CommandCall, by: &str) -> Result<CommandReply, DeskError> {
        // In a direct conversation one persona could speak and no other.
        let channel = Some(call.channel.id.clone()).filter(|_| call.channel.place != Place::Direct);
        let item = self.add(draft, asker, channel).await?;
        let owner = Medium::Chat.line_within(name_of_owner(&item.owner, &self.parts.roster), 40);
        Ok(CommandReply::public(format!("{by} added for {owner}: {}", line(&item))))
    }
}

pub(super) fn tell_cancelled(by: &str, ended: &Ended) -> String {
    let with = match ended.failed.len() {
        0 => String::new(),
        1 => " One item that needs it fails with it.".to_owned(),
        failed => format!(" {failed} items that need it fail with it."),
    };
    format!("{by} cancelled {}.{with}", line(&ended.item))
}

/// An item as Markdown names it.
pub(super) fn line(item: &WorkItem) -> String {
    Medium::Chat.line(&named(item))
}

/// A reason as a sentence that formats nothing.
fn sentence(why: &str) -> String {
    let line = Medium::Chat.line(why);
    let mut chars = line.chars();
    let capital: String = chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default();
    if capital.ends_with(['.', '?', '!']) { capital } else { format!("{capital}.") }
}
