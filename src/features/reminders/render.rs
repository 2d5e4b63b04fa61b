//! What people read of reminders.

use std::fmt::Write as _;

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use chrono_tz::Tz;
use kernel::chat::medium::{Medium, shorten};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::chat::text::Mention;
use kernel::ids::{ChannelId, PersonaSlug, UserId};
use kernel::when::{Reading, Repetition};

use super::button::{Choice, RemindButton};
use super::model::{Person, Reminder, ReminderState};

/// The most characters of a name, and of the reminder's text in a message and in a list.
const NAME: usize = 40;
const WHAT: usize = 1500;
const LISTED: usize = 60;

/// A reminder that is later than this says when it was due.
const LATE: TimeDelta = TimeDelta::minutes(5);

/// What the reminded person reads when the time has come.
pub fn render_told(reminder: &Reminder, speaker: &PersonaSlug, now: DateTime<Utc>) -> OutboundMessage {
    let whom = &reminder.whom.id;
    let from = match &reminder.by {
        Some(by) if by.id != *whom => format!(" from {}", name(by)),
        _ => String::new(),
    };
    let due = if now - reminder.due > LATE { format!(", due on {}", time(reminder.due, now, reminder.zone)) } else { String::new() };
    let text = format!("Reminder for {}{from}{due}: {}", Mention(whom), what(reminder));
    let buttons = [Choice::Done, Choice::Hour, Choice::Tomorrow].map(|choice| RemindButton::of(choice, reminder).render());
    OutboundMessage {
        pings: vec![whom.clone()],
        buttons: buttons.into(),
        ..OutboundMessage::new(speaker, &reminder.channel, OutboundKind::Notice, text)
    }
}

/// The reminder in another place, because its own is gone: in a channel, or as a direct message to the person.
pub fn render_detour(
    reminder: &Reminder,
    speaker: &PersonaSlug,
    channel: Option<&ChannelId>,
    gone: &str,
    now: DateTime<Utc>,
) -> OutboundMessage {
    let told = render_told(reminder, speaker, now);
    let text = format!("{}\n{}", told.text, render_gone(gone));
    let place = match channel {
        Some(channel) => OutboundMessage::new(speaker, channel, OutboundKind::Notice, text),
        None => OutboundMessage::direct(speaker, &reminder.whom.id, OutboundKind::Notice, text),
    };
    OutboundMessage { pings: told.pings, buttons: told.buttons, ..place }
}

/// Told to the person who asked for the reminder, because the other one cannot be reached.
pub fn render_returned(reminder: &Reminder, speaker: &PersonaSlug, by: &Person, gone: &str) -> OutboundMessage {
    let whom = name(&reminder.whom);
    let text = format!(
        "I could not reach {whom} with your reminder: {}\n{} I could not send {whom} a direct message either.",
        what(reminder),
        render_gone(gone)
    );
    OutboundMessage::direct(speaker, &by.id, OutboundKind::Notice, text)
}

/// Said in another channel, whose people need not know what the reminder is about.
pub fn render_parked(reminder: &Reminder, speaker: &PersonaSlug, channel: &ChannelId, gone: &str) -> OutboundMessage {
    let whom = &reminder.whom.id;
    let text = format!(
        "{}, I have a reminder for you. I could not post it in {gone}, and you accept no direct messages from me. Allow them, then press a button to snooze it.",
        Mention(whom)
    );
    let buttons = [Choice::Done, Choice::Hour, Choice::Tomorrow].map(|choice| RemindButton::of(choice, reminder).render());
    OutboundMessage {
        pings: vec![whom.clone()],
        buttons: buttons.into(),
        ..OutboundMessage::new(speaker, channel, OutboundKind::Notice, text)
    }
}

fn render_gone(place: &str) -> String {
    format!("I could not post this in {place}: it is gone or closed to me.")
}

/// "I'll remind you on Fri 27 Nov at 09:00 CET: …", said to `reader`.
pub fn render_set(reminder: &Reminder, reading: &Reading, reader: Option<&UserId>, now: DateTime<Utc>) -> String {
    format!("I'll remind {} {}: {}", object(reminder, reader), render_when(reminder, reading, now), what(reminder))
}

/// The reading of a time in full: "every other Monday at 09:00, first on Mon 30 Nov at 09:00 CET".
pub fn render_when(reminder: &Reminder, reading: &Reading, now: DateTime<Utc>) -> String {
    let first = time(reminder.due, now, reminder.zone);
    let when = match (&reminder.repeat, reading.zone) {
        (Some(repetition), _) => format!("{}, first on {first}", render_repeat(repetition, reminder.zone)),
        (None, Some(zone)) => format!("on {first} ({})", reminder.due.with_timezone(&zone).format("%H:%M %Z")),
        (None, None) => format!("on {first}"),
    };
    let hour = reminder.due.with_timezone(&reading.zone.unwrap_or(reminder.zone));
    // "at 5" is read on a clock of 24 hours, which is rarely meant.
    if reading.is_early {
        format!("{when} (in the morning; for the afternoon, write {})", (hour + TimeDelta::hours(12)).format("%H:%M"))
    } else {
        when
    }
}

