use std::iter::successors;

use chrono::{DateTime, LocalResult, NaiveDateTime, SubsecRound, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;
use croner::Cron;
use serde::{Deserialize, Serialize};

/// A cron expression in a time zone.
///
/// Five fields (minute, hour, day of the month, month, day of the week) or six with seconds first, as in POSIX with croner's additions (`L`, `#`,
/// `W`). If both kinds of day are given, either is enough. The behaviour at clock changes depends on the kind:
///
/// - **At fixed times**: neither seconds, minute nor hour has a `*` or a step. Each time fires once on its date. A time that a clock change skips
///   fires at the first instant after the gap, together with other skipped times. A time that occurs twice fires the first time.
/// - **At intervals**: everything else. An instant fires when the local clock shows a matching time, so the interval is real time: `0 * * * *` fires
///   every hour, also in a repeated hour, and not in a skipped one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Timetable {
    text: String,
    zone: Tz,
    cron: Cron,
    fixed: bool,
}

/// Why an expression is invalid. Shown to its author.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTimetable {
    #[error("{0:?} has {1} fields; give 5 (minute, hour, day, month, weekday) or 6 with seconds first, such as \"0 9 * * 1-5\"")]
    Fields(String, usize),
    #[error("{text:?} is no cron expression ({reason}); an example is \"0 9 * * 1-5\", nine o'clock from Monday to Friday")]
    Cron { text: String, reason: String },
    #[error("{0:?} names a date that never comes")]
    Never(String),
    #[error("there is no time zone {0:?}; give an IANA name such as \"Europe/Berlin\", or \"UTC\"")]
    Zone(String),
}

/// The stored form of a timetable.
#[derive(Serialize, Deserialize)]
struct Written {
    cron: String,
    zone: String,
}

/// The longest forward clock change: two hours, at Troll station. A zone that crosses the date line skips a whole day (Samoa on 30 December 2011).
/// Nothing is made up for on such a day.
const LONGEST_GAP: i64 = 180;

impl Timetable {
    /// # Errors
    /// The problem of the expression and the allowed values.
    pub fn parse(cron: &str, zone: Tz) -> Result<Self, InvalidTimetable> {
        let fields: Vec<_> = cron.split_whitespace().collect();
        let text = fields.join(" ");
        if !(5..=6).contains(&fields.len()) {
            return Err(InvalidTimetable::Fields(text, fields.len()));
        }
        let parsed: Cron = text.parse().map_err(|error: croner::errors::CronError| InvalidTimetable::Cron {
            reason: error.to_string().trim_end_matches('.').to_owned(),
            text: text.clone(),
        })?;
        // The calendar repeats every 400 years, so any start date works.
        if parsed.find_next_occurrence(&DateTime::UNIX_EPOCH.naive_utc(), true).is_err() {
            return Err(InvalidTimetable::Never(text));
        }
        let fixed = !fields[..fields.len() - 3].iter().any(|field| field.contains(['*', '/', '?']));
        Ok(Self { text, zone, cron: parsed, fixed })
    }

    /// # Errors
    /// The zone does not exist.
    pub fn parse_zone(name: &str) -> Result<Tz, InvalidTimetable> {
        name.trim().parse().map_err(|_| InvalidTimetable::Zone(name.to_owned()))
    }

    /// The expression, with single spaces.
    pub fn cron(&self) -> &str {
        &self.text
    }

    pub fn zone(&self) -> Tz {
        self.zone
    }

    /// Expression and zone as one text, equal for equal timetables.
    pub fn key(&self) -> String {
        format!("{} {}", self.text, self.zone)
    }

    /// Whether two instants may be less than a minute apart.
    pub fn is_below_a_minute(&self) -> bool {
        self.text.split(' ').count() == 6 && self.text.split(' ').next().is_some_and(|seconds| seconds.contains([',', '-', '*', '/', '?']))
    }

    /// The first instant after `after`. None: there is none before the year 5000.
    pub fn next_after(&self, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        if self.fixed { self.next_fixed(after) } else { self.next_by_interval(after) }
    }

    /// The instants after `after` up to `until`, at most `limit`.
    pub fn instants_between(&self, after: DateTime<Utc>, until: DateTime<Utc>, limit: usize) -> Vec<DateTime<Utc>> {
        self.walk(after, until).take(limit).collect()
    }

    /// The last instant after `after` and up to `until`.
    pub fn latest_between(&self, after: DateTime<Utc>, until: DateTime<Utc>) -> Option<DateTime<Utc>> {
        // Searches back a minute, two, four, …, so that a long period of a busy timetable is not scanned from its start.
        let mut back = TimeDelta::minutes(1);
        loop {
            let from = (until - back).max(after);
            let latest = self.walk(from, until).last();
            if latest.is_some() || from <= after {
                return latest;
            }
            back = back * 2;
        }
    }

    fn walk(&self, after: DateTime<Utc>, until: DateTime<Utc>) -> impl Iterator<Item = DateTime<Utc>> {
        successors(self.next_after(after), |instant| self.next_after(*instant)).take_while(move |instant| *instant <= until)
    }

