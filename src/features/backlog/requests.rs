//! "add to the backlog: renew the certificate", said in the chat.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::action::WHAT;
use super::model::{ItemDraft, Origin, Wait, WorkItem, short_id};
use super::named::list_named;
use super::render::name_of_owner;
use super::request::{Request, Wanted, find_due, find_order, parse_request};
use super::said::read_background;
use super::service::{AskedIn, Asker, Backlog, BacklogError, PROSE};
use super::store::insert_items;
use crate::features::chat::listener::{Listener, Taken};
use crate::features::chat::model::decision::{Decision, Reason};
use kernel::agent::{NamedText, with_names};
use kernel::chat::medium::{Medium, shorten};
use kernel::chat::message::{AuthorKind, Channel, InboundMessage, Place, Speaker};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::commands::{Late, Right};
use kernel::db::{Applied, Effect, StoreError, Transaction};
use kernel::memory::Scope;
use kernel::text::without_invisible;
use kernel::time::show_time;

/// Recognises what people want added.
pub(super) struct RequestListener {
    pub(super) backlog: Late<Backlog>,
}

/// The new items, written with the decision on the message that asks for them.
#[derive(Debug)]
struct AddItems(Vec<WorkItem>);

#[async_trait]
impl Effect for AddItems {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied, StoreError> {
        insert_items(transaction, &self.0, at).await?;
        Ok(Applied::Done)
    }
}

#[async_trait]
impl Listener for RequestListener {
    fn recognises(&self, message: &InboundMessage) -> bool {
        let Ok(backlog) = self.backlog.get() else { return false };
        message.author.kind == AuthorKind::Person && find_request(&backlog, message).is_some()
    }

    async fn list_named(&self, text: &str, channel: &Channel) -> Result<Vec<NamedText>, StoreError> {
        let Ok(backlog) = self.backlog.get() else { return Ok(Vec::new()) };
        list_named(backlog.store(), backlog.roster(), text, &Scope::of(channel), &[]).await
    }

    /// Takes a message that a persona would answer, or that is addressed to nobody. The persona that was spoken to says what was added.
    async fn take(&self, message: &InboundMessage, decision: &Decision) -> Result<Option<Taken>, StoreError> {
        let Ok(backlog) = self.backlog.get() else { return Ok(None) };
        let unheard = decision.responders.is_empty() && !matches!(decision.reason, Reason::Silence | Reason::Standup);
        if message.author.kind != AuthorKind::Person || unheard {
            return Ok(None);
        }
        let Some(request) = find_request(&backlog, message) else { return Ok(None) };
        let Some(asked) = backlog.read_asked(request, message).await? else { return Ok(None) };
        let persona = decision.responders.first().unwrap_or(&backlog.roster().coordinator().slug);
        let say = |text: String| OutboundMessage {
            reply_to: Some(message.id.clone()),
            ..OutboundMessage::new(persona, &message.channel.id, OutboundKind::Notice, text)
        };
        let why = "it asks for work to be added".to_owned();
        if asked.drafts.is_empty() {
            let told = "What should I add? Try \"add to the backlog: renew the certificate\".";
            return Ok(Some(Taken { why, reply: Some(say(told.to_owned())), effect: None }));
        }
        Ok(Some(match backlog.draft_for(&asked, message).await {
            Ok(items) => Taken { why, reply: Some(say(told_added(&backlog, &items))), effect: Some(Box::new(AddItems(items))) },
            Err(BacklogError::Refused(told)) => Taken { why, reply: Some(say(format!("Not added: it {told}."))), effect: None },
            Err(BacklogError::Store(error)) => return Err(error),
        }))
    }
}

/// What a message wants added, with the words that belong to it.
struct Asked {
    /// Empty if the message does not say what.
    drafts: Vec<ItemDraft>,
    /// The person's words, whole.
    said: String,
}

