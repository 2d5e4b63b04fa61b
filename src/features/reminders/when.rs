//! When something is due, as people write it: `tomorrow at 9`, `in 20 minutes`, `every Monday at 8`.

use chrono::{DateTime, Days, LocalResult, NaiveDateTime, NaiveTime, TimeDelta, TimeZone as _, Utc};
use chrono_tz::Tz;
use interim::{Dialect, parse_date_string};

use crate::features::schedule::model::Timetable;

/// The hour where only a day is given.
const MORNING: u32 = 9;

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

/// Why a text is no time, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WhenError {
    #[error(
        "I cannot read {0:?} as a time. Try \"tomorrow at 9\", \"in 20 minutes\", \"Friday 14:30\", \"2026-12-01 09:00\" or \"every Monday at 8\"."
    )]
    Unknown(String),
    #[error("{0:?} is in the past. Name a time that is still to come, such as \"tomorrow at 9\" or \"in 20 minutes\".")]
    Past(String),
    /// A whole sentence has none.
    #[error(
        "When should that be? I found no time in your message. Try \"remind me tomorrow at 9 to pay the bill\". \"in 20 minutes\", \"on Friday at 14:30\" and \"every Monday at 8\" work too."
    )]
    Missing,
}

/// Reads `text` as a time after `now`, in the words of somebody in `zone`.
///
/// # Errors
/// It is no time, or it is over.
pub fn parse_when(text: &str, now: DateTime<Utc>, zone: Tz) -> Result<When, WhenError> {
    let unknown = || WhenError::Unknown(text.trim().to_owned());
    let words = normalize(text);
    if words.is_empty() {
        return Err(unknown());
    }
    if let Some(cron) = repeated(&words) {
        return Timetable::parse(&cron, zone).map(|timetable| When::Repeated(Box::new(timetable))).map_err(|_| unknown());
    }
    if let Some(span) = span(&words) {
        return Ok(When::Once(now + span));
    }
    once(&words, now, zone).ok_or_else(unknown)?.map_err(|Past| WhenError::Past(text.trim().to_owned())).map(When::Once)
}

/// Lower-case words without the small ones that carry nothing, and with times that the library knows.
fn normalize(text: &str) -> Vec<String> {
    let lower = text.trim().trim_end_matches(['.', '!', '?', ',']).to_lowercase().replace(',', " ");
    let mut words: Vec<String> = Vec::new();
    let mut at = false;
    for word in lower.split_whitespace() {
        match word {
            "at" | "@" => {
                at = true;
                continue;
            }
            "on" | "the" | "of" | "o'clock" | "coming" => continue,
            "noon" | "midday" => words.push("12:00".into()),
            "midnight" => words.push("00:00".into()),
            "tonight" => words.extend(["today".into(), "20:00".into()]),
            "morning" => words.push("9:00".into()),
            "afternoon" => words.push("14:00".into()),
            "evening" => words.push("18:00".into()),
            _ if at && word.parse::<u8>().is_ok_and(|hour| hour < 24) => words.push(format!("{word}:00")),
            _ => words.push(word.to_owned()),
        }
        at = false;
    }
    // "in the morning" and "this evening" name a time of day, not a span.
    let part_of_day = |word: &String| word.contains(':');
    while let Some(index) = words.windows(2).position(|pair| matches!(pair[0].as_str(), "in" | "this") && part_of_day(&pair[1])) {
        words.remove(index);
    }
    words
}

/// `in 20 minutes`, `in an hour`: a time that passes, whatever clocks do. Days and longer are calendar days and not read here.
fn span(words: &[String]) -> Option<TimeDelta> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (number, unit) = match words.as_slice() {
        ["in", "half", "an", "hour"] => return Some(TimeDelta::minutes(30)),
        ["in", "a" | "an", unit] => (1, *unit),
        ["in", number, unit] => (number.parse().ok()?, *unit),
        _ => return None,
    };
    // A year is the longest: what is further away has a date.
    let limit = |span: TimeDelta| Some(span).filter(|span| *span > TimeDelta::zero() && *span <= TimeDelta::days(366));
    match unit.trim_end_matches('s') {
        "sec" | "second" => limit(TimeDelta::try_seconds(number)?),
        "min" | "minute" => limit(TimeDelta::try_minutes(number)?),
        "h" | "hr" | "hour" => limit(TimeDelta::try_hours(number)?),
        _ => None,
    }
}

