//! What people decide about an item: its kind, whether it is wanted, whether it is good enough, whether it may cost more.

use std::fmt::Write as _;

use chrono::{NaiveDate, NaiveTime};

use crate::features::backlog::button::WorkButton;
use crate::features::backlog::model::{ExecutionKind, Owner, WorkItem, WorkStatus, short_id};
use crate::features::backlog::render::labels;
use crate::features::backlog::render::messages::{Announcer, HOW, REPLY, WHAT, address, button, push_criteria, title};
use kernel::chat::medium::Medium;
use kernel::chat::outbound::{Button, ButtonStyle, OutboundFile, OutboundMessage};
use kernel::chat::text::Mention;
use kernel::ids::WorkItemId;
use kernel::money::Refused;

/// The most parts shown, and the most characters of what one was and of what it gave.
const PARTS: usize = 3;
const PART: usize = 120;
const OUTCOME: usize = 160;
/// The most rejections shown.
const REJECTIONS: usize = 5;

/// Addresses a question to the person who is responsible. Unchanged if nobody is known, or if the message pings somebody already.
pub fn put_to(message: OutboundMessage, person: Option<&Owner>) -> OutboundMessage {
    match person {
        Some(Owner::Person { id, .. }) if message.pings.is_empty() => {
            OutboundMessage { text: format!("{}\n{}, it is up to you.", message.text, Mention(id)), pings: vec![id.clone()], ..message }
        }
        _ => message,
    }
}

impl Announcer<'_> {
    /// Asks a person which kind of work an item is.
    pub fn ask_kind(&self, item: &WorkItem, person: Option<&Owner>) -> OutboundMessage {
        let (whom, pings) = address(person);
        let text = format!("❔ For {whom}: how should the team go about {}?", title(item));
        OutboundMessage { pings, buttons: kind_buttons(item), ..self.say(text) }
    }

    /// Asks whether an item is wanted that looks like an open one.
    pub fn ask_anyway(&self, item: &WorkItem, of: &WorkItemId, what: &str) -> OutboundMessage {
        let like = Medium::Chat.line_within(what, WHAT);
        let text = format!("❔ {} looks like **{like}** (#{}). Add it anyway?", title(item), short_id(of));
        OutboundMessage { buttons: anyway_buttons(item), ..self.say(text) }
    }

    /// Asks people to review a result, or what the parts of an item gave. `files`: the result.
    pub fn ask_review(&self, item: &WorkItem, parts: &[WorkItem], files: Vec<OutboundFile>) -> OutboundMessage {
        if !parts.is_empty() {
            return self.ask_whole(item, parts, files);
        }
        let by = item.persona.as_ref().map_or_else(|| labels::name_of_owner(&item.owner, self.roster), |slug| self.roster.name_of(slug));
        let mut text = format!("🔎 {} needs a review: {}", labels::name(by), title(item));
        push_criteria(&mut text, item);
        self.push_evidence(&mut text, item);
        OutboundMessage { files, buttons: review_buttons(item, false), ..self.say(text) }
    }

    /// Asks people whether the parts of an item give the whole.
    fn ask_whole(&self, item: &WorkItem, parts: &[WorkItem], files: Vec<OutboundFile>) -> OutboundMessage {
        let mut text = format!("🔎 All parts of {} are over. Is it done?", title(item));
        push_criteria(&mut text, item);
        for part in parts.iter().take(PARTS) {
            let mark = if part.status == WorkStatus::Done { "✔" } else { "⊘" };
            let outcome =
                part.outcome.as_deref().map_or(String::new(), |outcome| format!(" — {}", Medium::Chat.line_within(outcome, OUTCOME)));
            let _ = write!(text, "\n- {mark} {}{outcome}", Medium::Chat.line_within(&part.what, PART));
        }
        if parts.len() > PARTS {
            let _ = write!(text, "\n- and {} more", parts.len() - PARTS);
        }
        OutboundMessage { files, buttons: review_buttons(item, true), ..self.say(text) }
    }

    /// Asks people to decide about an item. `made`: there is a result that could be accepted.
    pub fn ask_decision(&self, item: &WorkItem, why: &str, made: bool) -> OutboundMessage {
        let mut lines = why.lines();
        let mut text =
            format!("⚖ Decision needed: {}\nWhy: {}", title(item), Medium::Chat.line_within(lines.next().unwrap_or_default(), HOW));
        let history: Vec<String> = lines.take(REJECTIONS).map(|line| Medium::Chat.line_within(line, REPLY)).collect();
        for line in &history {
            let _ = write!(text, "\n- {line}");
        }
        if history.is_empty() {
            self.push_evidence(&mut text, item);
        }
        OutboundMessage { buttons: decision_buttons(item, made), ..self.say(text) }
    }

    /// Reports a used-up budget, with a button that raises the limit by `step`. `day`: the day of a daily limit, in UTC.
    pub fn ask_budget(&self, item: &WorkItem, refused: &Refused, day: Option<NaiveDate>, step: i64) -> OutboundMessage {
        let next = day.and_then(|day| day.succ_opt()).map(|next| next.and_time(NaiveTime::MIN).and_utc());
        let until = next.map_or(String::new(), |next| format!(" It continues on {}.", self.roster.show_time(next)));
        let text = format!("💰 On hold: {} — {refused}. Results so far are kept.{until}", title(item));
        OutboundMessage { buttons: budget_buttons(item, refused, step), ..self.say(text) }
    }
}

