use chrono::{DateTime, TimeDelta, Utc};

use crate::features::standup::model::matter::{Consequence, list_matters};
use crate::features::standup::model::prediction::Prediction;
use crate::features::standup::model::report::ValueChange;
use crate::features::standup::turns::{ReportAsked, figures};
use kernel::agent::offline::wording::{count, foreign};
use kernel::persona::roster::Roster;

/// The most values reported, the most important first.
const VALUES: usize = 4;
/// The most lines about actions.
const ACTIONS: usize = 4;

/// Compares the last Day Report with today: values, actions, and whether the calls are on track (STAND-8). Empty without changes.
pub(super) fn tell(asked: &ReportAsked<'_>, roster: &Roster, now: DateTime<Utc>) -> Vec<String> {
    let Some(last) = asked.last_report else { return vec!["First report, so nothing to compare with yet.".into()] };
    let mut lines = Vec::new();
    // Values about the team's own work are left to the report on their feed.
    let matters = list_matters(asked.page).into_iter().filter(|matter| matter.consequence < Consequence::Own);
    let moved: Vec<&ValueChange> = matters.filter_map(|matter| matter.change).collect();
    if !moved.is_empty() {
        let values: Vec<_> = moved.iter().take(VALUES).map(|change| foreign(&figures::step(change), 120)).collect();
        let others = moved.len().saturating_sub(VALUES);
        let others = if others > 0 { format!("; and {others} more") } else { String::new() };
        lines.push(format!("Against the report of {}: {}{others}.", roster.today(now).show(last.written_at), values.join("; ")));
    }
    lines.extend(asked.moved.iter().take(ACTIONS).map(|line| format!("- {}", foreign(line, 160))));
    // Without changes the state of the calls is unchanged too, so they are left out.
    if !lines.is_empty() {
        lines.extend(asked.open_calls.iter().filter_map(|call| on_track(call, asked, roster, now)));
    }
    lines
}

/// The state of a call today. None if its feed has no value, which the feed's line reports.
fn on_track(prediction: &Prediction, asked: &ReportAsked<'_>, roster: &Roster, now: DateTime<Utc>) -> Option<String> {
    let (rule, call) = (&prediction.rule, &prediction.call);
    let value = asked.page.find_value(&rule.feed, &rule.value)?.number;
    let stands = if rule.holds(value) { "which holds".into() } else { format!("{} away", rule.with_unit((rule.threshold - value).abs())) };
    Some(format!(
        "{} called {} ({:.0} %) on {}: {} now, {stands}, {} left.",
        roster.name_of(&call.by),
        figures::answer(call.answer),
        call.confidence * 100.0,
        rule.describe(),
        rule.with_unit(value),
        time_left(prediction.expires_at, now),
    ))
}

fn time_left(expires_at: DateTime<Utc>, now: DateTime<Utc>) -> String {
    let left = (expires_at - now).max(TimeDelta::zero());
    let (days, hours) = (left.num_days(), left.num_hours());
    let whole = |number: i64| usize::try_from(number).unwrap_or_default();
    if days > 0 { count(whole(days), "day") } else { count(whole(hours), "hour") }
}
