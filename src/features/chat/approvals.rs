//! Calls that a persona may only make once a person has allowed them, because it has read text from outside or because they throw work away. They are stored with the answer, each with
//! two buttons. The decision is stored with a job that makes the call. Tools that change something give it an id that depends on the message alone, so
//! that a job that is run again changes nothing more. Calls of other tools are not repeated.

use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::features::chat::Conversation;
use crate::features::chat::commands::ChatCommands;
use crate::features::chat::model::approval::ChatApproval;
use crate::features::chat::store::APPROVED;
use kernel::agent::turn::Turn;
use kernel::chat::medium::Medium;
use kernel::chat::message::AuthorKind;
use kernel::chat::outbound::{Button, ButtonStyle, OutboundMessage};
use kernel::chat::outbox::store::insert_outbound;
use kernel::chat::text::Subtext;
use kernel::commands::{Caller, CommandCall, CommandReply, Registry, Right, Services, refuse};
use kernel::db::StoreError;
use kernel::ids::ApprovalId;
use kernel::jobs::{JobContext, JobError, JobHandler, KindSettings};
use kernel::llm::ToolCall;
use kernel::memory::{MemorySource, Scope, Teacher};
use kernel::tools::approval::ApprovalState;
use kernel::tools::{AskedBy, ToolContext, ToolError, ToolOutput, Trace};

/// The prefix of the buttons' ids, before the first colon.
const PREFIX: &str = "allow";

/// The most characters of a request. A longer one is attached as a file.
const WISH: usize = 1500;

/// The step that is stored before a call that must not be repeated.
const BEGUN: &str = "begun";

/// A call that fails is tried this many times, with this pause.
const TRIES: u32 = 3;
const AGAIN: Duration = Duration::from_secs(5);

fn button_id(approval: &ApprovalId, allow: bool) -> String {
    format!("{PREFIX}:{}:{approval}", if allow { "yes" } else { "no" })
}

fn parse_button(id: &str) -> Option<(ApprovalId, bool)> {
    let (verb, approval) = id.strip_prefix(PREFIX)?.strip_prefix(':')?.split_once(':')?;
    match verb {
        "yes" => Some((approval.into(), true)),
        "no" => Some((approval.into(), false)),
        _ => None,
    }
}

pub(super) fn register(registry: &mut Registry, services: &Services) {
    registry.button(PREFIX, &services.late::<ChatCommands>(), |chat, call| Box::pin(chat.decide_approval(call)));
}

impl Conversation {
    /// The requests for the calls that a turn has proposed, and the messages that put them to the person.
    pub(super) async fn ask_approvals(
        &self,
        turn: &Turn,
        proposed: &[ToolCall],
    ) -> Result<(Vec<ChatApproval>, Vec<OutboundMessage>), StoreError> {
        if proposed.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let deps = self.deps();
        let row = deps.store.find_message(&turn.message).await?;
        let asker = row.filter(|row| row.message.author.kind == AuthorKind::Person).map(|row| row.message.author.id);
        let Some(asker) = asker else { return Ok((Vec::new(), Vec::new())) };
        let mut approvals = Vec::new();
        let mut messages = Vec::new();
        for call in proposed {
            let Some(wish) = deps.agents.runner.tools.describe_wish(&call.name, &call.arguments) else { continue };
            let approval = ChatApproval {
                id: ApprovalId::generate(),
                message: turn.message.clone(),
                asker: asker.clone(),
                channel: turn.channel.clone(),
                persona: turn.persona.clone(),
                tool: call.name.clone(),
                arguments: call.arguments.clone(),
                state: ApprovalState::Asked,
                by: None,
            };
            let note = if deps.agents.runner.tools.discards(&call.name, &call.arguments) {
                Subtext("I ask first, because this throws work away.")
            } else {
                Subtext("I ask first, because I have read text from outside for this, and this is my wording.")
            };
            let mut message = Self::notice(&turn.persona, &turn.channel, format!("{}\n{note}", wish.trim_end()));
            if wish.chars().count() > WISH {
                message.fit(&deps.platform.text_format(&turn.channel));
            }
            message.turn = Some(turn.id.clone());
            message.buttons = vec![
                Button { id: button_id(&approval.id, true), label: "Yes, do it".to_owned(), style: ButtonStyle::Success },
                Button { id: button_id(&approval.id, false), label: "No".to_owned(), style: ButtonStyle::Secondary },
            ];
            approvals.push(approval);
            messages.push(message);
        }
        Ok((approvals, messages))
    }