pub(super) fn kind_buttons(item: &WorkItem) -> Vec<Button> {
    let kinds = ExecutionKind::CHOSEN.map(|(kind, label)| button(&WorkButton::Kind(item.id.clone(), kind), label, ButtonStyle::Primary));
    let dropped = button(&WorkButton::NotNeeded(item.id.clone()), "Not needed", ButtonStyle::Secondary);
    kinds.into_iter().chain([dropped]).collect()
}

pub(super) fn anyway_buttons(item: &WorkItem) -> Vec<Button> {
    vec![
        button(&WorkButton::Anyway(item.id.clone()), "Add anyway", ButtonStyle::Primary),
        button(&WorkButton::NotNeeded(item.id.clone()), "Don't add", ButtonStyle::Secondary),
    ]
}

/// `is_whole`: the review is about the results of the item's parts.
pub(super) fn review_buttons(item: &WorkItem, is_whole: bool) -> Vec<Button> {
    let (accept, reject) = if is_whole { ("Yes, done", "Not yet") } else { ("Accept", "Reject: try again") };
    vec![
        button(&WorkButton::Accept(item.id.clone()), accept, ButtonStyle::Success),
        button(&WorkButton::Reject(item.id.clone()), reject, ButtonStyle::Secondary),
        cancel_button(item),
    ]
}

/// `made`: there is a result that could be accepted.
pub(super) fn decision_buttons(item: &WorkItem, made: bool) -> Vec<Button> {
    let accept = made.then(|| button(&WorkButton::Accept(item.id.clone()), "Accept as it is", ButtonStyle::Success));
    let retry = button(&WorkButton::Retry(item.id.clone()), "Try again", ButtonStyle::Primary);
    [retry].into_iter().chain(accept).chain([cancel_button(item)]).collect()
}

pub(super) fn budget_buttons(item: &WorkItem, refused: &Refused, step: i64) -> Vec<Button> {
    let raise = format!("Raise by {}", refused.limit.render(step));
    vec![button(&WorkButton::Raise(item.id.clone()), &raise, ButtonStyle::Primary), cancel_button(item)]
}

pub(super) fn cancel_button(item: &WorkItem) -> Button {
    button(&WorkButton::Cancel(item.id.clone()), "Cancel", ButtonStyle::Danger)
}
