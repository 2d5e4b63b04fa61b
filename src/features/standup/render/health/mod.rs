//! The standup's health as text and picture (STAND-17).

mod chart;

use crate::features::standup::model::health::StandupHealth;
use kernel::figure;

use crate::features::standup::render::labels;

pub use chart::draw_health;

/// The message with the picture. Figures without data are left out.
pub fn render_health(health: &StandupHealth) -> String {
    if health.standups == 0 {
        return "Health of the standup: no standups yet.".to_owned();
    }
    let mut lines = vec![format!("**Health of the standup**, last {}", labels::count(health.standups, "standup"))];
    if let Some(warning) = &health.warning {
        lines.push(format!("Warning: {warning}"));
    }
    let figures = [
        ("\"Nothing to report\"", health.quiet_share.map(|share| format!("{} of reports (30–50 % is healthy)", labels::percent(share)))),
        ("Words per report", health.words_per_report.map(|words| format!("{words:.0}"))),
        ("Insights rated useful", health.useful_share.map(labels::percent)),
        ("Median time", health.median_minutes.map(|minutes| format!("{} min", figure::number((minutes * 10.0).round() / 10.0)))),
        ("Cost per standup", Some(health.cost_per_standup.to_string())),
    ];
    lines.extend(figures.into_iter().filter_map(|(label, figure)| Some(format!("- {label}: {}", figure?))));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::standup::model::health::StandupFigures;
    use kernel::money::Money;

    fn standups(count: u32, quiet: u32, useful: u32) -> Vec<StandupFigures> {
        let first = chrono::NaiveDate::from_ymd_opt(2026, 11, 1).unwrap();
        let days = first.iter_days().take(count as usize);
        let cost = Money(21_300);
        days.map(|day| StandupFigures { day, reports: 6 - quiet, quiet, skipped: 0, words: 250, useful, not_useful: 1, seconds: 134, cost })
            .collect()
    }

    #[test]
    fn a_healthy_standup_is_told_in_figures() {
        insta::assert_snapshot!(render_health(&StandupHealth::of(&standups(14, 2, 3))));
    }

    #[test]
    fn what_is_unhealthy_is_told_first() {
        for quiet in [0, 6] {
            let text = render_health(&StandupHealth::of(&standups(14, quiet, 3)));
            assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("Warning: ")), "{text}");
        }
        assert!(!render_health(&StandupHealth::of(&standups(4, 0, 3))).contains("Warning"));
    }

    #[test]
    fn figures_that_nothing_is_known_of_are_left_out() {
        assert_eq!(render_health(&StandupHealth::of(&[])), "Health of the standup: no standups yet.");
        let text = render_health(&StandupHealth::of(&standups(1, 6, 0)));
        assert!(text.contains("last 1 standup\n") && !text.contains("Words per report"), "{text}");
    }
}
