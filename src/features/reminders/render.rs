//! What people read of reminders.

use std::fmt::Write as _;

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use chrono_tz::Tz;
use kernel::chat::medium::{Medium, shorten};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::chat::text::Mention;
use kernel::ids::{PersonaSlug, UserId};
use kernel::text::join_with_and;

use super::button::{Choice, RemindButton};
use super::model::{Person, Reminder, ReminderState};
use crate::features::schedule::model::Timetable;

/// The most characters of a name, and of the reminder's text in a message and in a list.
const NAME: usize = 40;
const WHAT: usize = 1500;
const LISTED: usize = 60;

/// A reminder that is later than this says when it was due.
const LATE: TimeDelta = TimeDelta::minutes(5);

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

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

/// "I'll remind you on Fri 27 Nov at 09:00 CET: …", said to `reader`.
pub fn render_set(reminder: &Reminder, reader: Option<&UserId>, now: DateTime<Utc>) -> String {
    let (whom, first) = (object(reminder, reader), time(reminder.due, now, reminder.zone));
    let when = match &reminder.repeat {
        Some(timetable) => format!("{}, first on {first}", render_repeat(timetable)),
        None => format!("on {first}"),
    };
    format!("I'll remind {whom} {when}: {}", what(reminder))
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
    match reminder.repeat {
        Some(_) => format!("Done. The next one comes on {}.", time(reminder.due, now, reminder.zone)),
        None => "Marked as done.".to_owned(),
    }
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

/// The reminders that wait, as a Markdown table.
pub fn render_list(reminders: &[Reminder], now: DateTime<Utc>) -> String {
    if reminders.is_empty() {
        return "No reminders here. Add one with `/remind new`, or write \"remind me tomorrow at 9 to pay the bill\".".to_owned();
    }
    let mut text = String::from("| id | when | for | what |\n| --- | --- | --- | --- |\n");
    for reminder in reminders {
        let next = time(reminder.due, now, reminder.zone);
        let when = match &reminder.repeat {
            Some(timetable) => format!("{}, next on {next}", render_repeat(timetable)),
            None => next,
        };
        let (whom, what) = (Medium::Chat.cell(&reminder.whom.name), Medium::Chat.cell(&shorten(&reminder.what, LISTED)));
        writeln!(text, "| {} | {when} | {whom} | {what} |", reminder.short_id()).expect("a String takes everything");
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

/// "every Monday and Thursday at 08:00". `when` reads only these kinds of days: single ones, all, or Monday to Friday.
fn render_repeat(timetable: &Timetable) -> String {
    let fields: Vec<_> = timetable.cron().split(' ').collect();
    let &[minute, hour, _, _, days] = fields.as_slice() else { return timetable.cron().to_owned() };
    let day = |number: &str| match number {
        "*" => "day",
        "1-5" => "weekday",
        number => number.parse::<usize>().ok().and_then(|number| DAYS.get(number % 7)).copied().unwrap_or(""),
    };
    let days: Vec<_> = days.split(',').map(day).collect();
    let days = join_with_and(&days);
    format!("every {days} at {hour:0>2}:{minute:0>2}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::model::tests::{sample, utc, weekly};
    use super::*;

    const NOW: &str = "2026-11-24T14:30:00Z";

    #[test]
    fn what_was_asked_for_is_said_back() {
        let (ann, now) = (UserId::new("discord:42"), utc(NOW));
        assert_eq!(render_set(&sample(), Some(&ann), now), "I'll remind you on Fri 27 Nov at 09:00 CET: pay the hosting bill");
        assert_eq!(render_set(&sample(), None, now), "I'll remind Ann on Fri 27 Nov at 09:00 CET: pay the hosting bill");
        assert_eq!(
            render_set(&weekly(), Some(&ann), now),
            "I'll remind you every Monday at 08:00, first on Mon 30 Nov at 08:00 CET: water the plants"
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
        let list = render_list(&[sample(), weekly()], utc(NOW));
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
    fn repeated_times_have_words() {
        for (cron, words) in [
            ("0 8 * * 1", "every Monday at 08:00"),
            ("30 8 * * 1,4", "every Monday and Thursday at 08:30"),
            ("5 17 * * 1,3,5", "every Monday, Wednesday and Friday at 17:05"),
            ("0 9 * * *", "every day at 09:00"),
            ("0 17 * * 1-5", "every weekday at 17:00"),
            ("0 10 * * 6,0", "every Saturday and Sunday at 10:00"),
        ] {
            assert_eq!(render_repeat(&Timetable::parse(cron, Tz::UTC).expect("a timetable")), words);
        }
    }

    proptest! {
        #[test]
        fn a_reminder_fits_into_a_message(text in "([ *_@|`\n]|\\PC){0,1000}") {
            let bob = Person { id: "discord:7".into(), name: text.clone() };
            let reminder = Reminder { what: text, by: Some(bob), ..sample() };
            let told = render_told(&reminder, &reminder.persona, reminder.due + TimeDelta::hours(3));
            prop_assert!(told.text.chars().count() <= 2000);
        }
    }
}
