//! Answers "What did we spend?" from the ledger.

use chrono::TimeDelta;

use crate::agent::AnswerVerdict;
use crate::agent::offline::wording::{failure, foreign};
use crate::agent::offline::{Draft, OfflineQuestion, team};
use crate::feeds::{FeedItem, FeedQuery, Reading};
use crate::money::Money;
use crate::when::TimeRange;

/// Reports the costs of the range, by default of today and of the last seven days.
pub(super) async fn tell(asked: &OfflineQuestion<'_>, range: Option<&TimeRange>) -> Draft {
    let Some(ledger) = asked.feeds.iter().find(|feed| feed.kind() == "ledger") else {
        return team::no_ledger(asked);
    };
    let today = asked.today().midnight();
    let week = asked.now - TimeDelta::days(7);
    let stretches = match range {
        Some(range) => vec![(range.label.clone(), range.since, range.until)],
        None => vec![("today".to_owned(), today, asked.now), ("the last 7 days".to_owned(), week, asked.now)],
    };
    let mut draft = Draft::empty();
    for (label, since, until) in stretches {
        match ledger.read(&FeedQuery { now: asked.now, since, until, limit: 1000 }).await {
            Ok(reading) => {
                draft.lines.extend(sums(&label, &reading));
                draft.verdict = AnswerVerdict::Answers;
                draft.sources.push(format!("{}, since {}", reading.source, asked.today().show(since)));
            }
            Err(error) => {
                draft.line(failure(ledger.name(), &error, asked.today()));
                break;
            }
        }
    }
    draft
}

fn sums(label: &str, reading: &Reading) -> Vec<String> {
    let of = |what: &str| reading.items.iter().filter(|item| item.what == what).collect::<Vec<&FeedItem>>();
    let days = of("day");
    let calls = total(&days, "calls");
    if calls < 1.0 {
        return vec![format!("**{label}**: $0.00, no model call `[ledger]`")];
    }
    let plural = if calls > 1.0 { "s" } else { "" };
    let (cost, tokens) = (money(total(&days, "cost")), total(&days, "tokens"));
    let mut lines = vec![format!("**{label}**: {cost} for {calls} model call{plural}, {tokens} tokens `[ledger]`")];
    for group in ["persona", "model"] {
        let parts = of(group).into_iter().take(8).map(|item| format!("{} {}", foreign(&item.text, 60), money(item.value("cost"))));
        lines.push(format!("- by {group}: {}", parts.collect::<Vec<_>>().join(", ")));
    }
    lines
}

fn total(items: &[&FeedItem], value: &str) -> f64 {
    items.iter().map(|item| item.value(value)).sum()
}

/// Converts a sum of fractions back to the ledger's unit, rounded.
fn money(dollars: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "sums of the ledger are far below 9e12 dollars")]
    Money((dollars * 1e6).round() as i64).to_string()
}
