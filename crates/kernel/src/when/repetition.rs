//! When something repeated comes.

use chrono::{DateTime, Datelike as _, Days, NaiveDate, NaiveTime, TimeDelta, Utc, Weekday};
use chrono_tz::Tz;
use serde::{Deserialize, Serialize};

use super::{instant, spell_date};
use crate::text::join_with_and;

/// Dates or a distance of time, from the first to the last one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetition {
    pub pattern: Pattern,
    /// The time of day, in `zone`.
    pub time: NaiveTime,
    #[serde(with = "crate::time::zone_name")]
    pub zone: Tz,
    /// The first date. Weeks and days are counted from it.
    pub first: NaiveDate,
    /// The last date on which it may come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<NaiveDate>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Each so many minutes of real time.
    Minutes(u32),
    Days(u32),
    Weeks {
        every: u32,
        days: Vec<Weekday>,
    },
    /// The last day of a month that is too short.
    Months {
        every: u32,
        day: u32,
    },
    /// The first Monday of each month. The last one is -1.
    NthWeekday {
        nth: i8,
        day: Weekday,
    },
    Yearly {
        month: u32,
        day: u32,
    },
}

/// The longest wait: 29 February, around a year such as 2100.
const MAX_DAYS: u64 = 366 * 8 + 1;

impl Repetition {
    /// The first instant after `now`. None after the end.
    pub fn next_after(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let next = match self.pattern {
            Pattern::Minutes(minutes) => self.next_by_minutes(minutes, now),
            _ => self.next_by_dates(now),
        }?;
        Some(next).filter(|next| self.until.is_none_or(|until| next.with_timezone(&self.zone).date_naive() <= until))
    }

    fn next_by_minutes(&self, minutes: u32, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let first = instant(self.first.and_time(self.time), self.zone)?;
        let step = TimeDelta::minutes(i64::from(minutes.max(1)));
        let passed = (now - first).num_seconds().div_euclid(step.num_seconds()) + 1;
        first.checked_add_signed(step.checked_mul(i32::try_from(passed.max(0)).ok()?)?)
    }

    fn next_by_dates(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        // A time that clocks skip may come on the next date.
        let yesterday = now.with_timezone(&self.zone).date_naive().checked_sub_days(Days::new(1))?;
        let start = self.first.max(yesterday);
        let dates = (0..MAX_DAYS).map_while(|days| start.checked_add_days(Days::new(days)));
        dates.filter(|date| self.comes_on(*date)).find_map(|date| instant(date.and_time(self.time), self.zone).filter(|at| *at > now))
    }

    fn comes_on(&self, date: NaiveDate) -> bool {
        match &self.pattern {
            Pattern::Minutes(_) => true,
            Pattern::Days(every) => (date - self.first).num_days() % i64::from(*every) == 0,
            Pattern::Weeks { every, days } => {
                let monday = |date: NaiveDate| date.week(Weekday::Mon).first_day();
                days.contains(&date.weekday()) && (monday(date) - monday(self.first)).num_weeks() % i64::from(*every) == 0
            }
            Pattern::Months { every, day } => {
                let months = |date: NaiveDate| i64::from(date.year()) * 12 + i64::from(date.month0());
                date.day() == (*day).min(length_of_month(date)) && (months(date) - months(self.first)) % i64::from(*every) == 0
            }
            Pattern::NthWeekday { nth: -1, day } => date.weekday() == *day && date.day() + 7 > length_of_month(date),
            Pattern::NthWeekday { nth, day } => date.weekday() == *day && i64::from(date.day0() / 7 + 1) == i64::from(*nth),
            Pattern::Yearly { month, day } => date.month() == *month && date.day() == *day,
        }
    }

    /// `every other Monday at 09:00 until Fri 18 Dec`. The zone is not part of it.
    pub fn describe(&self) -> String {
        let often = match &self.pattern {
            Pattern::Minutes(60) => "every hour".to_owned(),
            Pattern::Minutes(minutes) if minutes % 60 == 0 => format!("every {} hours", minutes / 60),
            Pattern::Minutes(minutes) => format!("every {minutes} minutes"),
            Pattern::Days(every) => every_nth(*every, "day"),
            Pattern::Weeks { every, days } => every_nth(*every, &describe_days(days)),
            Pattern::Months { every, day } => format!("on the {} of {}", ordinal(*day), every_nth(*every, "month")),
            Pattern::NthWeekday { nth, day } => format!("on the {} {} of every month", describe_nth(*nth), full_name(*day)),
            Pattern::Yearly { month, day } => format!("every year on {}", spell_date(*month, *day)),
        };
        let time = if matches!(self.pattern, Pattern::Minutes(_)) { String::new() } else { format!(" at {}", self.time.format("%H:%M")) };
        let until = self.until.map_or_else(String::new, |until| {
            let format = if until.year() == self.first.year() { "%a %-d %b" } else { "%a %-d %b %Y" };
            format!(" until {}", until.format(format))
        });
        format!("{often}{time}{until}")
    }
}

fn length_of_month(date: NaiveDate) -> u32 {
    u32::from(date.num_days_in_month())
}

fn every_nth(every: u32, unit: &str) -> String {
    match every {
        1 => format!("every {unit}"),
        2 => format!("every other {unit}"),
        every if ["day", "month"].contains(&unit) => format!("every {every} {unit}s"),
        every => format!("every {every} weeks on {unit}"),
    }
}