    /// Croner treats only expressions with a single time of day as fixed, and repeats or drops the others at clock changes. So croner computes the
    /// local times without a zone, and this code converts them to instants.
    fn next_fixed(&self, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let mut wall = after.with_timezone(&self.zone).naive_local();
        loop {
            wall = self.cron.find_next_occurrence(&wall, false).ok()?;
            if let Some(instant) = self.first_instant(wall).filter(|instant| *instant > after) {
                return Some(instant);
            }
        }
    }

    /// Croner 4 returns both halves of a repeated hour. Version 3 lost one of them.
    fn next_by_interval(&self, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let next = self.cron.find_next_occurrence(&after.with_timezone(&self.zone), false).ok()?;
        Some(next.with_timezone(&Utc))
    }

    /// The first instant at which the local clock shows `wall`, or the end of the gap that skips it.
    fn first_instant(&self, wall: NaiveDateTime) -> Option<DateTime<Utc>> {
        let first = |wall: &NaiveDateTime| match self.zone.from_local_datetime(wall) {
            LocalResult::Single(instant) | LocalResult::Ambiguous(instant, _) => Some(instant.with_timezone(&Utc)),
            LocalResult::None => None,
        };
        // Clocks change at a full minute.
        first(&wall).or_else(|| {
            let minute = wall.trunc_subsecs(0) - TimeDelta::seconds(i64::from(chrono::Timelike::second(&wall)));
            (1..=LONGEST_GAP).find_map(|minutes| first(&(minute + TimeDelta::minutes(minutes))))
        })
    }
}

impl TryFrom<Written> for Timetable {
    type Error = InvalidTimetable;

    fn try_from(written: Written) -> Result<Self, InvalidTimetable> {
        Self::parse(&written.cron, Self::parse_zone(&written.zone)?)
    }
}

