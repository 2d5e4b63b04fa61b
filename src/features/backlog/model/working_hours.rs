//! When people work, and so when they are reminded.

use std::fmt;

use chrono::{DateTime, Datelike as _, Days, NaiveTime, TimeDelta, Utc, Weekday};
use chrono_tz::Tz;
use kernel::config::{Setting, setting};
use kernel::when::instant;

/// Days and hours: `mon-fri 09:00-18:00`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkingHours {
    first: Weekday,
    last: Weekday,
    opens: NaiveTime,
    /// When the day ends, and what is due on that day.
    pub closes: NaiveTime,
}

const OPENS: NaiveTime = NaiveTime::from_hms_opt(9, 0, 0).expect("a time of day");
const CLOSES: NaiveTime = NaiveTime::from_hms_opt(18, 0, 0).expect("a time of day");

impl Default for WorkingHours {
    fn default() -> Self {
        Self { first: Weekday::Mon, last: Weekday::Fri, opens: OPENS, closes: CLOSES }
    }
}

impl fmt::Display for WorkingHours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (self.first.to_string().to_lowercase(), self.last.to_string().to_lowercase());
        write!(f, "{first}-{last} {}-{}", self.opens.format("%H:%M"), self.closes.format("%H:%M"))
    }
}

setting! {
    WorkingHours: "days and hours such as \"mon-fri 09:00-18:00\"", |given| Self::read(&<String as Setting>::parse(given)?),
        |hours| format!("\"{hours}\"");
}

impl WorkingHours {
    fn read(text: &str) -> Option<Self> {
        let (days, hours) = text.trim().split_once(' ')?;
        let (first, last) = days.split_once('-')?;
        let (opens, closes) = hours.trim().split_once('-')?;
        let time = |text: &str| NaiveTime::parse_from_str(text.trim(), "%H:%M").ok();
        let read = Self { first: first.parse().ok()?, last: last.parse().ok()?, opens: time(opens)?, closes: time(closes)? };
        (read.opens < read.closes).then_some(read)
    }

    /// `at`, or the next time after it at which people work.
    pub fn at_or_after(&self, at: DateTime<Utc>, zone: Tz) -> DateTime<Utc> {
        let local = at.with_timezone(&zone);
        if !self.is_working_day(local.weekday()) || local.time() >= self.closes {
            self.opening_after(at, zone)
        } else if local.time() < self.opens {
            self.opening(at, zone)
        } else {
            at
        }
    }

    /// When the day of `at` begins.
    pub fn opening(&self, at: DateTime<Utc>, zone: Tz) -> DateTime<Utc> {
        instant(at.with_timezone(&zone).date_naive().and_time(self.opens), zone).unwrap_or(at)
    }

    /// When the next working day after that of `at` begins.
    pub fn opening_after(&self, at: DateTime<Utc>, zone: Tz) -> DateTime<Utc> {
        let date = at.with_timezone(&zone).date_naive();
        let days = (1..=7).filter_map(|days| date.checked_add_days(Days::new(days)));
        let next = days.into_iter().find(|date| self.is_working_day(date.weekday()));
        next.and_then(|date| instant(date.and_time(self.opens), zone)).unwrap_or(at + TimeDelta::days(1))
    }

    /// From the first day to the last, over the end of the week if need be.
    fn is_working_day(&self, day: Weekday) -> bool {
        day.days_since(self.first) <= self.last.days_since(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_hours_are_read_and_written() {
        for text in ["mon-fri 09:00-18:00", "sun-thu 08:30-16:00", "mon-sun 00:00-23:59"] {
            assert_eq!(WorkingHours::read(text).expect(text).to_string(), text);
        }
        assert_eq!(WorkingHours::read("Monday-Friday 09:00-18:00"), Some(WorkingHours::default()));
        for text in ["", "mon-fri", "mon-fri 18:00-09:00", "mon-xyz 09:00-18:00", "mon 09:00"] {
            assert_eq!(WorkingHours::read(text), None, "{text}");
        }
    }

    #[test]
    fn a_week_may_begin_on_any_day() {
        let hours = WorkingHours::read("sun-thu 09:00-17:00").expect("hours");
        // A Friday.
        let at: DateTime<Utc> = "2026-11-27T10:00:00Z".parse().expect("a time");
        assert_eq!(hours.at_or_after(at, Tz::UTC).to_rfc3339(), "2026-11-29T09:00:00+00:00");
    }
}
