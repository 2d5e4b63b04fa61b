//! A time as people write it: `tomorrow at 9`, `in 20 minutes`, `friday`, in the zone of the person.

use chrono::{DateTime, Days, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone as _, Utc, Weekday};
use chrono_tz::Tz;
use interim::{Dialect, parse_date_string};

/// Why a text is no time, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WhenError {
    #[error(
        "I cannot read {0:?} as a time. Try \"tomorrow at 9\", \"in 20 minutes\", \"Friday 14:30\", \"2026-12-01 09:00\" or \"every Monday at 8\"."
    )]
    Unknown(String),
    #[error("{0:?} is in the past. Name a time that is still to come, such as \"tomorrow at 9\" or \"in 20 minutes\".")]
    Past(String),
    /// A whole sentence contains no time.
    #[error(
        "When should that be? I found no time in your message. Try \"remind me tomorrow at 9 to pay the bill\". \"in 20 minutes\", \"on Friday at 14:30\" and \"every Monday at 8\" work too."
    )]
    Missing,
}

/// Reads `text` as one time after `now`, in the words of somebody in `zone`. `usual` is the time of day where only a day is given.
///
/// # Errors
/// It is no time, or it is over.
pub fn parse_instant(text: &str, now: DateTime<Utc>, zone: Tz, usual: NaiveTime) -> Result<DateTime<Utc>, WhenError> {
    let unknown = || WhenError::Unknown(text.trim().to_owned());
    let words = normalize(text);
    if words.is_empty() {
        return Err(unknown());
    }
    if let Some(span) = span(&words) {
        return Ok(now + span);
    }
    once(&words, now, zone, usual).ok_or_else(unknown)?.map_err(|Past| WhenError::Past(text.trim().to_owned()))
}

/// Lower-case words, without filler words, and with times in a form that the library knows.
pub fn normalize(text: &str) -> Vec<String> {
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
            _ if words.last().is_some_and(|before| before == "in") => words.push(in_digits(word)),
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

/// "two" as `2`, and other words as they are.
fn in_digits(word: &str) -> String {
    const SPELLED: [&str; 12] = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    SPELLED.iter().position(|spelled| *spelled == word).map_or_else(|| word.to_owned(), |index| (index + 1).to_string())
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
fn once(words: &[String], now: DateTime<Utc>, zone: Tz, usual: NaiveTime) -> Option<Result<DateTime<Utc>, Past>> {
    let (day, time) = split_time(words, usual)?;
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
    } else if let Some(date) = in_next_week(&day, today.date()) {
        date
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

/// `next tuesday` is the one of the next calendar week, however near it is.
fn in_next_week(day: &[&str], today: NaiveDate) -> Option<NaiveDate> {
    let ["next", name] = day else { return None };
    let weekday: Weekday = name.parse().ok()?;
    let monday = today.week(Weekday::Mon).first_day();
    monday.checked_add_days(Days::new(7 + u64::from(weekday.num_days_from_monday())))
}

/// The instant of a local time: the first where clocks show it twice, the first after the gap where they never do.
pub fn instant(local: NaiveDateTime, zone: Tz) -> Option<DateTime<Utc>> {
    (0..=180).find_map(|minutes| match zone.from_local_datetime(&(local + TimeDelta::minutes(minutes))) {
        LocalResult::Single(at) | LocalResult::Ambiguous(at, _) => Some(at.to_utc()),
        LocalResult::None => None,
    })
}

/// The words before a time of day, and the time; `usual` where there is none. None: what looks like a time is none.
pub fn split_time(words: &[String], usual: NaiveTime) -> Option<(&[String], NaiveTime)> {
    let (last, before) = words.split_last()?;
    match (time_of_day(last), before.split_last()) {
        (Some(time), _) => Some((before, time)),
        (None, Some((hour, before))) if matches!(last.as_str(), "am" | "pm") => Some((before, time_of_day(&format!("{hour}{last}"))?)),
        (None, _) if last.contains(':') => None,
        (None, _) => Some((words, usual)),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, WhenError> {
        // A Tuesday, 15:30 in Berlin.
        let now = "2026-11-24T14:30:00Z".parse().expect("a time");
        let evening = NaiveTime::from_hms_opt(18, 0, 0).expect("a time of day");
        let at = parse_instant(text, now, Tz::Europe__Berlin, evening)?;
        Ok(at.with_timezone(&Tz::Europe__Berlin).format("%a %F %H:%M").to_string())
    }

    #[test]
    fn a_day_without_a_time_ends_when_it_usually_does() {
        for (text, meant) in [
            ("today", "Tue 2026-11-24 18:00"),
            ("friday", "Fri 2026-11-27 18:00"),
            ("Friday 14:30", "Fri 2026-11-27 14:30"),
            ("2026-12-01", "Tue 2026-12-01 18:00"),
            ("in 2 hours", "Tue 2026-11-24 17:30"),
            ("next monday", "Mon 2026-11-30 18:00"),
            ("next Tuesday afternoon", "Tue 2026-12-01 14:00"),
            ("next friday 8am", "Fri 2026-12-04 08:00"),
        ] {
            assert_eq!(read(text).as_deref(), Ok(meant), "{text}");
        }
        assert!(matches!(read("yesterday"), Err(WhenError::Past(_))));
        assert!(matches!(read("soon"), Err(WhenError::Unknown(_))));
    }
}
