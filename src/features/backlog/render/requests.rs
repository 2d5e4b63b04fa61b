//! What people are asked to do: reminders, questions and calls for help.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use crate::features::backlog::button::WorkButton;
use crate::features::backlog::model::{Execution, Owner, Urgency, WorkItem, WorkKind};
use crate::features::backlog::render::labels;
use crate::features::backlog::render::messages::{Announcer, HOW, REPLY, address, button, push_criteria, title};
use kernel::chat::medium::Medium;
use kernel::chat::message::InboundMessage;
use kernel::chat::outbound::{Button, ButtonStyle, OutboundMessage};
use kernel::chat::text::Mention;
use kernel::ids::{MessageId, UserId};
use kernel::time::show_time;

/// The most characters of what a person is to do in a step. They fit into one message with all else.
const INSTRUCTIONS: usize = 1300;

/// How a person answers a question.
const HOW_TO_ANSWER: &str = "Reply to this message, or attach the file.";

impl Announcer<'_> {
    /// Reminds the person or persona that an item is for. People are pinged and report the result with buttons.
    pub fn remind(&self, item: &WorkItem, zone: Tz) -> OutboundMessage {
        let (whom, pings) = address(item.find_awaited());
        // "Some time" needs no word.
        let is_open = item.due.is_none() && item.urgency == Urgency::Backlog;
        let when = if is_open { String::new() } else { format!(" ({})", labels::when(item, zone)) };
        let mut text = format!("⏰ Reminder for {whom}{when}: {}", title(item));
        if item.kind == WorkKind::Step {
            text = format!("📌 A step for {whom}{when}: {}{}\nReply with what came of it.", title(item), instructions(item));
        } else {
            push_details(&mut text, item);
        }
        OutboundMessage { pings, buttons: word_buttons(item), ..self.say(text) }
    }

    /// Asks a person a question, to be answered with a reply.
    pub fn ask_person(&self, item: &WorkItem, question: &str, zone: Tz) -> OutboundMessage {
        let (whom, pings) = address(item.find_awaited());
        let mut text = format!("❓ Question for {whom}: {}", title(item));
        // The question begins with the title, unless somebody else worded it.
        let rest = question.strip_prefix(item.what.as_str()).map_or(question, |rest| rest.trim_start_matches(['.', ' ']));
        if !rest.is_empty() {
            let _ = write!(text, "\n{}", Medium::Chat.line_within(rest, HOW));
        }
        if !item.why.is_empty() {
            let _ = write!(text, "\nWhy: {}", Medium::Chat.line_within(&item.why, HOW));
        }
        if let Some(due) = item.due {
            let _ = write!(text, "\nNeeded by {}", show_time(due, zone));
        }
        let _ = write!(text, "\n{HOW_TO_ANSWER}");
        OutboundMessage { pings, buttons: answer_buttons(item), ..self.say(text) }
    }

    /// Reminds a person of what an item waits for. `is_last`: no other reminder follows.
    pub fn remind_again(&self, item: &WorkItem, is_last: bool, now: DateTime<Utc>, zone: Tz) -> OutboundMessage {
        let (whom, pings) = address(item.find_helper());
        let asks = matches!(&item.execution, Some(Execution::Ask { .. }));
        let mut text = format!("⏰ {whom}, {}: {}", if asks { "this still waits for your answer" } else { "is this done" }, title(item));
        if let Some(due) = item.due {
            let _ = write!(text, "\n{} {}", if due < now { "It was due on" } else { "It is due on" }, show_time(due, zone));
        }
        if asks {
            let _ = write!(text, "\n{HOW_TO_ANSWER}");
        }
        if is_last {
            text.push_str("\nThis is the last reminder. It stays open in `/backlog list`.");
        }
        OutboundMessage { pings, buttons: if asks { answer_buttons(item) } else { word_buttons(item) }, ..self.say(text) }
    }

    /// Asks a person for what the asked personas did not know: what was asked, who did not know it, and how to help.
    pub fn ask_help(&self, item: &WorkItem, person: Option<&Owner>) -> OutboundMessage {
        let (whom, pings) = address(person);
        let mut text = format!("❓ Help needed from {whom}: nobody on the team knows the answer to {}", title(item));
        if let Some(Execution::Ask { question, unanswered, .. }) = &item.execution {
            let _ = write!(text, "\nAsked: {}", Medium::Chat.line_within(question, HOW));
            for reply in unanswered {
                let by = labels::name(self.roster.name_of(&reply.by));
                let _ = write!(text, "\n- {by}: {}", Medium::Chat.line_within(&reply.said, REPLY));
            }
        }
        let _ = write!(
            text,
            "\nIf you know it, reply to this message, or use `/backlog answer id:{} text:…`. If a file or a data source has the answer, add it and try again.",
            item.short_id()
        );
        OutboundMessage { pings, buttons: help_buttons(item), ..self.say(text) }
    }

    /// Asks back whether a reply is the answer, where no model can tell it from "I don't know".
    pub fn ask_answer(&self, item: &WorkItem, reply: &MessageId) -> OutboundMessage {
        let confirm = button(&WorkButton::Answer(item.id.clone(), reply.clone()), "Yes, that's it", ButtonStyle::Success);
        let buttons = std::iter::once(confirm).chain(answer_buttons(item)).collect();
        OutboundMessage { buttons, ..self.say(format!("Is that the answer to {}?", title(item))) }
    }

    /// Asks back whether an item is done, below a person's reply that does not say so plainly. With "Done" the reply is its outcome.
    pub fn ask_word(&self, item: &WorkItem, reply: Option<&MessageId>) -> OutboundMessage {
        let mut buttons = word_buttons(item);
        if let (Some(done), Some(reply)) = (buttons.first_mut(), reply) {
            done.id = WorkButton::Answer(item.id.clone(), reply.clone()).id();
        }
        OutboundMessage { buttons, ..self.say(format!("Is {} done?", title(item))) }
    }

    /// Asks the person who is to do an item whether it is done, because somebody else said something about it. With "Done" these words are its outcome.
    pub fn ask_owner(&self, item: &WorkItem, whom: &UserId, said: &InboundMessage) -> OutboundMessage {
        let by = labels::name(&said.author.name);
        let text = format!("{}, {by} says something about {}. Is it done?", Mention(whom), title(item));
        OutboundMessage { text, pings: vec![whom.clone()], ..self.ask_word(item, Some(&said.id)) }
    }
}

