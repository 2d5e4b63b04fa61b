//! Finds the headlines that concern the team.

use crate::features::standup::model::matter::count_in_common;
use crate::features::standup::model::page::{PageFeed, PageItem, SharedPage};
use kernel::persona::roster::Roster;

/// The subjects of the personas, and the names of measured values and feeds.
pub(super) fn list_watched(page: &SharedPage, roster: &Roster) -> Vec<String> {
    let subjects = roster.personas().iter().flat_map(|persona| persona.expertise.iter().cloned().chain([persona.role.clone()]));
    subjects.chain(list_measured(page)).collect()
}

/// The names of measured values and feeds, without news and the team's own work.
pub(super) fn list_measured(page: &SharedPage) -> Vec<String> {
    let watching = page.feeds.iter().filter(|feed| !feed.is_own() && !feed.is_news());
    let values =
        watching.clone().filter_map(|feed| feed.reading()).flat_map(|reading| reading.values.iter().map(|value| value.name.clone()));
    values.chain(watching.map(|feed| feed.feed.clone())).collect()
}

/// The entries of a news feed that match, the best match first. Empty for other feeds.
pub(super) fn list_matching<'a>(feed: &'a PageFeed, watched: &[String]) -> Vec<&'a PageItem> {
    let items = feed.reading().filter(|_| feed.is_news()).into_iter().flat_map(|reading| &reading.items);
    let mut matching: Vec<(usize, &PageItem)> =
        items.map(|item| (count_in_common(&item.text, watched) + usize::from(feed.is_search()), item)).collect();
    matching.retain(|(in_common, _)| *in_common > 0);
    matching.sort_by_key(|(in_common, item)| std::cmp::Reverse((*in_common, item.at)));
    matching.into_iter().map(|(_, item)| item).collect()
}

/// `, 2 about what the team watches`. Empty for other feeds, and if all entries match or none does.
pub(super) fn count_matching(feed: &PageFeed, watched: &[String]) -> String {
    let Some(reading) = feed.reading().filter(|_| feed.is_news()) else { return String::new() };
    match list_matching(feed, watched).len() {
        // Only words are compared, so the lack of a match proves little.
        some if some == 0 || some == reading.total => String::new(),
        some => format!(", {some} about what the team watches"),
    }
}
