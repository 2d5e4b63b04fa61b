//! Parses the terms of a question: `>=`, `+10`, `next friday 08:00 Europe/Berlin`.

use std::fmt;

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeDelta, TimeZone as _, Utc, Weekday};
use chrono_tz::Tz;

use crate::features::standup::model::prediction::{EssentialQuestion, Expiry, Threshold};
use kernel::feeds::condition::{SettlingRule, UnknownTerm};

impl Threshold {
    pub const ALLOWED: &str = "a number to be reached such as 500, or a change from now such as +10 or -5 (=-5 for the number itself)";

    /// Above this, floats cannot distinguish neighbouring values with decimals.
    const LARGEST: f64 = 1e15;

    pub fn parse(text: &str) -> Result<Self, UnknownTerm> {
        let text = text.trim();
        let (number, is_change) = text.strip_prefix('=').map_or((text, text.starts_with(['+', '-'])), |number| (number.trim(), false));
        // Rust also parses "inf" and "nan".
        let number = number.parse::<f64>().ok().filter(|number| number.abs() <= Self::LARGEST);
        let number = number.ok_or_else(|| UnknownTerm::new(text, Self::ALLOWED))?;
        Ok(if is_change { Self::Change(number) } else { Self::Fixed(number) })
    }
}

/// [`Threshold::parse`] accepts this format.
impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(number) if number.is_sign_negative() => write!(f, "={number}"),
            Self::Fixed(number) => write!(f, "{number}"),
            Self::Change(number) => write!(f, "{number:+}"),
        }
    }
}

impl EssentialQuestion {
    /// The settling condition for a call made now at value `base`.
    pub fn rule(&self, base: f64, unit: &str) -> SettlingRule {
        let threshold = match self.threshold {
            Threshold::Fixed(number) => number,
            Threshold::Change(change) => base + change,
        };
        SettlingRule { feed: self.feed.clone(), value: self.value.clone(), unit: unit.to_owned(), comparison: self.comparison, threshold }
    }
}

impl Expiry {
    pub const ALLOWED: &str = "\"next friday 08:00\", \"tomorrow 08:00\" (each with a time zone such as Europe/Berlin behind it, if it is not the \
                               team's), \"in 12 hours\" or \"in 3 days\", up to 366 days";

    /// The minimum time to the expiry. Otherwise the weekday a week later is used.
    const LEAST: TimeDelta = TimeDelta::days(1);
    const LONGEST: TimeDelta = TimeDelta::days(366);

    /// Parses an expiry. Times without a zone are in `default_zone`.
    pub fn parse(text: &str, default_zone: Tz) -> Result<Self, UnknownTerm> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let lower: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
        let lower: Vec<&str> = lower.iter().map(String::as_str).collect();
        // Time zone names are case-sensitive.
        let zone = |at: usize| words.get(at).map_or(Some(default_zone), |name| parse_zone(name));
        let found = match lower.as_slice() {
            ["in", count, unit] => parse_span(count, unit).map(Self::In),
            ["tomorrow", time] | ["tomorrow", time, _] => parse_time(time).zip(zone(2)).map(|(time, zone)| Self::Tomorrow { time, zone }),
            ["next", day, time] | ["next", day, time, _] => parse_weekday(day, time, zone(3)),
            [day, time] | [day, time, _] => parse_weekday(day, time, zone(2)),
            _ => None,
        };
        found.ok_or_else(|| UnknownTerm::new(text.trim(), Self::ALLOWED))
    }

    /// The expiry of a call made at `made_at`. Always later.
    ///
    /// A local time skipped by a clock change becomes the first moment after it. An ambiguous one means the first.
    pub fn instant(self, made_at: DateTime<Utc>) -> DateTime<Utc> {
        let found = match self {
            Self::In(span) => made_at.checked_add_signed(span),
            Self::Tomorrow { time, zone } => {
                let first = made_at.with_timezone(&zone).date_naive().succ_opt();
                first.and_then(|first| first_instant(first, |_| true, time, zone, made_at))
            }
            Self::Weekday { weekday, time, zone } => {
                let first = made_at.with_timezone(&zone).date_naive();
                let earliest = made_at.checked_add_signed(Self::LEAST - TimeDelta::nanoseconds(1));
                earliest.and_then(|earliest| first_instant(first, |day| chrono::Datelike::weekday(&day) == weekday, time, zone, earliest))
            }
        };
        found.unwrap_or(DateTime::<Utc>::MAX_UTC)
    }
}

