//! Parses time ranges such as "this week", "last 3 days", "since monday" and "in october". Days and weeks are in UTC; weeks begin on
//! Monday.

use chrono::{DateTime, Datelike as _, Days, Months, NaiveDate, TimeDelta, Utc, Weekday};

/// A time range and the words for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TimeRange {
    pub since: DateTime<Utc>,
    pub until: DateTime<Utc>,
    /// The words used: `this week`, `in May`.
    pub label: String,
}

/// The limit for "last N …": ten years.
const MAX_DAYS: i64 = 3660;

/// The first time phrase among `words` (lower case), with the index and number of its words.
pub(crate) fn find(words: &[String], now: DateTime<Utc>) -> Option<(TimeRange, std::ops::Range<usize>)> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    (0..words.len()).find_map(|at| {
        let (since, until, taken) = parse(&words[at..], now)?;
        let label = words[at..at + taken].iter().map(|word| spelled(word)).collect::<Vec<_>>().join(" ");
        Some((TimeRange { since, until: until.min(now), label }, at..at + taken))
    })
}

/// Days and months have a capital letter.
fn spelled(word: &str) -> String {
    let is_name = word.parse::<Weekday>().is_ok() || word.parse::<chrono::Month>().is_ok();
    let (first, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
    if is_name { first.to_uppercase() + rest } else { word.to_owned() }
}

/// The range at the beginning of `words`: from, to, and the number of words used.
fn parse(words: &[&str], now: DateTime<Utc>) -> Option<(DateTime<Utc>, DateTime<Utc>, usize)> {
    let today = now.date_naive();
    let week = today - Days::new(u64::from(today.weekday().num_days_from_monday()));
    let month = today.with_day(1)?;
    let days = |from: NaiveDate, to: NaiveDate, taken| Some((midnight(from), midnight(to), taken));
    match words {
        ["today" | "tonight", ..] => days(today, today + Days::new(1), 1),
        ["yesterday", ..] => days(today - Days::new(1), today, 1),
        ["overnight", ..] => Some((midnight(today - Days::new(1)) + TimeDelta::hours(18), now, 1)),
        ["this", "morning" | "afternoon" | "evening", ..] => days(today, today + Days::new(1), 2),
        ["last", "night", ..] => Some((midnight(today - Days::new(1)) + TimeDelta::hours(18), now, 2)),
        ["this", "week", ..] => days(week, week + Days::new(7), 2),
        ["last" | "previous", "week", ..] => days(week - Days::new(7), week, 2),
        ["this", "month", ..] => days(month, month + Months::new(1), 2),
        ["last" | "previous", "month", ..] => days(month - Months::new(1), month, 2),
        ["this", "year", ..] => days(today.with_ordinal(1)?, today + Days::new(1), 2),
        ["last" | "past" | "previous", count, unit, ..] => count_back(count, unit, now).map(|since| (since, now, 3)),
        ["last" | "past", unit, ..] if count_back("1", unit, now).is_some() => Some((count_back("1", unit, now)?, now, 2)),
        ["since", rest @ ..] => {
            let (since, _, taken) = parse(rest, now).or_else(|| named(rest, today))?;
            Some((since, now, taken + 1))
        }
        ["on" | "in" | "during" | "last", rest @ ..] => named(rest, today).map(|(since, until, taken)| (since, until, taken + 1)),
        _ => None,
    }
}

/// The range "3 days" before now.
fn count_back(count: &str, unit: &str, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let count: i64 = match count {
        "a" | "one" => 1,
        "two" | "couple" => 2,
        "three" | "few" => 3,
        number => number.parse().ok()?,
    };
    let (hours, days) = match unit {
        "hour" | "hours" => (count, 0),
        "day" | "days" => (0, count),
        "week" | "weeks" => (0, count.checked_mul(7)?),
        "month" | "months" => (0, count.checked_mul(30)?),
        _ => return None,
    };
    let days = days.checked_add(hours / 24)?.clamp(0, MAX_DAYS);
    Some(now - TimeDelta::days(days) - TimeDelta::hours(hours.clamp(0, MAX_DAYS * 24) % 24))
}

/// The latest weekday, month or date of this name that has begun.
fn named(words: &[&str], today: NaiveDate) -> Option<(DateTime<Utc>, DateTime<Utc>, usize)> {
    let word = *words.first()?;
    if let Ok(weekday) = word.parse::<Weekday>() {
        let back = (7 + today.weekday().num_days_from_monday() - weekday.num_days_from_monday()) % 7;
        let day = today - Days::new(u64::from(back));
        return Some((midnight(day), midnight(day + Days::new(1)), 1));
    }
    if let Ok(day) = word.parse::<NaiveDate>() {
        return Some((midnight(day), midnight(day.checked_add_days(Days::new(1))?), 1));
    }
    let month = word.parse::<chrono::Month>().ok()?.number_from_month();
    let year = words.get(1).and_then(|year| year.parse::<i32>().ok()).filter(|year| (1970..=9999).contains(year));
    let newest = if month <= today.month() { today.year() } else { today.year() - 1 };
    let first = NaiveDate::from_ymd_opt(year.unwrap_or(newest), month, 1)?;
    Some((midnight(first), midnight(first.checked_add_months(Months::new(1))?), if year.is_some() { 2 } else { 1 }))
}

fn midnight(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(chrono::NaiveTime::MIN).and_utc()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::retrieval::words_of;
    use crate::testing::feeds::now;

    /// Formats from, to and the words. Now is Saturday, 21 November 2026, 22:50.
    fn found(text: &str) -> Option<String> {
        let (range, _) = find(&words_of(text), now())?;
        let show = |at: DateTime<Utc>| at.format("%m-%d %H:%M").to_string();
        Some(format!("{} to {}: {}", show(range.since), show(range.until), range.label))
    }

    #[test]
    fn phrases_become_stretches_of_time_that_end_now_at_the_latest() {
        for (text, expected) in [
            ("what happened this week?", "11-16 00:00 to 11-21 22:50: this week"),
            ("what happened last week?", "11-09 00:00 to 11-16 00:00: last week"),
            ("anything new today", "11-21 00:00 to 11-21 22:50: today"),
            ("and yesterday?", "11-20 00:00 to 11-21 00:00: yesterday"),
            ("the last 3 days", "11-18 22:50 to 11-21 22:50: last 3 days"),
            ("past two weeks", "11-07 22:50 to 11-21 22:50: past two weeks"),
            ("in the last hour", "11-21 21:50 to 11-21 22:50: last hour"),
            ("last 36 hours", "11-20 10:50 to 11-21 22:50: last 36 hours"),
            ("since monday", "11-16 00:00 to 11-21 22:50: since Monday"),
            ("since yesterday", "11-20 00:00 to 11-21 22:50: since yesterday"),
            ("on saturday", "11-21 00:00 to 11-21 22:50: on Saturday"),
            ("last tuesday", "11-17 00:00 to 11-18 00:00: last Tuesday"),
            ("in october", "10-01 00:00 to 11-01 00:00: in October"),
            ("last month", "10-01 00:00 to 11-01 00:00: last month"),
            ("this month", "11-01 00:00 to 11-21 22:50: this month"),
            ("since 2026-11-01", "11-01 00:00 to 11-21 22:50: since 2026-11-01"),
            ("last night", "11-20 18:00 to 11-21 22:50: last night"),
        ] {
            assert_eq!(found(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_month_is_the_last_one_that_has_begun_unless_the_year_is_said() {
        let year = |text: &str| find(&words_of(text), now()).unwrap().0.since.year();
        assert_eq!(year("in december"), 2025);
        assert_eq!(year("in november"), 2026);
        assert_eq!(year("in march 2024"), 2024);
    }

    #[test]
    fn what_only_looks_like_a_time_is_none() {
        for text in ["may I ask?", "march on", "in the code", "last call", "on d-043", "the last seven wonders", ""] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_mixture_of_words_breaks_it(text in "((last|past|since|in|on|this|may|week|days|monday|february|2026-02-30|9999|0|3|99999999) ?){0,6}") {
            if let Some((range, taken)) = find(&words_of(&text), now()) {
                proptest::prop_assert!(range.until <= now() && !taken.is_empty());
            }
        }
    }

    #[test]
    fn absurd_numbers_end_ten_years_ago() {
        assert!(found("last 99999999999999999999 days").is_none());
        for text in ["last 9223372036854775807 days", "last 999999999 weeks", "last 9223372036854775807 hours"] {
            if let Some((range, _)) = find(&words_of(text), now()) {
                assert!(range.since >= now() - TimeDelta::days(MAX_DAYS + 1), "{text}");
            }
        }
        assert!(found("last 999999999 weeks").is_some());
    }
}