/// What is to be done, line by line. What does not fit is named, with the command that shows it.
fn instructions(item: &WorkItem) -> String {
    let mut text = String::new();
    for line in item.how.lines().filter(|line| !line.trim().is_empty()) {
        let line = format!("\n{}", Medium::Chat.line(line));
        if text.chars().count() + line.chars().count() > INSTRUCTIONS {
            let _ = write!(text, "\n(There is more: `/backlog show id:{}`)", item.short_id());
            break;
        }
        text.push_str(&line);
    }
    text
}

fn push_details(text: &mut String, item: &WorkItem) {
    for (label, words) in [("How", &item.how), ("Why", &item.why)] {
        if !words.is_empty() {
            let _ = write!(text, "\n{label}: {}", Medium::Chat.line_within(words, HOW));
        }
    }
    push_criteria(text, item);
}

/// The buttons below what the asked personas did not know.
pub(super) fn help_buttons(item: &WorkItem) -> Vec<Button> {
    vec![
        button(&WorkButton::Retry(item.id.clone()), "Try again", ButtonStyle::Primary),
        button(&WorkButton::NotNeeded(item.id.clone()), "Not needed", ButtonStyle::Secondary),
    ]
}

/// The buttons below what a person is asked.
pub(super) fn answer_buttons(item: &WorkItem) -> Vec<Button> {
    vec![
        button(&WorkButton::Unknown(item.id.clone()), "I don't know", ButtonStyle::Secondary),
        button(&WorkButton::NotNeeded(item.id.clone()), "Not needed", ButtonStyle::Secondary),
    ]
}

/// The buttons below what a person is reminded of.
pub(super) fn word_buttons(item: &WorkItem) -> Vec<Button> {
    vec![
        button(&WorkButton::Done(item.id.clone()), "Done", ButtonStyle::Success),
        button(&WorkButton::NotNeeded(item.id.clone()), "Not needed", ButtonStyle::Secondary),
    ]
}
