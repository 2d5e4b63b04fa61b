//! "What did we spend?": the ledger's sums.

use chrono::{NaiveTime, TimeDelta};

use super::time_phrase::TimeRange;
use super::wording::{failure, foreign, moment};
use super::{Draft, OfflineQuestion, team};
use crate::domain::usage::Money;
use crate::feeds::{FeedItem, FeedQuery, Reading};

/// Tells the sums of the asked range, by default those of today and of the last seven days.
pub(crate) async fn tell(asked: &OfflineQuestion<'_>, range: Option<&TimeRange>) -> Draft {
    let Some(ledger) = asked.feeds.iter().find(|feed| feed.kind() == "ledger") else {
        return team::no_ledger(asked);
    };
    let today = asked.now.date_naive().and_time(NaiveTime::MIN).and_utc();
    let week = asked.now - TimeDelta::days(7);
    let stretches = match range {
        Some(range) => vec![(range.label.clone(), range.since, range.until)],
        None => vec![("today".to_owned(), today, asked.now), ("the last 7 days".to_owned(), week, asked.now)],
    };
    let mut draft = Draft::default();
    for (label, since, until) in stretches {
        match ledger.read(&FeedQuery { now: asked.now, since, until, limit: 1000 }).await {
            Ok(reading) => {
                draft.text.push_str(&sums(&label, &reading));
                draft.sources.push(format!("{}, since {}", reading.source, moment(since, asked.now)));
            }
            Err(error) => {
                draft.text.push_str(&failure(ledger.name(), &error, asked.now));
                break;
            }
        }
    }
    draft
}

fn sums(label: &str, reading: &Reading) -> String {
    let of = |what: &str| reading.items.iter().filter(|item| item.what == what).collect::<Vec<&FeedItem>>();
    let days = of("day");
    let calls = total(&days, "calls");
    if calls == 0.0 {
        return format!("**{label}**: $0.00, no model call `[ledger]`\n");
    }
    let mut text = format!(
        "**{label}**: {} for {calls} model call{}, {} tokens `[ledger]`\n",
        money(total(&days, "cost")),
        if calls == 1.0 { "" } else { "s" },
        total(&days, "tokens")
    );
    for group in ["persona", "model"] {
        let lines: Vec<_> = of(group).iter().take(8).map(|item| format!("{} {}", foreign(&item.text, 60), money(item.value("cost")))).collect();
        text.push_str(&format!("- by {group}: {}\n", lines.join(", ")));
    }
    text
}

fn total(items: &[&FeedItem], value: &str) -> f64 {
    items.iter().map(|item| item.value(value)).sum()
}

/// Back to the ledger's own unit, rounded, because sums of fractions are a hair off.
fn money(dollars: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "sums of the ledger are far below 9e12 dollars")]
    Money((dollars * 1e6).round() as i64).to_string()
}
