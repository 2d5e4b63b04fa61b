//! What a person was asked or told about an item, and when they are reminded of it.

use chrono::{DateTime, TimeDelta, Utc};
use chrono_tz::Tz;
use kernel::ids::{UserId, WorkItemId};

use crate::features::backlog::model::WorkingHours;

/// The first reminder comes this long after the question, on the same day if people still work then.
const FIRST: TimeDelta = TimeDelta::hours(3);

/// The most reminders of an item. The last ones are for an item that is overdue, one each working day.
const MOST: u32 = 2;
const MOST_WITH_DUE: u32 = 4;

/// A question or reminder for which an item waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonRequest {
    pub item: WorkItemId,
    pub run: u32,
    pub person: UserId,
    pub asked_at: DateTime<Utc>,
    /// How many reminders were sent, and when the last one.
    pub reminders: u32,
    pub reminded_at: Option<DateTime<Utc>>,
}

impl PersonRequest {
    /// When the next reminder is due. Without a due date of the item: the same day, then the next working day. With one: on the morning of that day,
    /// then each working day once it is over. None if all were sent: from then on it stands in the lists of what waits for whom.
    pub fn next_reminder(&self, due: Option<DateTime<Utc>>, hours: &WorkingHours, zone: Tz) -> Option<DateTime<Utc>> {
        if self.reminders >= if due.is_some() { MOST_WITH_DUE } else { MOST } {
            return None;
        }
        let soon = self.asked_at + FIRST;
        let at = match (self.reminded_at, due) {
            (None, None) => soon,
            (None, Some(due)) => soon.max(hours.opening(due, zone)),
            (Some(last), due) => due.map_or(last, |due| last.max(due)).max(hours.opening_after(last, zone)),
        };
        Some(hours.at_or_after(at, zone))
    }

    /// Whether it is the last one that `next_reminder` gives.
    pub fn is_last(&self, due: Option<DateTime<Utc>>) -> bool {
        self.reminders + 1 >= if due.is_some() { MOST_WITH_DUE } else { MOST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use kernel::when::instant;

    const BERLIN: Tz = Tz::Europe__Berlin;

    fn at(text: &str) -> DateTime<Utc> {
        let local = chrono::NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M").expect("a time");
        instant(local, BERLIN).expect("a time in Berlin")
    }

    /// The times of the reminders of a person who never reacts.
    fn told(asked: &str, due: Option<&str>) -> Vec<String> {
        let due = due.map(at);
        let mut request =
            PersonRequest { item: "1".into(), run: 0, person: "p:1".into(), asked_at: at(asked), reminders: 0, reminded_at: None };
        let mut times = Vec::new();
        while let Some(next) = request.next_reminder(due, &WorkingHours::default(), BERLIN) {
            assert_eq!(request.is_last(due), times.len() + 1 == if due.is_some() { 4 } else { 2 });
            times.push(next.with_timezone(&BERLIN).format("%a %H:%M").to_string());
            request = PersonRequest { reminders: request.reminders + 1, reminded_at: Some(next), ..request };
            assert!(times.len() < 10);
        }
        times
    }

    #[test]
    fn who_does_not_react_is_reminded_the_same_day_and_the_next_working_day() {
        // Tuesday the 24th.
        assert_eq!(told("2026-11-24 10:00", None), ["Tue 13:00", "Wed 09:00"]);
        assert_eq!(told("2026-11-24 16:30", None), ["Wed 09:00", "Thu 09:00"]);
        assert_eq!(told("2026-11-24 03:00", None), ["Tue 09:00", "Wed 09:00"]);
        assert_eq!(told("2026-11-27 11:00", None), ["Fri 14:00", "Mon 09:00"]);
        assert_eq!(told("2026-11-28 11:00", None), ["Mon 09:00", "Tue 09:00"]);
    }

    #[test]
    fn with_a_due_date_nobody_is_pressed_before_its_day_and_then_once_a_day() {
        assert_eq!(told("2026-11-24 10:00", Some("2026-11-26 18:00")), ["Thu 09:00", "Fri 09:00", "Mon 09:00", "Tue 09:00"]);
        assert_eq!(told("2026-11-24 10:00", Some("2026-11-24 11:00")), ["Tue 13:00", "Wed 09:00", "Thu 09:00", "Fri 09:00"]);
    }
}
