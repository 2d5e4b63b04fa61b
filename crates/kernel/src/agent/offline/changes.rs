//! Answers "What happened this week?" from the persona's feeds.

use std::collections::{BTreeSet, HashMap};

use chrono::TimeDelta;

use crate::agent::AnswerVerdict;
use crate::agent::offline::wording::{count, failure, foreign, spell};
use crate::agent::offline::{Draft, OfflineQuestion, team};
use crate::feeds;
use crate::feeds::{Feed, FeedItem, FeedQuery, FeedReport, Reading};
use crate::memory::retrieval::{Query, terms_of};
use crate::text::capital;
use crate::when::TimeRange;

/// The most items listed. The rest is only counted.
const SHOWN: usize = 10;
/// The most items read for counting by author.
const READ: usize = 1000;
/// The age in days of the oldest item that is shown of a feed as a whole.
const SHOWN_DAYS: i64 = 90;

/// Reports each feed's items in `range`, by default the last seven days.
pub(super) async fn tell(asked: &OfflineQuestion<'_>, range: Option<&TimeRange>) -> Draft {
    if asked.feeds.is_empty() {
        return team::no_feeds(asked);
    }
    let usual = TimeRange { since: asked.now - TimeDelta::days(7), until: asked.now, label: "last 7 days".into() };
    let range = range.unwrap_or(&usual);
    let query = FeedQuery { now: asked.now, since: range.since, until: range.until, limit: READ };
    let mut draft = Draft::empty();
    for FeedReport { feed, outcome } in feeds::read_all(asked.feeds, &query).await {
        match outcome {
            Ok(reading) => {
                draft.lines.extend(report(&reading, range, asked));
                draft.verdict = AnswerVerdict::Answers;
                draft.sources.push(format!("{}, as of {}", reading.source, asked.today().show(reading.as_of)));
            }
            Err(error) => draft.line(failure(&feed, &error, asked.today())),
        }
    }
    draft
}

/// The feed that a question is about as a whole: "what is in the backlog?".
pub(super) fn find_named<'a>(asked: &OfflineQuestion<'a>, topic: &Query) -> Option<&'a Feed> {
    let words: BTreeSet<&str> = topic.terms.iter().map(|(term, _)| term.as_str()).collect();
    let is_named = |feed: &&Feed| !words.is_empty() && terms_of(feed.name()).iter().map(String::as_str).collect::<BTreeSet<_>>() == words;
    if asked.is_about_files() { None } else { asked.feeds.iter().find(is_named) }
}

/// Tells what a feed shows now: its values, what stands out, and its newest items.
pub(super) async fn show(asked: &OfflineQuestion<'_>, feed: &Feed) -> Draft {
    let query = FeedQuery { now: asked.now, since: asked.now - TimeDelta::days(SHOWN_DAYS), until: asked.now, limit: SHOWN };
    let reading = match feed.read(&query).await {
        Ok(reading) => reading,
        Err(error) => return Draft::unknown(failure(feed.name(), &error, asked.today())),
    };
    let as_of = asked.today().show(reading.as_of);
    let values: Vec<String> = reading.values.iter().filter(|value| value.number != 0.0).map(spell).collect();
    let is_empty = reading.story.is_empty() && reading.items.is_empty();
    let values = match values.as_slice() {
        [] if is_empty => ": nothing".to_owned(),
        [] => String::new(),
        values => format!(": {}", values.join(", ")),
    };
    let mut draft = Draft::from(format!("**{}**, {as_of}{values}", foreign(&reading.source, 100)));
    draft.lines.extend(reading.story.iter().map(|line| foreign(line, 300)));
    draft.lines.extend(reading.items.iter().take(SHOWN).map(|item| line(item, asked)));
    let beyond = reading.total.saturating_sub(SHOWN);
    if beyond > 0 {
        draft.line(format!("… and {beyond} more."));
    }
    draft.sources.push(format!("{}, as of {as_of}", reading.source));
    draft
}