/// The answer to a snooze.
pub fn render_snoozed(reminder: &Reminder, reader: Option<&UserId>, now: DateTime<Utc>) -> String {
    format!("I'll remind {} again on {}: {}", object(reminder, reader), time(reminder.due, now, reminder.zone), what(reminder))
}

pub fn render_cancelled(reminder: &Reminder, reader: Option<&UserId>) -> String {
    let whose =
        if reader == Some(&reminder.whom.id) { "your reminder".to_owned() } else { format!("the reminder for {}", name(&reminder.whom)) };
    format!("Cancelled {whose}: {}", what(reminder))
}

/// The answer after somebody has done it. Says when a repeated reminder comes again.
pub fn render_done(reminder: &Reminder, now: DateTime<Utc>) -> String {
    if !reminder.goes_on() {
        return "Marked as done.".to_owned();
    }
    format!("Done. The next one comes on {}.", time(reminder.due, now, reminder.zone))
}

/// Why a button does nothing any more.
pub fn render_settled(reminder: &Reminder, now: DateTime<Utc>) -> String {
    match reminder.state {
        ReminderState::Waiting => format!("This reminder was snoozed already. It comes on {}.", time(reminder.due, now, reminder.zone)),
        ReminderState::Told => "This reminder was snoozed and came again. Use the buttons below the newer message.".to_owned(),
        ReminderState::Done => "This reminder is done already.".to_owned(),
        ReminderState::Cancelled => "This reminder was cancelled.".to_owned(),
    }
}

/// The reminders that wait, as a Markdown table. For a terminal, which fits the table to its width, their texts are whole.
pub fn render_list(reminders: &[Reminder], now: DateTime<Utc>, is_whole: bool) -> String {
    if reminders.is_empty() {
        return "No reminders here. Add one with `/remind new`, or write \"remind me tomorrow at 9 to pay the bill\".".to_owned();
    }
    let mut text = String::from("| id | when | for | what |\n| --- | --- | --- | --- |\n");
    for reminder in reminders {
        let next = time(reminder.due, now, reminder.zone);
        let when = match &reminder.repeat {
            Some(repetition) => format!("{}, next on {next}", render_repeat(repetition, reminder.zone)),
            None => next,
        };
        let (whom, what) =
            (Medium::Chat.cell(&reminder.whom.name), Medium::Chat.cell(&shorten(&reminder.what, if is_whole { WHAT } else { LISTED })));
        writeln!(text, "| {} | {when} | {whom} | {what} |", reminder.short_id()).expect("a String takes everything");
    }
    text
}

/// Reminders that reached nobody, below the list, each with the command that tells it again.
pub fn render_undelivered(undelivered: &[(Reminder, String)], now: DateTime<Utc>, is_terminal: bool) -> String {
    let snooze = if is_terminal { "teamroom remind snooze " } else { "/remind snooze which:" };
    let mut text = String::from("Not delivered:\n");
    for (reminder, why) in undelivered {
        let (id, whom, due) = (reminder.short_id(), name(&reminder.whom), time(reminder.due, now, reminder.zone));
        let (what, why) = (Medium::Chat.line_within(&reminder.what, LISTED), Medium::Chat.line_within(why, LISTED));
        let due = if reminder.state == ReminderState::Told { format!(", due on {due}") } else { String::new() };
        writeln!(text, "- {id} for {whom}: {what}{due} ({why}). `{snooze}{id}` tells it again.").expect("a String takes everything");
    }
    text
}

/// The reminder's text in one line that formats nothing and pings nobody.
pub fn what(reminder: &Reminder) -> String {
    Medium::Chat.line_within(&reminder.what, WHAT)
}

pub fn name(person: &Person) -> String {
    Medium::Chat.line_within(&person.name, NAME)
}

fn object(reminder: &Reminder, reader: Option<&UserId>) -> String {
    if reader == Some(&reminder.whom.id) { "you".to_owned() } else { name(&reminder.whom) }
}

/// "Fri 27 Nov at 09:00 CET", with the year if it is not the current one.
fn time(at: DateTime<Utc>, now: DateTime<Utc>, zone: Tz) -> String {
    let (at, now) = (at.with_timezone(&zone), now.with_timezone(&zone));
    let format = if at.year() == now.year() { "%a %-d %b at %H:%M %Z" } else { "%a %-d %b %Y at %H:%M %Z" };
    at.format(format).to_string()
}

