use chrono::{DateTime, Utc};

use super::delta::most_moved;
use crate::domain::page::{PageFeed, SharedPage};
use crate::domain::tension::{CrossCheck, Tension};
use crate::persona::offline::wording::{count, foreign, moment};
use crate::persona::standup::figures;

/// How many names a line lists before it counts the others.
const NAMED: usize = 4;

/// The TL;DR by rule: what changed most, what does not fit together, which feeds failed; or that all is quiet.
pub(crate) fn sum_up(page: &SharedPage, cross_check: &CrossCheck, now: DateTime<Utc>) -> Vec<String> {
    let changed = most_moved(&page.changes);
    let most = changed.first().map(|change| format!("Changed most: {}.", foreign(&figures::change(change, now), 160)));
    let tensions = listed("tension", cross_check.tensions.iter().map(|tension: &Tension| tension.subject.as_str()));
    let failing = listed("feed", page.feeds.iter().filter(|feed| feed.outcome.is_err()).map(|feed: &PageFeed| feed.feed.as_str()));
    let lines: Vec<String> =
        [most, tensions.map(|line| format!("{line}.")), failing.map(|line| format!("{line}: no data."))].into_iter().flatten().collect();
    if lines.is_empty() {
        return vec![format!("All quiet: nothing changed in {} since {}.", count(page.feeds.len(), "feed"), moment(page.since, now))];
    }
    lines
}

/// "2 tensions (latency, costs)". None of none.
fn listed<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<String> = names.map(|name| foreign(name, 60)).collect();
    let more = if names.len() > NAMED { ", …" } else { "" };
    (!names.is_empty()).then(|| format!("{} ({}{more})", count(names.len(), what), names[..names.len().min(NAMED)].join(", ")))
}