/// [`Expiry::parse`] accepts this format.
impl fmt::Display for Expiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Weekday { weekday, time, zone } => write!(f, "next {} {} {zone}", name_of(*weekday), time.format("%H:%M")),
            Self::Tomorrow { time, zone } => write!(f, "tomorrow {} {zone}", time.format("%H:%M")),
            Self::In(span) if span.num_hours() % 24 == 0 => write!(f, "in {} days", span.num_days()),
            Self::In(span) => write!(f, "in {} hours", span.num_hours()),
        }
    }
}

fn parse_zone(name: &str) -> Option<Tz> {
    if name.eq_ignore_ascii_case("utc") { Some(Tz::UTC) } else { name.parse().ok() }
}

fn parse_time(text: &str) -> Option<NaiveTime> {
    NaiveTime::parse_from_str(text, "%H:%M").ok()
}

fn parse_weekday(day: &str, time: &str, zone: Option<Tz>) -> Option<Expiry> {
    Some(Expiry::Weekday { weekday: day.parse().ok()?, time: parse_time(time)?, zone: zone? })
}

fn parse_span(count: &str, unit: &str) -> Option<TimeDelta> {
    let count = count.parse::<i64>().ok()?;
    let span = match unit {
        "hour" | "hours" => TimeDelta::try_hours(count)?,
        "day" | "days" => TimeDelta::try_days(count)?,
        "week" | "weeks" => TimeDelta::try_weeks(count)?,
        _ => return None,
    };
    (TimeDelta::zero() < span && span <= Expiry::LONGEST).then_some(span)
}

fn name_of(weekday: Weekday) -> &'static str {
    match weekday {
        Weekday::Mon => "monday",
        Weekday::Tue => "tuesday",
        Weekday::Wed => "wednesday",
        Weekday::Thu => "thursday",
        Weekday::Fri => "friday",
        Weekday::Sat => "saturday",
        Weekday::Sun => "sunday",
    }
}

/// The first moment after `after` that is `time` in `zone` on a matching day from `first` on.
fn first_instant(
    first: NaiveDate,
    fits: impl Fn(NaiveDate) -> bool,
    time: NaiveTime,
    zone: Tz,
    after: DateTime<Utc>,
) -> Option<DateTime<Utc>> {
    // The second Friday from a Thursday is 8 days away, and a zone may skip a whole day.
    let days = (0..=15).map_while(|ahead| first.checked_add_days(Days::new(ahead))).filter(|day| fits(*day));
    days.flat_map(|day| list_instants(day, time, zone)).find(|instant| *instant > after)
}

/// The moments of `time` on `day`: one, two when clocks are set back, or the first moment after a gap.
fn list_instants(day: NaiveDate, time: NaiveTime, zone: Tz) -> Vec<DateTime<Utc>> {
    let wanted = day.and_time(time);
    // The longest gap ever was a whole day, skipped by Samoa in 2011.
    let local = (0..=24 * 60).filter_map(|minutes| wanted.checked_add_signed(TimeDelta::minutes(minutes)));
    let found = local.map(|local| zone.from_local_datetime(&local)).find(|found| found.earliest().is_some());
    let instants = found.into_iter().flat_map(|found| [found.earliest(), found.latest()].into_iter().flatten());
    let mut instants: Vec<DateTime<Utc>> = instants.map(|instant| instant.to_utc()).collect();
    instants.dedup();
    instants
}