/// "every Monday and Thursday at 08:00", with its zone if it is not the one in which other times are shown.
fn render_repeat(repetition: &Repetition, zone: Tz) -> String {
    let words = repetition.describe();
    if repetition.zone == zone { words } else { format!("{words} ({})", repetition.zone.name()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use kernel::when::When;

    use super::super::model::tests::{sample, utc, weekly};
    use super::*;

    const NOW: &str = "2026-11-24T14:30:00Z";

    #[test]
    fn what_was_asked_for_is_said_back() {
        let (ann, now) = (UserId::new("discord:42"), utc(NOW));
        let once = Reading { when: When::Once(sample().due), zone: None, is_early: false };
        let abroad = Reading { zone: Some(Tz::America__Los_Angeles), ..once.clone() };
        assert_eq!(render_set(&sample(), &once, Some(&ann), now), "I'll remind you on Fri 27 Nov at 09:00 CET: pay the hosting bill");
        assert_eq!(render_set(&sample(), &once, None, now), "I'll remind Ann on Fri 27 Nov at 09:00 CET: pay the hosting bill");
        assert_eq!(render_when(&sample(), &abroad, now), "on Fri 27 Nov at 09:00 CET (00:00 PST)");
        let early = Reminder { due: utc("2026-11-27T04:30:00Z"), ..sample() };
        assert_eq!(
            render_when(&early, &Reading { is_early: true, ..once.clone() }, now),
            "on Fri 27 Nov at 05:30 CET (in the morning; for the afternoon, write 17:30)"
        );
        assert_eq!(
            render_set(&weekly(), &once, Some(&ann), now),
            "I'll remind you every Monday at 08:00, first on Mon 30 Nov at 08:00 CET: water the plants"
        );
        let in_london = weekly().repeat.map(|repetition| Repetition { zone: Tz::Europe__London, ..repetition });
        assert_eq!(
            render_when(&Reminder { repeat: in_london, ..weekly() }, &once, now),
            "every Monday at 08:00 (Europe/London), first on Mon 30 Nov at 08:00 CET"
        );
        let next_year = Reminder { due: utc("2027-07-01T07:00:00Z"), ..sample() };
        assert_eq!(
            render_snoozed(&next_year, Some(&ann), now),
            "I'll remind you again on Thu 1 Jul 2027 at 09:00 CEST: pay the hosting bill"
        );
        assert_eq!(render_cancelled(&sample(), Some(&ann)), "Cancelled your reminder: pay the hosting bill");
        assert_eq!(render_cancelled(&sample(), Some(&"discord:7".into())), "Cancelled the reminder for Ann: pay the hosting bill");
        assert_eq!(render_done(&weekly(), now), "Done. The next one comes on Mon 30 Nov at 08:00 CET.");
    }

    #[test]
    fn the_reminded_person_alone_is_mentioned() {
        let reminder = Reminder { what: "ask @everyone and <user:discord:7>".to_owned(), ..sample() };
        let told = render_told(&reminder, &reminder.persona, reminder.due);
        assert_eq!(told.text, "Reminder for <user:discord:42>: ask `@everyone` and `<user:discord:7>`");
        assert_eq!((told.pings, told.kind), (vec!["discord:42".into()], OutboundKind::Notice));
        let labels: Vec<_> = told.buttons.iter().map(|button| button.label.as_str()).collect();
        assert_eq!(labels, ["Done", "Snooze 1 h", "Tomorrow"]);
    }

    #[test]
    fn who_asked_is_named_and_a_late_one_says_when_it_was_due() {
        let bob = Person { id: "discord:7".into(), name: "Bob".to_owned() };
        let reminder = Reminder { by: Some(bob), ..sample() };
        let told = render_told(&reminder, &reminder.persona, reminder.due + TimeDelta::hours(3));
        assert_eq!(told.text, "Reminder for <user:discord:42> from Bob, due on Fri 27 Nov at 09:00 CET: pay the hosting bill");
    }

    #[test]
    fn a_list_has_a_row_for_each() {
        let list = render_list(&[sample(), weekly()], utc(NOW), false);
        let rows: Vec<_> = list.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| 91a2b3 | Fri 27 Nov at 09:00 CET | Ann | pay the hosting bill |",
                "| 91a2b3 | every Monday at 08:00, next on Mon 30 Nov at 08:00 CET | Ann | water the plants |",
            ]
        );
    }

    #[test]
    fn an_undelivered_reminder_has_the_command_of_the_place_in_which_it_is_read() {
        let lost = [(sample(), "no such channel".to_owned())];
        let (chat, terminal) = (render_undelivered(&lost, utc(NOW), false), render_undelivered(&lost, utc(NOW), true));
        assert!(chat.ends_with("(no such channel). `/remind snooze which:91a2b3` tells it again.\n"), "{chat}");
        assert!(terminal.ends_with("(no such channel). `teamroom remind snooze 91a2b3` tells it again.\n"), "{terminal}");
    }

    proptest! {
        #[test]
        fn a_reminder_fits_into_a_message(text in "([ *_@|`\n]|\\PC){0,1000}") {
            let bob = Person { id: "discord:7".into(), name: text.clone() };
            let reminder = Reminder { what: text, by: Some(bob), ..sample() };
            let told = render_told(&reminder, &reminder.persona, reminder.due + TimeDelta::hours(3));
            prop_assert!(told.text.chars().count() <= 2000);
            let moved = render_detour(&reminder, &reminder.persona, None, &"x".repeat(130), reminder.due + TimeDelta::hours(3));
            prop_assert!(moved.text.chars().count() <= 2000);
        }
    }
}