impl Backlog {
    /// None: the message refers to something that is missing, so a persona answers.
    async fn read_asked(&self, Request { wanted, owner }: Request, message: &InboundMessage) -> Result<Option<Asked>, StoreError> {
        let draft = |what: &str, how: String| {
            let due = find_due(what, |due| self.parse_due(due).is_ok()).map(str::to_owned);
            let line = what.split_whitespace().collect::<Vec<_>>().join(" ");
            // A long text is in the message, and has a short title.
            let title = if line.chars().count() > WHAT { shorten(&line, WHAT - 1) } else { line };
            let how = Some(how).filter(|how| how.chars().count() <= PROSE).unwrap_or_default();
            ItemDraft { what: title, how, owner: owner.clone(), due, ..ItemDraft::default() }
        };
        let said = without_invisible(&message.text).trim().to_owned();
        Ok(Some(match wanted {
            Wanted::One { what, how } => Asked { drafts: vec![draft(&what, how)], said },
            Wanted::Several(all) => {
                let how = format!("One of {} things that were asked for together. Only this one is meant here.", all.len());
                let order = find_order(&all);
                let is_ordered = order.iter().any(|needs| !needs.is_empty());
                let ordered = all.iter().zip(order).enumerate().map(|(index, (what, needs))| ItemDraft {
                    key: is_ordered.then(|| format!("entry {}", index + 1)),
                    needs: needs.into_iter().map(|other| format!("entry {}", other + 1)).collect(),
                    ..draft(what, how.clone())
                });
                Asked { drafts: ordered.collect(), said }
            }
            Wanted::Nothing => Asked { drafts: Vec::new(), said },
            Wanted::Pointed => {
                let Some(reply) = &message.reply_to else { return Ok(None) };
                let spoken = self.store().find_spoken(&message.channel.id, &reply.message).await?;
                let by_person = spoken.filter(|spoken| matches!(spoken.speaker, Speaker::Person { .. }) && !spoken.text.trim().is_empty());
                let Some(spoken) = by_person else { return Ok(None) };
                let text = without_invisible(&spoken.text).trim().to_owned();
                Asked { drafts: vec![draft(&text, String::new())], said: text }
            }
        }))
    }

    async fn draft_for(&self, wanted: &Asked, message: &InboundMessage) -> Result<Vec<WorkItem>, BacklogError> {
        // In a direct conversation not every persona can post.
        let channel = (message.channel.place != Place::Direct).then(|| message.channel.id.clone());
        let asker = Asker::Person {
            id: message.author.id.clone(),
            name: message.author.name.clone(),
            right: Right::Anybody,
            channel: Some(message.channel.clone()),
        };
        let place = AskedIn { channel, private_to: Scope::of(&message.channel).place().cloned() };
        let background = read_background(self.store(), self.roster(), message).await?;
        let said = with_names(self.store(), self.roster(), &wanted.said).await?;
        let mut items = self.draft_all(&wanted.drafts, &asker, place).await?;
        for item in &mut items {
            item.said.clone_from(&said);
            item.background.clone_from(&background);
            if let Origin::Person { message: said_in, .. } = &mut item.origin {
                *said_in = Some(message.id.clone());
            }
        }
        Ok(items)
    }
}

fn told_added(backlog: &Backlog, items: &[WorkItem]) -> String {
    let line = |item: &WorkItem| {
        let owner = Medium::Chat.line_within(name_of_owner(&item.owner, backlog.roster()), 40);
        let due = item.due.map_or(String::new(), |due| format!(", due {}", show_time(due, backlog.zone())));
        format!("{} (`#{}`, for {owner}{due})", Medium::Chat.line(&item.what), item.short_id())
    };
    match items {
        [item] => match &item.wait {
            Some(Wait::Duplicate { of, what }) => {
                let known = Medium::Chat.line(&format!("\"{what}\" (#{})", short_id(of)));
                format!("Not added yet: this looks like {known}. Use the buttons below to add it anyway.")
            }
            _ => format!("Added to the backlog: {}", line(item)),
        },
        items => {
            let lines: Vec<String> = items.iter().map(|item| format!("- {}", line(item))).collect();
            format!("Added {} items to the backlog:\n{}", items.len(), lines.join("\n"))
        }
    }
}

pub(super) fn find_request(backlog: &Backlog, message: &InboundMessage) -> Option<Request> {
    let personas = backlog.roster().personas().iter();
    let names: Vec<&str> =
        personas.flat_map(|persona| std::iter::once(&persona.name).chain(&persona.aliases)).map(String::as_str).collect();
    parse_request(&without_invisible(&message.text), &names)
}
