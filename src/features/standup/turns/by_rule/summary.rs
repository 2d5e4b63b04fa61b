use chrono::{DateTime, Utc};

use crate::features::standup::model::page::SharedPage;
use crate::features::standup::model::tension::CrossCheck;
use crate::features::standup::turns::by_rule::delta::most_moved;
use crate::features::standup::turns::by_rule::report::tally;
use crate::features::standup::turns::figures;
use kernel::agent::offline::wording::{count, foreign, moment};

/// The most names in a line. The rest is counted.
const NAMED: usize = 4;

/// The generated TL;DR: the largest changes, or else new items; contradictions; failed feeds; or that all is quiet.
pub(crate) fn sum_up(page: &SharedPage, cross_check: &CrossCheck, now: DateTime<Utc>) -> Vec<String> {
    let changed = most_moved(&page.changes);
    let most = changed.first().map(|change| format!("Changed most: {}.", foreign(&figures::change(change, now), 160)));
    let most = most.or_else(|| list_new(page).map(|news| format!("New since {}: {news}.", moment(page.since, now))));
    let tensions = list_names(cross_check.tensions.iter().map(|tension| tension.subject.as_str()));
    let failing = list_names(page.feeds.iter().filter(|feed| feed.outcome.is_err()).map(|feed| feed.feed.as_str()));
    let tensions = tensions.map(|subjects| format!("Contradictions: {subjects}."));
    let failing = failing.map(|feeds| format!("No data from {feeds}."));
    let lines: Vec<String> = [most, tensions, failing].into_iter().flatten().collect();
    if lines.is_empty() {
        return vec![format!("All quiet: nothing changed in {} since {}.", count(page.feeds.len(), "feed"), moment(page.since, now))];
    }
    lines
}

/// "repository 14 commits, reviews 12 items". On a feed's first day its values cannot be compared, but its items are new.
fn list_new(page: &SharedPage) -> Option<String> {
    let readings = page.feeds.iter().filter_map(|feed| Some((feed, feed.outcome.as_ref().ok()?)));
    let news: Vec<String> = readings.filter_map(|(feed, reading)| Some(format!("{} {}", feed.feed, tally(reading)?))).collect();
    list_names(news.iter().map(String::as_str))
}

/// The first names and the number of others. None if empty.
fn list_names<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let names: Vec<String> = names.map(|name| foreign(name, 60)).collect();
    let others = names.len().saturating_sub(NAMED);
    let others = if others > 0 { format!(" and {others} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("{}{others}", names[..names.len().min(NAMED)].join(", ")))
}
