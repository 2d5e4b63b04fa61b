use chrono::{DateTime, TimeDelta, Utc};

use crate::features::schedule::model::{Job, MissedRuns};

/// A run that begins at most this long after its instant is not missed.
pub const LATE: TimeDelta = TimeDelta::seconds(60);

/// Maximum number of missed runs that are made up for at a time.
const MOST_CATCH_UPS: usize = 24;

/// Missed instants are counted up to this number.
const COUNTED: usize = 1000;

/// The due instants of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The instants to fire, the earliest first. At most one unless the job makes up for all missed runs.
    pub fire: Vec<DateTime<Utc>>,
    /// The latest due instant.
    pub latest: DateTime<Utc>,
    /// The number of due instants that are not fired. Approximate above a thousand.
    pub passed_over: u64,
}

impl Job {
    /// The instants due at `now`, if all instants up to `considered` were processed. None: no instant is due.
    pub fn due(&self, considered: DateTime<Utc>, now: DateTime<Utc>) -> Option<Due> {
        let latest = self.timetable.latest_between(considered, now)?;
        let deadline = TimeDelta::from_std(self.deadline).unwrap_or(TimeDelta::MAX);
        let age = now - latest;
        let in_time = age <= LATE;
        let fire = match self.missed {
            MissedRuns::All => self.list_young(considered, now, deadline.max(LATE)),
            MissedRuns::Once if in_time || age <= deadline => vec![latest],
            MissedRuns::Skip if in_time => vec![latest],
            _ => Vec::new(),
        };
        let come = self.timetable.instants_between(considered, now, COUNTED).len();
        Some(Due { latest, passed_over: come.saturating_sub(fire.len()) as u64, fire })
    }

    /// The latest instants whose deadline has not passed.
    fn list_young(&self, considered: DateTime<Utc>, now: DateTime<Utc>, deadline: TimeDelta) -> Vec<DateTime<Utc>> {
        let since = now.checked_sub_signed(deadline).map_or(considered, |oldest| oldest.max(considered));
        let mut young = self.timetable.instants_between(since, now, COUNTED);
        young.split_off(young.len().saturating_sub(MOST_CATCH_UPS))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chrono_tz::Tz;

    use super::*;
    use crate::features::schedule::model::Timetable;
    use crate::features::schedule::model::tests::report;

    fn utc(text: &str) -> DateTime<Utc> {
        text.parse().expect("a time")
    }

    fn job(cron: &str, missed: MissedRuns) -> Job {
        Job { timetable: Timetable::parse(cron, Tz::UTC).expect("a timetable"), missed, ..report(Tz::UTC) }
    }

    /// How many instants fire and how many are passed over after a downtime of `down`, which ends at or after the last instant.
    fn after_a_pause(cron: &str, missed: MissedRuns, down: TimeDelta, past_the_instant: TimeDelta) -> (usize, u64) {
        let now = utc("2026-11-20T09:00:00Z") + past_the_instant;
        job(cron, missed).due(now - down, now).map_or((0, 0), |due| (due.fire.len(), due.passed_over))
    }

    #[test]
    fn missed_runs_follow_the_policy_of_the_job() {
        use MissedRuns::{All, Once, Skip};
        let (minute, three_hours, three_days) = (TimeDelta::seconds(61), TimeDelta::hours(3), TimeDelta::days(3));
        let later = TimeDelta::seconds(90);
        // Every day at 09:00. The process comes back 90 seconds later.
        for (missed, down, expected) in [
            (Skip, minute, (0, 0)),
            (Skip, three_hours, (0, 1)),
            (Skip, three_days, (0, 3)),
            (Once, three_hours, (1, 0)),
            (Once, three_days, (1, 2)),
            (All, three_hours, (1, 0)),
            (All, three_days, (1, 2)),
        ] {
            assert_eq!(after_a_pause("0 9 * * *", missed, down, later), expected, "{missed:?} {down}");
        }
        // Every ten minutes: 18 in three hours. 12 of them are within the deadline of two hours.
        for (missed, down, expected) in [
            (Skip, TimeDelta::minutes(1), (0, 0)),
            (Skip, three_hours, (0, 18)),
            (Once, three_hours, (1, 17)),
            (All, three_hours, (12, 6)),
            (All, three_days, (12, 420)),
        ] {
            assert_eq!(after_a_pause("*/10 * * * *", missed, down, later), expected, "{missed:?} {down}");
        }
    }

    #[test]
    fn what_is_in_time_fires_under_every_policy() {
        for missed in [MissedRuns::Skip, MissedRuns::Once, MissedRuns::All] {
            for late in [0, 1, 60] {
                let fired = after_a_pause("0 9 * * *", missed, TimeDelta::minutes(5), TimeDelta::seconds(late));
                assert_eq!(fired, (1, 0), "{missed:?} {late} s late");
            }
        }
        assert_eq!(after_a_pause("0 9 * * *", MissedRuns::Skip, TimeDelta::minutes(5), TimeDelta::seconds(61)), (0, 1));
    }

    #[test]
    fn nothing_older_than_its_deadline_is_made_up_for() {
        let past = |minutes| after_a_pause("0 9 * * *", MissedRuns::Once, TimeDelta::days(3), TimeDelta::minutes(minutes));
        assert_eq!(past(120), (1, 2));
        assert_eq!(past(121), (0, 3));
        let impatient = Job { deadline: Duration::ZERO, ..job("0 9 * * *", MissedRuns::All) };
        let nine = utc("2026-11-20T09:00:00Z");
        assert_eq!(
            impatient.due(nine - TimeDelta::hours(1), nine).expect("it has come").fire,
            [nine],
            "the deadline is for what was missed"
        );
    }

    #[test]
    fn a_long_pause_never_ends_in_a_burst() {
        for cron in ["* * * * *", "* * * * * *", "*/10 * * * * *"] {
            for missed in [MissedRuns::Skip, MissedRuns::Once] {
                let (fired, passed_over) = after_a_pause(cron, missed, TimeDelta::days(3), TimeDelta::zero());
                assert!(fired == 1 && passed_over >= 999, "{cron} {missed:?}");
            }
            assert!(after_a_pause(cron, MissedRuns::All, TimeDelta::days(3), TimeDelta::zero()).0 <= MOST_CATCH_UPS, "{cron}");
        }
    }

    #[test]
    fn a_clock_that_went_back_makes_nothing_due() {
        let now = utc("2026-11-20T09:00:00Z");
        assert_eq!(job("* * * * *", MissedRuns::All).due(now, now - TimeDelta::hours(1)), None);
        assert_eq!(job("* * * * *", MissedRuns::All).due(now, now), None);
    }
}
