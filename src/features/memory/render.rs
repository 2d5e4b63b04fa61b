//! What people read of memories.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use kernel::chat::medium::Medium;
use kernel::chat::outbound::OutboundMessage;
use kernel::memory::{Memory, Teacher, short_id};
use kernel::text::{capital, join_with_and};

use super::button::{Choice, MemoryButton};
use super::knowledge::Outcome;
use super::service::{History, OpenedSpan, Taught};

/// The most characters of a name, of a memory on its own, and of one in a list.
const NAME: usize = 40;
const TEXT: usize = 600;
const LISTED: usize = 160;

/// The most characters of the name of a document.
const TITLE: usize = 100;

/// Confirms that a fact is remembered. The text is not repeated, so that forgetting it leaves no copy.
pub(super) fn render_taught(taught: &Taught, in_conversation: bool) -> String {
    let id = short_id(taught.kept());
    let whom = match (&taught.memory.place, in_conversation) {
        (None, _) => "for the whole team",
        (Some(_), true) => "for this conversation only",
        (Some(_), false) => "for this channel only",
    };
    let known = taught.known.as_ref().is_some_and(|known| known.taught_by.is_some());
    match &taught.replaced {
        Some(older) => format!("I'll remember that {whom}, in place of `{}` (`{id}`).", older.short_id()),
        None if known => format!("I know that already (`{id}`)."),
        None => {
            let rival = taught.rival.as_ref().map_or(String::new(), |rival| {
                let by = rival.taught_by.as_ref().map_or(String::new(), |by| format!(", taught by {}", name(&by.name)));
                format!(" It may contradict `{}`{by}.", rival.short_id())
            });
            format!("I'll remember that {whom} (`{id}`).{rival}")
        }
    }
}

pub(super) fn render_replaced(newer: &Memory, older: &Memory, by: &Teacher) -> String {
    format!("{} replaced `{}` with `{}`. The older one stays in `/memory show`.", name(&by.name), older.short_id(), newer.short_id())
}

/// Which documents were read, and why others were not: a line each.
pub(super) fn render_knowledge(outcomes: &[Outcome]) -> String {
    let read: Vec<String> =
        outcomes.iter().filter(|outcome| outcome.refusal.is_none()).map(|outcome| Medium::Chat.line_within(&outcome.name, TITLE)).collect();
    let them = if read.len() == 1 { "it" } else { "them" };
    let read = (!read.is_empty()).then(|| format!("I've read {}. Ask us about {them} any time.", join_with_and(&read)));
    let refused = outcomes.iter().filter_map(|outcome| outcome.refusal.as_deref()).map(|why| Medium::Chat.line_within(why, 300));
    read.into_iter().chain(refused).collect::<Vec<_>>().join("\n")
}

/// An address that is not rendered as a link, without its query.
pub(super) fn shown_address(address: &str) -> String {
    let shown = address.split_once("://").map_or(address, |(_, rest)| rest);
    shown.split(['?', '#']).next().unwrap_or(shown).trim_end_matches('/').to_owned()
}