impl From<Timetable> for Written {
    fn from(timetable: Timetable) -> Self {
        Self { zone: timetable.zone.to_string(), cron: timetable.text }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn timetable(cron: &str, zone: &str) -> Timetable {
        Timetable::parse(cron, Timetable::parse_zone(zone).expect("a zone")).expect("a timetable")
    }

    fn utc(text: &str) -> DateTime<Utc> {
        text.parse().expect("a time")
    }

    /// The instants of a local date, in local time with the offset.
    fn on(cron: &str, zone: &str, date: &str) -> Vec<String> {
        let timetable = timetable(cron, zone);
        let day = utc(&format!("{date}T00:00:00Z"));
        let instants = timetable.instants_between(day - TimeDelta::days(1), day + TimeDelta::days(2), 10_000);
        let local = instants.into_iter().map(|instant| instant.with_timezone(&timetable.zone));
        local.filter(|local| local.date_naive() == day.date_naive()).map(|local| local.format("%H:%M %:z").to_string()).collect()
    }

    #[test]
    fn a_time_that_does_not_exist_comes_once_at_the_next_valid_instant() {
        assert_eq!(on("30 2 * * *", "America/New_York", "2027-03-14"), ["03:00 -04:00"]);
        assert_eq!(on("30 2 * * *", "America/New_York", "2026-03-08"), ["03:00 -04:00"]);
        assert_eq!(on("15 2 * * *", "Australia/Lord_Howe", "2026-10-04"), ["02:30 +11:00"]);
        assert_eq!(on("0 0 * * *", "Africa/Cairo", "2026-04-24"), ["01:00 +03:00"]);
        assert_eq!(on("30 1 * * *", "Antarctica/Troll", "2026-03-29"), ["03:00 +02:00"]);
        // Two skipped times and a normal one share an instant.
        assert_eq!(
            on("0,15,30,45 2,3 * * *", "America/New_York", "2027-03-14"),
            ["03:00 -04:00", "03:15 -04:00", "03:30 -04:00", "03:45 -04:00"]
        );
        // In Greenland the gap ends with the day.
        assert_eq!(on("30 23 * * 6", "America/Nuuk", "2026-03-29"), ["00:00 -01:00"]);
        // In Havana the gap begins with the day.
        assert_eq!(on("59 0,1 * * *", "America/Havana", "2026-03-08"), ["01:00 -04:00", "01:59 -04:00"]);
        assert_eq!(on("59 0 * * *", "America/Havana", "2027-03-14"), ["01:00 -04:00"]);
        assert_eq!(on("0,59 0,1 * * *", "America/Havana", "2026-03-08"), ["01:00 -04:00", "01:59 -04:00"]);
        assert_eq!(on("30 2 * * *", "Europe/Berlin", "2027-03-28"), ["03:00 +02:00"]);
        assert_eq!(on("30 2,3 * * *", "Europe/Berlin", "2027-03-28"), ["03:00 +02:00", "03:30 +02:00"]);
        assert_eq!(on("59 0,1 * * *", "America/Sao_Paulo", "2018-11-04"), ["01:00 -02:00", "01:59 -02:00"]);
        assert_eq!(on("29 2,3 * * *", "Australia/Lord_Howe", "2026-10-04"), ["02:30 +11:00", "03:29 +11:00"]);
        // Samoa skipped the whole of 30 December 2011.
        assert_eq!(on("0 9 * * *", "Pacific/Apia", "2011-12-31"), ["09:00 +14:00"]);
    }

    #[test]
    fn a_time_that_comes_twice_counts_the_first_time() {
        assert_eq!(on("30 1 * * *", "America/New_York", "2026-11-01"), ["01:30 -04:00"]);
        assert_eq!(on("0,30 1 * * *", "America/New_York", "2026-11-01"), ["01:00 -04:00", "01:30 -04:00"]);
        assert_eq!(on("45 1 * * *", "Australia/Lord_Howe", "2026-04-05"), ["01:45 +11:00"]);
        assert_eq!(on("0 9,17 * * *", "America/New_York", "2026-11-01"), ["09:00 -05:00", "17:00 -05:00"]);
    }

    #[test]
    fn intervals_go_by_the_time_that_really_passes() {
        let hours = on("0 * * * *", "America/New_York", "2026-11-01");
        assert_eq!(hours.len(), 25);
        assert_eq!(hours[..4], ["00:00 -04:00", "01:00 -04:00", "01:00 -05:00", "02:00 -05:00"]);
        assert_eq!(on("0 * * * *", "America/New_York", "2027-03-14").len(), 23);
        let halves = on("*/30 * * * *", "America/New_York", "2026-11-01");
        assert_eq!(halves[2..6], ["01:00 -04:00", "01:30 -04:00", "01:00 -05:00", "01:30 -05:00"]);
        assert_eq!(on("*/30 2 * * *", "America/New_York", "2027-03-14"), [""; 0]);
    }

    #[test]
    fn working_days_stay_at_nine_over_both_changes() {
        let timetable = timetable("0 9 * * 1-5", "America/New_York");
        let year = timetable.instants_between(utc("2026-01-01T00:00:00Z"), utc("2027-01-01T00:00:00Z"), 1000);
        assert_eq!(year.len(), 261);
        assert!(year.iter().all(|instant| instant.with_timezone(&timetable.zone).format("%H:%M:%S").to_string() == "09:00:00"));
    }

    #[test]
    fn the_latest_instant_is_found_from_near_and_far() {
        let standup = timetable("0 9 * * 1-5", "UTC");
        let latest = |after, until| standup.latest_between(utc(after), utc(until));
        assert_eq!(latest("2026-11-16T00:00:00Z", "2026-11-22T12:00:00Z"), Some(utc("2026-11-20T09:00:00Z")));
        assert_eq!(latest("2026-11-20T09:00:00Z", "2026-11-22T12:00:00Z"), None);
        assert_eq!(latest("1990-01-01T00:00:00Z", "2026-11-20T09:00:00Z"), Some(utc("2026-11-20T09:00:00Z")));
        assert_eq!(latest("2026-11-22T12:00:00Z", "2026-11-20T09:00:00Z"), None, "the clock went back");
    }

    #[test]
    fn what_is_no_timetable_is_refused_with_the_reason() {
        let refused = |cron: &str| Timetable::parse(cron, Tz::UTC).expect_err("a refusal").to_string();
        for cron in ["", "* * * *", "@daily", "0 0 9 * * * 2026"] {
            assert!(refused(cron).contains("fields; give 5"), "{cron}: {}", refused(cron));
        }
        for cron in [
            "60 * * * *",
            "0 24 * * *",
            "0 9 * * 8",
            "0 9 0 * *",
            "0 9 * 13 *",
            "nine o'clock every single day",
            "*/0 * * * *",
            "5-1 * * * *",
        ] {
            assert!(refused(cron).contains("is no cron expression"), "{cron}: {}", refused(cron));
        }
        for cron in ["0 9 31 2 *", "0 9 30 2 *", "0 0 0 31 4 *"] {
            assert!(refused(cron).contains("never comes"), "{cron}: {}", refused(cron));
        }
        assert!(Timetable::parse("0 9 29 2 *", Tz::UTC).is_ok());
    }

    proptest! {
        #[test]
        fn instants_strictly_increase_wherever_one_begins(
            cron in prop::sample::select(&["30 2 * * *", "0,30 1,2 * * *", "0 * * * *", "*/7 * * * *", "0 0 * * *", "15 10 1-3 * * 0,6", "*/20 * 1 * * *", "59 0,1 * * *"][..]),
            zone in prop::sample::select(&["America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "America/Santiago", "Africa/Casablanca", "Antarctica/Troll", "America/Havana", "Europe/Berlin"][..]),
            begin in 1_750_000_000_i64..1_830_000_000,
            nanoseconds in 0_u32..1_000_000_000,
        ) {
            let timetable = timetable(cron, zone);
            let begin = DateTime::from_timestamp(begin, nanoseconds).expect("a time");
            let mut last = begin;
            for _ in 0..40 {
                let next = timetable.next_after(last).expect("it goes on");
                prop_assert!(next > last, "{next} after {last}");
                // Any start in between gives the same instant.
                let between = last + (next - last) / 2;
                prop_assert_eq!(timetable.next_after(between), Some(next));
                prop_assert_eq!(timetable.latest_between(last, next), Some(next));
                last = next;
            }
        }
    }
}
