//! Messages about work: who says them where, the results, and what all questions share.

use std::fmt::Write as _;

use serde_json::json;

use crate::features::backlog::button::WorkButton;
use crate::features::backlog::model::{Artefact, Owner, WorkItem, WorkStatus, criteria};
use crate::features::backlog::render::{attach, how_to_merge, labels, lines};
use kernel::chat::medium::Medium;
use kernel::chat::outbound::{Button, ButtonStyle, OutboundKind, OutboundMessage};
use kernel::chat::text::Mention;
use kernel::ids::{ChannelId, OutboxId, PersonaSlug, UserId};
use kernel::persona::roster::Roster;
use kernel::tools::approval::fingerprint;

/// The most characters of each part. Together below 2000, so that no message is cut on a platform that holds as much.
pub(super) const WHAT: usize = 200;
pub(super) const HOW: usize = 400;
/// A person's reply, or a reason.
pub(super) const REPLY: usize = 240;
const CRITERIA: usize = 5;
const CRITERION: usize = 120;
const EVIDENCE: usize = 6;
pub(super) const FINDING: usize = 120;

/// Where people are told about an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    Channel(ChannelId),
    /// The direct conversation with a person, for items that were asked for in it.
    Direct(UserId),
}

impl Spot {
    /// None for a direct conversation: only the platform knows its channel.
    pub fn channel(&self) -> Option<&ChannelId> {
        match self {
            Self::Channel(channel) => Some(channel),
            Self::Direct(_) => None,
        }
    }
}

/// The speaker and the place.
#[derive(Debug, Clone, Copy)]
pub struct Announcer<'a> {
    pub persona: &'a PersonaSlug,
    pub spot: &'a Spot,
    pub roster: &'a Roster,
}

impl Announcer<'_> {
    pub fn announce_done(&self, item: &WorkItem) -> OutboundMessage {
        self.say(lines::render_done(item, self.roster))
    }

    /// Announces a finished item with the files that it made. The message's id says which result it is, for what people say below it.
    pub fn announce_result(&self, item: &WorkItem, files: &[Artefact]) -> OutboundMessage {
        let id = WorkItem::notice_id_of(&item.id, item.run, WorkStatus::Done);
        let mut message = OutboundMessage { id, ..self.announce_done(item) };
        message.text.push_str(&how_to_merge(item));
        message.text.push_str(&attach(&mut message.files, item, files));
        message
    }

    /// Announces a failed item to the person who is responsible, and says how they can help.
    pub fn ask_after_failure(&self, item: &WorkItem, person: Option<&Owner>) -> OutboundMessage {
        let message = self.announce_failed(item);
        let Some(Owner::Person { id, .. }) = person else { return message };
        let how = format!("`/backlog show id:{}` says what was tried. Provide what was missing, then try again.", item.short_id());
        OutboundMessage { text: format!("{}\n{}, can you help? {how}", message.text, Mention(id)), pings: vec![id.clone()], ..message }
    }

    /// Announces a failed item, with a button to try again.
    pub fn announce_failed(&self, item: &WorkItem) -> OutboundMessage {
        let retry = button(&WorkButton::Retry(item.id.clone()), "Try again", ButtonStyle::Secondary);
        OutboundMessage { buttons: vec![retry], ..self.say(lines::render_failed(item, self.roster)) }
    }

    /// Announces an item that a person cancelled, with a button that takes it back.
    pub fn announce_cancelled(&self, item: &WorkItem) -> OutboundMessage {
        let restore = button(&WorkButton::Restore(item.id.clone()), "Take it back", ButtonStyle::Secondary);
        OutboundMessage { buttons: vec![restore], ..self.say(lines::render_cancelled(item)) }
    }

    /// Asks whether an item with work in it is to be cancelled.
    pub fn ask_cancel(&self, item: &WorkItem) -> OutboundMessage {
        let text = format!("❔ Cancel {}? There is work in it. It can be taken back for an hour.", title(item));
        let now = button(&WorkButton::CancelNow(item.id.clone()), "Cancel it", ButtonStyle::Danger);
        let keep = button(&WorkButton::Keep(item.id.clone()), "Keep it", ButtonStyle::Secondary);
        OutboundMessage { buttons: vec![now, keep], ..self.say(text) }
    }

    /// Says what an item waits for whose cancellation was taken back.
    pub fn announce_restored(&self, item: &WorkItem, buttons: Vec<Button>) -> OutboundMessage {
        let waits =
            item.wait.as_ref().map_or(String::new(), |wait| format!(" It waits {}.", Medium::Chat.line_within(&wait.describe(), HOW)));
        OutboundMessage { buttons, ..self.say(format!("↩ {} was not cancelled after all.{waits}", title(item))) }
    }

    /// Says which tests of a repository fail before any change. The same tests have the same message, so that they are told once.
    pub fn tell_red_base(&self, repository: &str, tests: &[String]) -> OutboundMessage {
        let print = fingerprint(repository, &json!(tests));
        let named = Medium::Chat.line_within(&tests.join(", "), HOW);
        let repository = Medium::Chat.line_within(repository, FINDING);
        let text = format!("⚠ Tests of {repository} fail before any change: {named}. They are not held against the work on it.");
        OutboundMessage { id: OutboxId::new(format!("red-base-{print}")), ..self.say(text) }
    }

    /// A summary of many items that ended because of others.
    pub fn announce_many(&self, many: usize) -> OutboundMessage {
        self.say(format!("And {many} more items ended because of that. See `/backlog list`."))
    }

    pub(super) fn say(&self, text: String) -> OutboundMessage {
        match self.spot {
            Spot::Channel(channel) => OutboundMessage::new(self.persona, channel, OutboundKind::Notice, text),
            Spot::Direct(to) => OutboundMessage::direct(self.persona, to, OutboundKind::Notice, text),
        }
    }

    pub(super) fn push_evidence(&self, text: &mut String, item: &WorkItem) {
        for found in item.evidence.iter().take(EVIDENCE) {
            let _ = write!(text, "\n- {}", Medium::Chat.line_within(&labels::evidence(found, self.roster), FINDING));
        }
        if item.evidence.len() > EVIDENCE {
            let _ = write!(text, "\n- and {} more", item.evidence.len() - EVIDENCE);
        }
    }
}

/// How a message names a person, and whom it pings.
pub(super) fn address(person: Option<&Owner>) -> (String, Vec<UserId>) {
    match person {
        Some(Owner::Person { id, .. }) => (Mention(id).to_string(), vec![id.clone()]),
        _ => ("somebody on the team".to_owned(), Vec::new()),
    }
}

/// An item's title and short id.
pub(super) fn title(item: &WorkItem) -> String {
    format!("**{}** (#{})", Medium::Chat.line_within(&item.what, WHAT), item.short_id())
}

/// Adds the criteria, unless they are the defaults of the kind of work, which a person does not need to read.
pub(super) fn push_criteria(text: &mut String, item: &WorkItem) {
    if item.criteria == criteria::by_kind(item) {
        return;
    }
    for criterion in item.criteria.iter().take(CRITERIA) {
        let _ = write!(text, "\nDone when: {}", Medium::Chat.line_within(criterion, CRITERION));
    }
}

pub(super) fn button(what: &WorkButton, label: &str, style: ButtonStyle) -> Button {
    Button { id: what.id(), label: label.to_owned(), style }
}
