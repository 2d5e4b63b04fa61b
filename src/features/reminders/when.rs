//! When something is due, as people write it: `tomorrow at 9`, `in 20 minutes`, `every Monday at 8`.

use chrono::{DateTime, NaiveTime, Utc};
use chrono_tz::Tz;
pub use kernel::when::WhenError;
use kernel::when::{normalize, parse_instant, split_time};

use crate::features::schedule::model::Timetable;

/// The time of day if only a day is given.
const MORNING: NaiveTime = NaiveTime::from_hms_opt(9, 0, 0).expect("a time of day");

/// When something is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum When {
    Once(DateTime<Utc>),
    Repeated(Box<Timetable>),
}

impl When {
    /// The first instant after `now`.
    pub fn first_after(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        match self {
            Self::Once(at) => Some(*at).filter(|at| *at > now),
            Self::Repeated(timetable) => timetable.next_after(now),
        }
    }
}

/// Reads `text` as a time after `now`, in the words of somebody in `zone`.
///
/// # Errors
/// The text is no time, or the time is over.
pub fn parse_when(text: &str, now: DateTime<Utc>, zone: Tz) -> Result<When, WhenError> {
    if let Some(cron) = repeated(&normalize(text)) {
        let unknown = |_| WhenError::Unknown(text.trim().to_owned());
        return Timetable::parse(&cron, zone).map(|timetable| When::Repeated(Box::new(timetable))).map_err(unknown);
    }
    parse_instant(text, now, zone, MORNING).map(When::Once)
}

/// The cron expression of `every monday and friday 8:00`, `every day 9:00`, `every weekday`, `daily`.
fn repeated(words: &[String]) -> Option<String> {
    let (days, time) = match words {
        [every, rest @ ..] if every == "every" || every == "each" => split_time(rest, MORNING)?,
        [often, rest @ ..] if often == "daily" => {
            (&["day".to_owned()][..], split_time(rest, MORNING).filter(|(days, _)| days.is_empty())?.1)
        }
        _ => return None,
    };
    let days = days.iter().filter(|word| !matches!(word.as_str(), "and" | "&"));
    let fields: Option<Vec<_>> = days.map(|word| weekdays(word)).collect();
    let fields = fields.filter(|fields| !fields.is_empty())?;
    Some(format!("{} {} * * {}", time.format("%-M"), time.format("%-H"), fields.join(",")))
}

fn weekdays(word: &str) -> Option<&'static str> {
    Some(match word.trim_end_matches('s') {
        "day" => "*",
        "weekday" | "workday" => "1-5",
        "weekend" => "6,0",
        "monday" | "mon" => "1",
        "tuesday" | "tue" => "2",
        "wednesday" | "wed" | "wedne" => "3",
        "thursday" | "thu" => "4",
        "friday" | "fri" => "5",
        "saturday" | "sat" => "6",
        "sunday" | "sun" => "0",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use chrono_tz::Europe::Berlin;
    use proptest::prelude::*;

    use super::*;

    fn now() -> DateTime<Utc> {
        // A Tuesday, 15:30 in Berlin.
        "2026-11-24T14:30:00Z".parse().expect("a time")
    }

    fn read(text: &str) -> String {
        match parse_when(text, now(), Berlin) {
            Ok(When::Once(at)) => at.with_timezone(&Berlin).format("%a %F %H:%M").to_string(),
            Ok(When::Repeated(timetable)) => timetable.cron().to_owned(),
            Err(WhenError::Past(_)) => "past".to_owned(),
            Err(_) => "?".to_owned(),
        }
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, meant) in [
            ("tomorrow at 9", "Wed 2026-11-25 09:00"),
            ("Tomorrow", "Wed 2026-11-25 09:00"),
            ("tomorrow morning", "Wed 2026-11-25 09:00"),
            ("tomorrow at 9:15 pm", "Wed 2026-11-25 21:15"),
            ("tonight", "Tue 2026-11-24 20:00"),
            ("this evening", "Tue 2026-11-24 18:00"),
            ("at 17:45", "Tue 2026-11-24 17:45"),
            ("at 9", "Wed 2026-11-25 09:00"),
            ("9am", "Wed 2026-11-25 09:00"),
            ("on Friday", "Fri 2026-11-27 09:00"),
            ("on Friday at 14:30", "Fri 2026-11-27 14:30"),
            ("Friday 8pm", "Fri 2026-11-27 20:00"),
            ("2026-12-01 10:20", "Tue 2026-12-01 10:20"),
            ("on 1 December at noon", "Tue 2026-12-01 12:00"),
            ("in 20 minutes", "Tue 2026-11-24 15:50"),
            ("in 90 seconds", "Tue 2026-11-24 15:31"),
            ("in an hour", "Tue 2026-11-24 16:30"),
            ("in two hours", "Tue 2026-11-24 17:30"),
            ("in five days at 10", "Sun 2026-11-29 10:00"),
            ("in half an hour", "Tue 2026-11-24 16:00"),
            ("in 3 days", "Fri 2026-11-27 09:00"),
            ("in 2 weeks", "Tue 2026-12-08 09:00"),
            ("in a week at 10", "Tue 2026-12-01 10:00"),
        ] {
            assert_eq!(read(text), meant, "{text}");
        }
    }

    #[test]
    fn repeated_times_become_timetables() {
        for (text, meant) in [
            ("every Monday at 8", "0 8 * * 1"),
            ("every monday and thursday at 8:30", "30 8 * * 1,4"),
            ("every day", "0 9 * * *"),
            ("daily at 17", "0 17 * * *"),
            ("every weekday at 5pm", "0 17 * * 1-5"),
        ] {
            assert_eq!(read(text), meant, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_or_over_is_refused() {
        for text in
            ["", "soon", "42", "the bill", "every blue moon", "in 99999999 hours", "every", "tomorrow at 25:00", "2 hours", "3 hours ago"]
        {
            assert_eq!(read(text), "?", "{text}");
        }
        assert_eq!(read("2026-11-24 08:00"), "past");
        assert_eq!(read("yesterday"), "past");
    }

    #[test]
    fn a_time_that_clocks_leave_out_is_the_first_after_the_gap() {
        let before: DateTime<Utc> = "2027-03-27T12:00:00Z".parse().expect("a time");
        let When::Once(at) = parse_when("tomorrow at 2:30", before, Berlin).expect("a time") else { panic!("once") };
        assert_eq!(at.to_rfc3339(), "2027-03-28T01:00:00+00:00");
        let before: DateTime<Utc> = "2026-10-24T12:00:00Z".parse().expect("a time");
        let When::Once(at) = parse_when("tomorrow at 2:30", before, Berlin).expect("a time") else { panic!("once") };
        assert_eq!(at.to_rfc3339(), "2026-10-25T00:30:00+00:00");
    }

    proptest! {
        #[test]
        fn whatever_is_read_lies_in_the_future(text in "\\PC{0,40}", at in 0_i64..4_000_000_000) {
            let now = DateTime::from_timestamp(at, 0).expect("in range");
            if let Ok(when) = parse_when(&text, now, Berlin) {
                prop_assert!(when.first_after(now).is_some());
            }
        }

        #[test]
        fn words_in_any_order_never_panic(words in prop::collection::vec(prop::sample::select(vec!["in", "at", "next", "friday", "9", "99", "every", "march", "-5", "am", "1/2", "tomorrow", ":", "30", "days", "last", "9999999999", "2026-02-30"]), 0..7)) {
            drop(parse_when(&words.join(" "), now(), Berlin));
        }
    }
}