fn report(reading: &Reading, range: &TimeRange, asked: &OfflineQuestion<'_>) -> Vec<String> {
    let since = asked.today().show(range.since);
    let as_of = asked.today().show(reading.as_of);
    let note = reading.note.as_deref().map_or(String::new(), |note| format!(" ({})", foreign(note, 200)));
    let source = foreign(&reading.source, 100);
    if reading.items.is_empty() {
        // No changes is a normal report, not a warning (STAND-9).
        return vec![format!("Nothing to report, {}: {source} since {since}, as of {as_of}{note}.", range.label)];
    }
    let mut lines = vec![format!("**{}**, {source}{}{note}", capital(&range.label), tally(reading))];
    if reading.items.len() > SHOWN {
        lines.extend(most_active(&reading.items).map(|authors| format!("By author: {authors}")));
    }
    lines.extend(reading.items.iter().take(SHOWN).map(|item| line(item, asked)));
    let beyond = reading.total.saturating_sub(SHOWN);
    if beyond > 0 {
        lines.push(format!("… and {beyond} more since {since}."));
    }
    lines
}

/// ": 23 commits, 1 tag". Items that are sums are not counted. Items beyond the read limit are counted together.
fn tally(reading: &Reading) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for item in reading.items.iter().filter(|item| item.what != "activity") {
        match counts.iter_mut().find(|(what, _)| *what == item.what) {
            Some((_, count)) => *count += 1,
            None => counts.push((&item.what, 1)),
        }
    }
    let authors = |what: &str| match (what, commits_by_author(&reading.items).as_slice()) {
        ("commit", [(author, _)]) => format!(" by {}", foreign(author, 40)),
        ("commit", authors @ [_, _, ..]) => format!(" by {} authors", authors.len()),
        _ => String::new(),
    };
    let mut parts: Vec<String> = counts.iter().map(|(what, number)| format!("{}{}", count(*number, what), authors(what))).collect();
    if reading.total > reading.items.len() {
        parts.push(format!("{} older ones not read", reading.total - reading.items.len()));
    }
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}

/// Authors by number of items, highest first. None if the feed has no authors.
fn most_active(items: &[FeedItem]) -> Option<String> {
    let counts = commits_by_author(items);
    let shown: Vec<_> = counts.iter().take(6).map(|(author, number)| format!("{} {number}", foreign(author, 40))).collect();
    let others = counts.len().saturating_sub(shown.len());
    let others = if others > 0 { format!(", {others} others") } else { String::new() };
    (!shown.is_empty()).then(|| format!("{}{others}", shown.join(", ")))
}

fn commits_by_author(items: &[FeedItem]) -> Vec<(&str, usize)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for author in items.iter().filter(|item| item.what == "commit").filter_map(|item| item.by.as_deref()) {
        *counts.entry(author).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(a, many), (b, more)| more.cmp(many).then_with(|| a.cmp(b)));
    counts
}

fn line(item: &FeedItem, asked: &OfflineQuestion<'_>) -> String {
    let text = foreign(&item.text, 140);
    let at = item.at.map(|at| asked.today().show(at));
    let reference = item.reference.replace('`', "'");
    let (lead, by) = match item.what.as_ref() {
        "activity" => return format!("- {text}{}", at.map_or(String::new(), |at| format!(", last {at}"))),
        "commit" => ("", item.by.as_deref().map(|by| foreign(by, 40))),
        "tag" => ("tag ", None),
        "branch" => ("branch ", None),
        _ => ("", None),
    };
    let files = item.value("files");
    let size = (files > 0.0)
        .then(|| format!("{files} file{} +{} −{}", if files > 1.0 { "s" } else { "" }, item.value("added"), item.value("removed")));
    let details: Vec<String> = [by, at, size].into_iter().flatten().collect();
    let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
    format!("- {lead}`{reference}` {text}{details}")
}
