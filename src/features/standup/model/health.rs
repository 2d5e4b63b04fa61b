//! Measures whether the standup is still useful (STAND-17).

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use kernel::money::Money;

/// The number of recent standups to look at.
const LOOKED_AT: usize = 14;
/// The fewest standups for a statement about a habit.
const ENOUGH: usize = 5;
/// Shares of "nothing to report" outside of this range cause a warning; 30 to 50 % is healthy.
const TOO_LOUD: f64 = 0.1;
const TOO_QUIET: f64 = 0.7;

/// The figures of one standup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandupFigures {
    pub day: NaiveDate,
    /// Reports with content.
    pub reports: u32,
    /// Reports that say "nothing to report".
    pub quiet: u32,
    pub skipped: u32,
    /// Words in all reports with content.
    pub words: u32,
    /// Ratings by people.
    pub useful: u32,
    pub not_useful: u32,
    /// From the call to the report.
    pub seconds: u64,
    pub cost: Money,
}

/// The figures of the last 14 standups. A figure without enough data is None.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct StandupHealth {
    /// The number of standups.
    pub standups: usize,
    /// The share of "nothing to report", 0 to 1.
    pub quiet_share: Option<f64>,
    pub words_per_report: Option<f64>,
    /// The share of useful ones among rated insights, 0 to 1.
    pub useful_share: Option<f64>,
    pub median_minutes: Option<f64>,
    pub cost_per_standup: Money,
    /// What to change, for people.
    pub warning: Option<String>,
}

impl StandupHealth {
    /// The order of the standups does not matter.
    pub fn of(figures: &[StandupFigures]) -> Self {
        let mut newest: Vec<&StandupFigures> = figures.iter().collect();
        newest.sort_by_key(|standup| standup.day);
        let newest = &newest[newest.len().saturating_sub(LOOKED_AT)..];
        let sum = |of: fn(&StandupFigures) -> u32| newest.iter().map(|standup| f64::from(of(standup))).sum::<f64>();
        let (reports, quiet, useful) = (sum(|standup| standup.reports), sum(|standup| standup.quiet), sum(|standup| standup.useful));
        let quiet_share = share(quiet, reports + quiet);
        let count = i64::try_from(newest.len()).unwrap_or(i64::MAX);
        let cost: Money = newest.iter().map(|standup| standup.cost).sum();
        Self {
            standups: newest.len(),
            quiet_share,
            words_per_report: share(sum(|standup| standup.words), reports),
            useful_share: share(useful, useful + sum(|standup| standup.not_useful)),
            median_minutes: median_minutes(newest),
            cost_per_standup: Money(cost.0 / count.max(1)),
            warning: quiet_share.filter(|_| newest.len() >= ENOUGH).and_then(warn),
        }
    }
}

fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

#[expect(clippy::cast_precision_loss, reason = "nobody meets for 2^52 seconds")]
fn median_minutes(standups: &[&StandupFigures]) -> Option<f64> {
    let mut seconds: Vec<u64> = standups.iter().map(|standup| standup.seconds).collect();
    seconds.sort_unstable();
    let (below, above) = (seconds.get(seconds.len().saturating_sub(1) / 2)?, seconds.get(seconds.len() / 2)?);
    Some((below + above) as f64 / 120.0)
}

fn warn(quiet_share: f64) -> Option<String> {
    let percent = format!("{:.0} %", quiet_share * 100.0);
    if quiet_share < TOO_LOUD {
        Some(format!("Only {percent} of the reports are \"nothing to report\". Reports may contain too much detail"))
    } else if quiet_share > TOO_QUIET {
        Some(format!(
            "{percent} of the reports are \"nothing to report\". Hold fewer standups, ask fewer personas, or give them more active feeds"
        ))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn standup(day: u32, reports: u32, quiet: u32) -> StandupFigures {
        let day = NaiveDate::from_yo_opt(2026, day).expect("a day");
        StandupFigures { day, reports, quiet, skipped: 0, words: reports * 40, useful: 0, not_useful: 0, seconds: 60, cost: Money(1000) }
    }

    fn health(reports: u32, quiet: u32, standups: u32) -> StandupHealth {
        StandupHealth::of(&(1..=standups).map(|day| standup(day, reports, quiet)).collect::<Vec<_>>())
    }

    #[test]
    fn no_standup_is_no_figure_and_no_warning() {
        assert_eq!(StandupHealth::of(&[]), StandupHealth::default());
        let skipped = StandupHealth::of(&[standup(1, 0, 0)]);
        assert_eq!((skipped.standups, skipped.quiet_share, skipped.words_per_report, skipped.useful_share), (1, None, None, None));
    }

    #[test]
    fn too_loud_and_too_quiet_are_told_once_there_are_enough_standups() {
        for (reports, quiet, standups, told) in [
            (10, 0, 14, Some("too much detail")),
            (91, 9, 5, Some("Only 9 %")),
            (9, 1, 14, None),
            (6, 4, 14, None),
            (3, 7, 14, None),
            (29, 71, 5, Some("Hold fewer standups")),
            (0, 6, 4, None),
        ] {
            let warning = health(reports, quiet, standups).warning;
            assert_eq!(warning.is_some(), told.is_some(), "{reports} {quiet} {standups}: {warning:?}");
            assert!(told.is_none_or(|told| warning.is_some_and(|warning| warning.contains(told))), "{reports} {quiet}");
        }
    }

    #[test]
    fn only_the_last_fourteen_count_in_whatever_order_they_come() {
        let mut figures: Vec<StandupFigures> = (1..=6).map(|day| standup(day, 10, 0)).collect();
        figures.extend((7..=20).map(|day| standup(day, 1, 3)));
        figures.reverse();
        let health = StandupHealth::of(&figures);
        assert_eq!((health.standups, health.quiet_share, health.words_per_report), (14, Some(0.75), Some(40.0)));
    }

    #[test]
    fn time_is_a_median_and_money_a_mean_and_ratings_a_share() {
        let mut figures: Vec<StandupFigures> = (1..=4).map(|day| standup(day, 4, 2)).collect();
        for (standup, seconds) in figures.iter_mut().zip([600, 60, 120, 180]) {
            standup.seconds = seconds;
        }
        (figures[0].useful, figures[1].not_useful, figures[2].cost) = (3, 1, Money(5000));
        let health = StandupHealth::of(&figures);
        assert_eq!((health.median_minutes, health.cost_per_standup, health.useful_share), (Some(2.5), Money(2000), Some(0.75)));
        assert_eq!(StandupHealth::of(&figures[..1]).median_minutes, Some(10.0));
    }

    proptest! {
        #[test]
        fn shares_are_shares(standups in prop::collection::vec((0..20_u32, 0..20_u32, 0..9_u32, 0..9_u32), 0..30)) {
            let figures: Vec<StandupFigures> = standups.iter().zip(1..).map(|((reports, quiet, useful, not_useful), day)| {
                StandupFigures { useful: *useful, not_useful: *not_useful, ..standup(day, *reports, *quiet) }
            }).collect();
            let health = StandupHealth::of(&figures);
            for share in [health.quiet_share, health.useful_share].into_iter().flatten() {
                prop_assert!((0.0..=1.0).contains(&share));
            }
            prop_assert_eq!(health.standups, figures.len().min(14));
        }
    }
}
