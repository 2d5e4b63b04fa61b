use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Owner, Wait, WorkItem, WorkStatus};
use crate::features::standup::model::matter::{Consequence, Matter, count_in_common, find_news, list_matters};
use crate::features::standup::model::page::{PageFeed, PageItem, SharedPage};
use crate::features::standup::turns::ConcludeAsked;
use crate::features::standup::turns::by_rule::causes::{describe, since};
use crate::features::standup::turns::by_rule::news;
use crate::features::standup::turns::by_rule::report::tally;
use kernel::agent::offline::wording::{count, foreign};
use kernel::figure;
use kernel::memory::retrieval::cut;
use kernel::persona::roster::Roster;
use kernel::time::Today;

/// The most names in a line. The rest is counted.
const NAMED: usize = 4;

/// The most characters of a name, and of a feed's description of itself.
const NAME: usize = 60;
const STORY: usize = 140;

/// The most lines (STAND-13).
pub(crate) const LINES: usize = 3;

/// The most characters of a line.
pub(crate) const LINE: usize = 240;

/// A shorter part of a line is left out, because it would say nothing.
const LEAST: usize = 40;

/// The most values in the first line.
const VALUES: usize = 3;

/// The generated TL;DR, at most three lines, the most important first: wrong or unusual values; then blockers, items that wait for people, failed
/// feeds and contradictions; then news. If there is none of these, one line says that all is quiet and names the team's own work.
pub(crate) fn sum_up(asked: &ConcludeAsked<'_>, roster: &Roster, now: DateTime<Utc>) -> Vec<String> {
    let (page, today) = (asked.page, roster.today(now));
    let matters = list_matters(page);
    let tensions = list_names(asked.cross_check.tensions.iter().map(|tension| foreign(&tension.subject, NAME)));
    let failing = list_names(page.feeds.iter().filter(|feed| feed.outcome.is_err()).map(|feed| foreign(&feed.feed, NAME)));
    let troubles = [
        tell_blocked(page),
        wait_for(asked.open, roster, today),
        failing.map(|feeds| format!("No data from {feeds}.")),
        tensions.map(|subjects| format!("Contradictions: {subjects}.")),
    ];
    let troubles: Vec<String> = troubles.into_iter().flatten().collect();
    let troubles = (!troubles.is_empty()).then(|| troubles.join(" "));
    let new = list_new(page).map(|new| format!("New since {}: {new}.", today.show(page.since)));
    let news: Vec<String> = [tell_news(page, roster), new].into_iter().flatten().collect();
    let news = (!news.is_empty()).then(|| news.join(" "));
    let lines: Vec<String> = [tell_values(&matters, today), troubles, news].into_iter().flatten().collect();
    if lines.is_empty() {
        let watched = page.feeds.iter().filter(|feed| !feed.is_own() && feed.find_absence().is_none()).count();
        let own = matters.first().map(|matter| format!(" Of the team's own work: {}.", describe(matter)));
        return vec![tell_quiet(watched, page, today) + &own.unwrap_or_default()];
    }
    lines
}

/// Completes a model's summary with two things that it must not leave out: the worst value in the first line, and news about what the team measures.
/// At most three lines.
pub(crate) fn complete(given: Vec<String>, page: &SharedPage, roster: &Roster, now: DateTime<Utc>) -> Vec<String> {
    let matters = list_matters(page);
    let worst = matters.first().filter(|matter| matter.consequence <= Consequence::Unusual);
    let values =
        worst.filter(|worst| !given.iter().any(|line| names_value(line, worst))).and_then(|_| tell_values(&matters, roster.today(now)));
    let measured = news::list_measured(page);
    let headline = find_news(page, &measured).filter(|(_, item)| count_in_common(&item.text, &measured) > 0);
    let headline = headline.filter(|(_, item)| !given.iter().any(|line| tells(line, &item.text)));
    let news = headline.map(|(feed, item)| tell_headline(feed, item));
    let mut lines: Vec<String> = values.into_iter().chain(given).chain(news).collect();
    while lines.len() > LINES {
        let last = lines.pop().unwrap_or_default();
        let before = lines.pop().unwrap_or_default();
        lines.push(join(&before, &last));
    }
    lines
}

/// Joins two lines. The first one is cut so that the second one stays whole.
fn join(first: &str, second: &str) -> String {
    let room = LINE.saturating_sub(second.chars().count() + 1);
    if room < LEAST { second.to_owned() } else { format!("{} {second}", cut(first, room)) }
}

/// Whether a line contains the value's number and says what it is about. A model may write "4 jobs failed" for `builds failed jobs 4`.
fn names_value(line: &str, matter: &Matter<'_>) -> bool {
    let number = figure::number(matter.value.number);
    let has_number =
        line.split(|c: char| !c.is_alphanumeric() && !".,".contains(c)).any(|word| word.trim_end_matches(['.', ',']) == number);
    has_number && count_in_common(line, &[matter.feed.feed.clone(), matter.value.name.clone()]) > 0
}