    /// Makes an allowed call, and posts its result.
    async fn make_approved(&self, job: &JobContext) -> Result<(), JobError> {
        let deps = self.deps();
        let id: ApprovalId = job.payload()?;
        let approval = deps.store.find_chat_approval(&id).await?.filter(|approval| approval.state == ApprovalState::Allowed);
        let said = match &approval {
            Some(approval) => deps.store.find_message(&approval.message).await?.filter(|row| row.deleted_at.is_none()),
            None => None,
        };
        // Without the message, nobody wants the call any more.
        let Some((approval, said)) = approval.zip(said) else { return job.begin_final().await?.finish().await };
        let source = MemorySource::Message(approval.message.clone());
        let scope = Scope::of(&said.message.channel);
        let author = &said.message.author;
        // The text of the message does not matter any more.
        let asked = AskedBy {
            person: Teacher { id: Some(author.id.clone()), name: author.name.clone() },
            text: String::new(),
            replied_to: String::new(),
            talk: Vec::new(),
        };
        let cancel: CancellationToken = job.cancelled().child_token();
        let context = ToolContext {
            persona: &approval.persona,
            workspace: None,
            source: Some(&source),
            scope: &scope,
            asked_by: Some(&asked),
            seen: &[],
            // The person has seen the whole call.
            tainted: false,
            now: job.now(),
            cancel: &cancel,
        };
        let tools = &deps.agents.runner.tools;
        let is_repeatable = tools.is_repeatable(&approval.tool);
        if !is_repeatable && job.find_step::<()>(BEGUN).await?.is_some() {
            let text = "I was interrupted while I did it. It may be done or not: please look before you ask for it again.";
            let mut last = job.begin_final().await?;
            let message = Self::notice(&approval.persona, &approval.channel, text.to_owned());
            insert_outbound(&mut last, &[message], Some(&approval.message), job.now()).await?;
            return last.finish().await;
        }
        if !is_repeatable {
            job.step(BEGUN, || async { Ok(()) }).await?;
        }
        let text = match tools.perform(&approval.tool, &approval.arguments, &context).await {
            // Words for people are Markdown already.
            Ok(ToolOutput { trace: Some(Trace::Confirmed { words, .. }), .. }) => words,
            Ok(output) => Medium::Chat.line(&output.text),
            Err(ToolError::Failed(_)) if cancel.is_cancelled() => return Err(JobError::Stopping),
            Err(ToolError::Failed(why)) if is_repeatable && job.job().attempts < TRIES => return Err(JobError::retry(AGAIN, why)),
            Err(error) => format!("That did not work: {}.", Medium::Chat.line(error.to_string().trim_end_matches('.'))),
        };
        let mut last = job.begin_final().await?;
        let message = Self::notice(&approval.persona, &approval.channel, text);
        insert_outbound(&mut last, &[message], Some(&approval.message), job.now()).await?;
        last.finish().await
    }
}

impl ChatCommands {
    async fn decide_approval(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let Some((id, allow)) = parse_button(&call.name) else { return Ok(refuse("this button is not known any more")?) };
        let Some(known) = self.store.find_chat_approval(&id).await? else {
            return Ok(CommandReply::refused("The message that this was for is gone.").retiring_buttons());
        };
        let is_asker = matches!(&call.caller, Caller::Person { id, .. } if *id == known.asker);
        if !is_asker && call.right != Right::Operator {
            return Ok(CommandReply::refused("Only the person who asked for it or an operator can decide this."));
        }
        if self.store.decide_chat_approval(&id, allow, call.caller.name(), self.clock.now()).await? {
            let told = if allow { "Allowed." } else { "Not done." };
            return Ok(CommandReply::private(told).retiring_buttons());
        }
        let by = known.by.as_deref().map_or_else(|| "Somebody".to_owned(), |by| Medium::Chat.line_within(by, 40));
        Ok(CommandReply::refused(format!("{by} has decided this already.")).retiring_buttons())
    }
}

/// Makes calls that a person has allowed.
pub(super) struct ApprovedHandler {
    pub(super) conversation: Conversation,
}

#[async_trait]
impl JobHandler for ApprovedHandler {
    fn kind(&self) -> &'static str {
        APPROVED
    }

    fn settings(&self) -> KindSettings {
        KindSettings { time_limit: Duration::from_mins(5), retention: Duration::from_hours(1), ..KindSettings::default() }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        self.conversation.make_approved(job).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_button_is_read_back_from_its_id() {
        for allow in [true, false] {
            assert_eq!(parse_button(&button_id(&"1".into(), allow)), Some(("1".into(), allow)));
        }
        for id in ["", "allow", "allow:yes", "allow:maybe:1", "memory:yes:1"] {
            assert_eq!(parse_button(id), None, "{id}");
        }
    }
}