pub(super) fn render_found(found: &[Memory], zone: Tz) -> String {
    if found.is_empty() {
        return "I remember nothing about that here. Teach me with `/memory teach`, or write \"remember: we deploy on Thursdays\"."
            .to_owned();
    }
    let line = |memory: &Memory| {
        let text = Medium::Chat.line_within(&memory.text, LISTED);
        format!("- `{}` {text} ({})", memory.short_id(), origin(memory, zone))
    };
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

pub(super) fn render_history(history: &History, zone: Tz) -> String {
    let History { memory, older, newer } = history;
    let id = memory.short_id();
    if let (Some(by), Some(at)) = (&memory.forgotten_by, memory.ended_at) {
        return format!("`{id}` was forgotten on {} by {}.", day(at, zone), name(by));
    }
    let mut text = format!("`{id}` {}\n", Medium::Chat.line_within(&memory.text, TEXT));
    let _ = write!(text, "{}. ", capital(&origin(memory, zone)));
    text.push_str(match (&memory.place, memory.held) {
        (_, true) => "Not in use: it comes from text on the web. To use it, teach it in your own words.",
        (None, false) => "Told everywhere.",
        (Some(_), false) => "Told only here.",
    });
    match (newer, memory.ended_at) {
        (Some(newer), Some(at)) => {
            let _ = write!(text, "\nReplaced on {} by `{}`.", day(at, zone), newer.short_id());
        }
        (None, Some(at)) => {
            let _ = write!(text, "\nNot in use since {}.", day(at, zone));
        }
        _ => {}
    }
    for older in older {
        let until = older.ended_at.map_or(String::new(), |at| format!(", until {}", day(at, zone)));
        let id = older.short_id();
        let _ = if older.forgotten_by.is_some() {
            write!(text, "\nBefore that: `{id}`, which was forgotten.")
        } else {
            let line = Medium::Chat.line_within(&older.text, LISTED);
            write!(text, "\nBefore that: `{id}` {line} ({}{until})", origin(older, zone))
        };
    }
    text
}

/// A summary with the messages that it covers.
pub(super) fn render_span(opened: &OpenedSpan, zone: Tz) -> String {
    let OpenedSpan { span, lines } = opened;
    let time = |at: DateTime<Utc>| at.with_timezone(&zone).format("%a %-d %b, %H:%M").to_string();
    let place = if span.channel_name.is_empty() { "this conversation".to_owned() } else { format!("#{}", name(&span.channel_name)) };
    let summary = if span.text.is_empty() { "The summary is being made again." } else { &span.text };
    let mut text = format!(
        "`{}` {place}, {} to {}, {} messages\n{}",
        span.short_id(),
        time(span.from_at),
        time(span.to_at),
        span.messages,
        Medium::Chat.line_within(summary, 2 * TEXT)
    );
    for (who, line) in lines {
        let _ = write!(text, "\n- {}, {}: {}", name(who), time(line.at), Medium::Chat.line_within(&line.text, LISTED));
    }
    text
}

pub(super) fn render_forgotten(id: &str, older: usize) -> String {
    let with = match older {
        0 => String::new(),
        1 => ", with the older version".to_owned(),
        many => format!(", with {many} older versions"),
    };
    format!("Forgotten for good (`{id}`){with}. Messages in the chat stay visible until you delete them, but we don't read them any more.")
}

pub(super) fn render_confirmed(memory: &Memory, by: &Teacher) -> String {
    format!("{} confirmed the lesson `{}`. It is used from now on.", name(&by.name), memory.short_id())
}

/// Asks people whether a lesson from outside text may be used. Adds nothing if no lesson waits for that, or if it may not be told there.
pub fn offer_lesson(message: &mut OutboundMessage, memory: Option<&Memory>) {
    let may_be_told = |memory: &&Memory| memory.place.as_ref().is_none_or(|place| *place == message.channel);
    let Some(memory) = memory.filter(|memory| memory.held).filter(may_be_told) else { return };
    let lesson = Medium::Chat.line_within(&memory.text, LISTED);
    let _ = write!(message.text, "\nLesson, with text from outside in it: {lesson}\nIt is not used unless somebody confirms it.");
    message.buttons.push(MemoryButton::new(Choice::Confirm, &memory.id).render());
}

/// "Ann taught it on 24 Nov 2026", "learnt on 24 Nov 2026".
fn origin(memory: &Memory, zone: Tz) -> String {
    let on = day(memory.created_at, zone);
    match &memory.taught_by {
        Some(by) => format!("{} taught it on {on}", name(&by.name)),
        None if memory.origin.is_some() => {
            memory.cite(&on, |text, chars| Medium::Chat.line_within(text, chars)).replacen("From ", "from ", 1)
        }
        None => format!("learnt on {on}"),
    }
}

fn name(name: &str) -> String {
    Medium::Chat.line_within(name, NAME)
}

fn day(at: DateTime<Utc>, zone: Tz) -> String {
    at.with_timezone(&zone).format("%-d %b %Y").to_string()
}

#[cfg(test)]
mod tests {
    use kernel::chat::outbound::OutboundKind;
    use kernel::testing::persona::lesson;

    use super::*;

    fn offered(memory: Option<&Memory>) -> OutboundMessage {
        let mut message = OutboundMessage::new(&"kelly".into(), &"c1".into(), OutboundKind::Notice, "Done.");
        offer_lesson(&mut message, memory);
        message
    }

    #[test]
    fn a_lesson_from_the_web_is_offered_where_it_may_be_told() {
        let held = Memory { held: true, ..lesson("Shop B **hides** its price.", &[Memory::OUTSIDE]) };
        let message = offered(Some(&held));
        assert!(message.text.starts_with("Done.\nLesson, with text from outside in it: Shop B "), "{}", message.text);
        assert!(message.text.ends_with("\nIt is not used unless somebody confirms it."), "{}", message.text);
        assert_eq!(message.buttons.len(), 1);
        assert_eq!(offered(Some(&Memory { place: Some("c1".into()), ..held.clone() })).buttons.len(), 1);
        for nothing in [Some(&Memory { place: Some("c2".into()), ..held.clone() }), Some(&Memory { held: false, ..held.clone() }), None] {
            assert_eq!((offered(nothing).text.as_str(), offered(nothing).buttons.len()), ("Done.", 0));
        }
    }
}