fn describe_days(days: &[Weekday]) -> String {
    use Weekday::{Fri, Mon, Thu, Tue, Wed};
    if days == [Mon, Tue, Wed, Thu, Fri] {
        return "weekday".to_owned();
    }
    join_with_and(&days.iter().map(|day| full_name(*day)).collect::<Vec<_>>())
}

fn describe_nth(nth: i8) -> &'static str {
    match nth {
        1 => "first",
        2 => "second",
        3 => "third",
        4 => "fourth",
        5 => "fifth",
        _ => "last",
    }
}

fn ordinal(day: u32) -> String {
    let suffix = match (day % 10, day % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{day}{suffix}")
}

pub(super) fn full_name(day: Weekday) -> &'static str {
    match day {
        Weekday::Mon => "Monday",
        Weekday::Tue => "Tuesday",
        Weekday::Wed => "Wednesday",
        Weekday::Thu => "Thursday",
        Weekday::Fri => "Friday",
        Weekday::Sat => "Saturday",
        Weekday::Sun => "Sunday",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repetition(pattern: Pattern, first: &str) -> Repetition {
        let time = NaiveTime::from_hms_opt(9, 0, 0).expect("a time of day");
        Repetition { pattern, time, zone: Tz::Europe__Berlin, first: first.parse().expect("a date"), until: None }
    }

    fn next(repetition: &Repetition, after: &str, count: usize) -> Vec<String> {
        let after: DateTime<Utc> = after.parse().expect("a time");
        let times = std::iter::successors(repetition.next_after(after), |at| repetition.next_after(*at));
        times.take(count).map(|at| at.with_timezone(&repetition.zone).format("%a %F %H:%M").to_string()).collect()
    }

    #[test]
    fn each_pattern_comes_on_its_dates() {
        let mondays = Pattern::Weeks { every: 2, days: vec![Weekday::Mon] };
        for (pattern, first, dates) in [
            (mondays, "2026-11-30", ["Mon 2026-11-30 09:00", "Mon 2026-12-14 09:00", "Mon 2026-12-28 09:00"]),
            (Pattern::Days(3), "2026-11-29", ["Sun 2026-11-29 09:00", "Wed 2026-12-02 09:00", "Sat 2026-12-05 09:00"]),
            (Pattern::Months { every: 1, day: 31 }, "2027-01-31", ["Sun 2027-01-31 09:00", "Sun 2027-02-28 09:00", "Wed 2027-03-31 09:00"]),
            (
                Pattern::NthWeekday { nth: -1, day: Weekday::Fri },
                "2026-11-28",
                ["Fri 2026-12-25 09:00", "Fri 2027-01-29 09:00", "Fri 2027-02-26 09:00"],
            ),
            (
                Pattern::NthWeekday { nth: 1, day: Weekday::Mon },
                "2026-11-28",
                ["Mon 2026-12-07 09:00", "Mon 2027-01-04 09:00", "Mon 2027-02-01 09:00"],
            ),
            (Pattern::Yearly { month: 2, day: 29 }, "2026-11-28", ["Tue 2028-02-29 09:00", "Sun 2032-02-29 09:00", "Fri 2036-02-29 09:00"]),
            (Pattern::Minutes(90), "2026-11-28", ["Sat 2026-11-28 13:30", "Sat 2026-11-28 15:00", "Sat 2026-11-28 16:30"]),
        ] {
            assert_eq!(next(&repetition(pattern, first), "2026-11-28T12:00:00Z", 3), dates);
        }
    }

    #[test]
    fn it_ends_on_its_last_date() {
        let until = Some("2026-12-01".parse().expect("a date"));
        let repetition = Repetition { until, ..repetition(Pattern::Days(1), "2026-11-29") };
        assert_eq!(next(&repetition, "2026-11-28T12:00:00Z", 9).len(), 3);
        assert_eq!(repetition.describe(), "every day at 09:00 until Tue 1 Dec");
    }

    #[test]
    fn a_time_that_clocks_skip_or_show_twice_comes_once() {
        let time = NaiveTime::from_hms_opt(2, 30, 0).expect("a time of day");
        let nightly = Repetition { time, ..repetition(Pattern::Days(1), "2026-10-24") };
        assert_eq!(next(&nightly, "2026-10-24T12:00:00Z", 2), ["Sun 2026-10-25 02:30", "Mon 2026-10-26 02:30"]);
        assert_eq!(next(&nightly, "2027-03-27T12:00:00Z", 2), ["Sun 2027-03-28 03:00", "Mon 2027-03-29 02:30"]);
    }

    #[test]
    fn it_is_stored_and_said() {
        for (pattern, words) in [
            (Pattern::Weeks { every: 2, days: vec![Weekday::Mon, Weekday::Thu] }, "every other Monday and Thursday at 09:00"),
            (Pattern::Weeks { every: 3, days: vec![Weekday::Mon] }, "every 3 weeks on Monday at 09:00"),
            (Pattern::Months { every: 3, day: 22 }, "on the 22nd of every 3 months at 09:00"),
            (Pattern::NthWeekday { nth: -1, day: Weekday::Fri }, "on the last Friday of every month at 09:00"),
            (Pattern::Yearly { month: 12, day: 24 }, "every year on 24 December at 09:00"),
            (Pattern::Minutes(120), "every 2 hours"),
        ] {
            let repetition = repetition(pattern, "2026-11-28");
            let stored = serde_json::to_string(&repetition).expect("JSON");
            assert_eq!(serde_json::from_str::<Repetition>(&stored).expect("the same"), repetition);
            assert_eq!(repetition.describe(), words);
        }
    }
}