/// Whether a line repeats at least half of a headline's words.
fn tells(line: &str, headline: &str) -> bool {
    let words = count_in_common(headline, &[headline.to_owned()]);
    count_in_common(headline, &[line.to_owned()]) * 2 >= words.max(1)
}

/// Says that nothing happened, and which feeds could not be watched.
fn tell_quiet(watched: usize, page: &SharedPage, today: Today) -> String {
    let absent: Vec<String> = page.feeds.iter().filter_map(|feed| Some(foreign(feed.find_absence()?, 120))).collect();
    let absent = if absent.is_empty() { String::new() } else { format!(" Not watched yet: {}.", absent.join("; ")) };
    let quiet = match watched {
        0 => "Nothing to watch yet besides the team itself.".to_owned(),
        _ if page.is_first => format!("All quiet: nothing out of the ordinary in {}.", count(watched, "feed")),
        _ => format!("All quiet: nothing changed in {} since {}.", count(watched, "feed"), today.show(page.since)),
    };
    quiet + &absent
}

/// The wrong and unusual values, or else the value that moved most.
fn tell_values(matters: &[Matter<'_>], today: Today) -> Option<String> {
    let serious: Vec<&Matter<'_>> = matters.iter().filter(|matter| matter.consequence <= Consequence::Unusual).collect();
    if serious.is_empty() {
        let moved = matters.iter().find(|matter| matter.consequence == Consequence::Moved)?;
        return Some(format!("Changed most: {}{}.", describe(moved), since(moved, today)));
    }
    let told: Vec<String> = serious.iter().take(VALUES).map(|matter| describe(matter)).collect();
    let others = serious.len().saturating_sub(VALUES);
    let others = if others > 0 { format!("; and {others} more") } else { String::new() };
    Some(format!("{}{others}.", told.join("; ")))
}

/// The blockers of people, in their words: "Blocked: Ann (waiting for the key)."
fn tell_blocked(page: &SharedPage) -> Option<String> {
    let blocked = page
        .people
        .iter()
        .filter_map(|said| Some(format!("{} ({})", foreign(&said.name, 32), foreign(said.find_blocker()?.trim_end_matches('.'), 80))));
    let blocked: Vec<String> = blocked.take(NAMED).collect();
    (!blocked.is_empty()).then(|| format!("Blocked: {}.", blocked.join(", ")))
}

/// "Waiting for people: "Call the provider" (Ann, since Fri 09:00) and 2 more."
fn wait_for(open: &[WorkItem], roster: &Roster, today: Today) -> Option<String> {
    let mut waiting: Vec<&WorkItem> =
        open.iter().filter(|item| item.status == WorkStatus::Waiting && item.wait.as_ref().is_none_or(Wait::is_for_people)).collect();
    waiting.sort_by_key(|item| item.updated_at);
    let first = waiting.first()?;
    let owner = match first.find_helper().unwrap_or(&first.owner) {
        Owner::Persona(slug) => roster.name_of(slug).to_owned(),
        Owner::Person { name, .. } => name.clone(),
    };
    let others = if waiting.len() > 1 { format!(" and {} more", waiting.len() - 1) } else { String::new() };
    Some(format!(
        "Waiting for people: \"{}\" ({}, since {}){others}.",
        foreign(&first.what, 80),
        foreign(&owner, 40),
        today.show(first.updated_at)
    ))
}

/// The headline that fits the team's subjects best.
fn tell_news(page: &SharedPage, roster: &Roster) -> Option<String> {
    let watched = news::list_watched(page, roster);
    find_news(page, &watched).map(|(feed, item)| tell_headline(feed, item))
}

fn tell_headline(feed: &PageFeed, item: &PageItem) -> String {
    format!("In the news: \"{}\" ({}).", foreign(&item.text, 120), foreign(&feed.feed, 60))
}

/// "repository 14 commits, notes 3 files", without news and the team's own work.
fn list_new(page: &SharedPage) -> Option<String> {
    let watching = page.feeds.iter().filter(|feed| !feed.is_own() && !feed.is_news());
    let readings = watching.filter_map(|feed| Some((feed, feed.reading()?)));
    list_names(readings.filter_map(|(feed, reading)| {
        let number = tally(reading)?;
        let told = reading.story.first().map_or(number, |story| foreign(story.trim_end_matches('.'), STORY));
        Some(format!("{} {told}", foreign(&feed.feed, NAME)))
    }))
}

/// The first names and the number of others. None if empty.
fn list_names(names: impl Iterator<Item = String>) -> Option<String> {
    let names: Vec<String> = names.collect();
    let others = names.len().saturating_sub(NAMED);
    let others = if others > 0 { format!(" and {others} more") } else { String::new() };
    (!names.is_empty()).then(|| format!("{}{others}", names[..names.len().min(NAMED)].join(", ")))
}