/// A unit below a day.
fn is_short(word: &str) -> bool {
    matches!(word.trim_end_matches('s'), "sec" | "second" | "min" | "minute" | "h" | "hr" | "hour")
}

/// It was a time, and it is over.
struct Past;

/// The instant that is meant; None where it is no time.
fn once(words: &[String], now: DateTime<Utc>, zone: Tz) -> Option<Result<DateTime<Utc>, Past>> {
    let (day, time) = split_time(words)?;
    let day: Vec<&str> = match day {
        [first, number, rest @ ..] if first == "in" => {
            let number = if matches!(number.as_str(), "a" | "an") { "1" } else { number };
            std::iter::once(number).chain(rest.iter().map(String::as_str)).collect()
        }
        words => words.iter().map(String::as_str).collect(),
    };
    // A bare number is a day or a year to the library; here it is most likely something else. Hours and minutes are no days.
    if day.len() == 1 && day[0].chars().all(|c| c.is_ascii_digit()) || day.iter().any(|word| is_short(word)) {
        return None;
    }
    let today = now.with_timezone(&zone).naive_local();
    let date = if day.is_empty() {
        today.date()
    } else {
        // The library computes with local times; which instants they are is decided below, where clocks change too.
        parse_date_string(&day.join(" "), today.and_utc(), Dialect::Uk).ok()?.date_naive()
    };
    let at = instant(date.and_time(time), zone)?;
    if at > now {
        Some(Ok(at))
    } else if day.is_empty() {
        // "at 9" said at ten o'clock means tomorrow.
        instant(date.checked_add_days(Days::new(1))?.and_time(time), zone).map(Ok)
    } else {
        Some(Err(Past))
    }
}

/// The instant of a local time: the first where clocks show it twice, the first after the gap where they never do.
fn instant(local: NaiveDateTime, zone: Tz) -> Option<DateTime<Utc>> {
    (0..=180).find_map(|minutes| match zone.from_local_datetime(&(local + TimeDelta::minutes(minutes))) {
        LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => Some(at.to_utc()),
        LocalResult::None => None,
    })
}

/// The cron expression of `every monday and friday 8:00`, `every day 9:00`, `every weekday`, `daily`.
fn repeated(words: &[String]) -> Option<String> {
    let (days, time) = match words {
        [every, rest @ ..] if every == "every" || every == "each" => split_time(rest)?,
        [often, rest @ ..] if often == "daily" => (&["day".to_owned()][..], split_time(rest).filter(|(days, _)| days.is_empty())?.1),
        _ => return None,
    };
    let days = days.iter().filter(|word| !matches!(word.as_str(), "and" | "&"));
    let fields: Option<Vec<_>> = days.map(|word| weekdays(word)).collect();
    let fields = fields.filter(|fields| !fields.is_empty())?;
    Some(format!("{} {} * * {}", time.format("%-M"), time.format("%-H"), fields.join(",")))
}

/// The words before a time of day, and the time; in the morning where there is none. None: what looks like a time is none.
fn split_time(words: &[String]) -> Option<(&[String], NaiveTime)> {
    let (last, before) = words.split_last()?;
    match (time_of_day(last), before.split_last()) {
        (Some(time), _) => Some((before, time)),
        (None, Some((hour, before))) if matches!(last.as_str(), "am" | "pm") => Some((before, time_of_day(&format!("{hour}{last}"))?)),
        (None, _) if last.contains(':') => None,
        (None, _) => Some((words, NaiveTime::from_hms_opt(MORNING, 0, 0)?)),
    }
}

/// `14:30`, `9am`, `9:15pm`.
fn time_of_day(word: &str) -> Option<NaiveTime> {
    let half = word.strip_suffix("am").map(|time| (time, 0)).or_else(|| word.strip_suffix("pm").map(|time| (time, 12)));
    let (time, half) = half.map_or((word, None), |(time, half)| (time, Some(half)));
    let (hour, minute) = match (time.split_once(':'), half) {
        (Some((hour, minute)), _) => (hour.parse::<u32>().ok()?, minute.parse().ok()?),
        (None, Some(_)) => (time.parse().ok()?, 0),
        (None, None) => return None,
    };
    match half {
        Some(half) => (1..=12).contains(&hour).then(|| NaiveTime::from_hms_opt(hour % 12 + half, minute, 0))?,
        None => NaiveTime::from_hms_opt(hour, minute, 0),
    }
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
