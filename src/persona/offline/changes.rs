//! "What happened this week?": what the persona's feeds hold for a stretch of time.

use std::collections::HashMap;

use chrono::TimeDelta;

use super::time_phrase::TimeRange;
use super::wording::{count, failure, foreign, moment};
use super::{Draft, OfflineQuestion, team};
use crate::feeds::{FeedItem, FeedQuery, Reading};

/// How many items are shown one by one; the others are counted.
const SHOWN: usize = 10;
/// How many items are read, for counting by author.
const READ: usize = 1000;

/// Reports what each feed holds for `range`, by default the last seven days.
pub(crate) async fn tell(asked: &OfflineQuestion<'_>, range: Option<&TimeRange>) -> Draft {
    if asked.feeds.is_empty() {
        return team::no_feeds(asked);
    }
    let usual = TimeRange { since: asked.now - TimeDelta::days(7), until: asked.now, label: "last 7 days".into() };
    let range = range.unwrap_or(&usual);
    let query = FeedQuery { now: asked.now, since: range.since, until: range.until, limit: READ };
    let readings = futures_util::future::join_all(asked.feeds.iter().map(|feed| feed.read(&query))).await;
    let mut draft = Draft::default();
    for (feed, reading) in asked.feeds.iter().zip(readings) {
        match reading {
            Ok(reading) => {
                draft.text.push_str(&report(&reading, range, asked));
                draft.sources.push(format!("{}, as of {}", reading.source, moment(reading.as_of, asked.now)));
            }
            Err(error) => draft.text.push_str(&failure(feed.name(), &error, asked.now)),
        }
        draft.text.push('\n');
    }
    draft
}

fn report(reading: &Reading, range: &TimeRange, asked: &OfflineQuestion<'_>) -> String {
    let since = moment(range.since, asked.now);
    let as_of = moment(reading.as_of, asked.now);
    let note = reading.note.as_deref().map_or(String::new(), |note| format!(" ({})", foreign(note, 200)));
    let source = foreign(&reading.source, 100);
    if reading.items.is_empty() {
        // Said quietly: nothing to report is a good report (STAND-9).
        return format!("Nothing to report, {}: {source} since {since}, as of {as_of}{note}.\n", range.label);
    }
    let mut text = format!("**{}**, {source}: {}{note}\n", sentence_case(&range.label), tally(reading));
    if let Some(authors) = authors(&reading.items) {
        text.push_str(&format!("By author: {authors}\n"));
    }
    for item in reading.items.iter().take(SHOWN) {
        text.push_str(&line(item, asked));
    }
    let beyond = reading.total.saturating_sub(SHOWN);
    if beyond > 0 {
        text.push_str(&format!("… and {beyond} more since {since}.\n"));
    }
    text
}

fn sentence_case(label: &str) -> String {
    let mut chars = label.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// "23 commits, 1 tag". What lies beyond the items that were read is counted as one sum.
fn tally(reading: &Reading) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for item in &reading.items {
        match counts.iter_mut().find(|(what, _)| *what == item.what) {
            Some((_, count)) => *count += 1,
            None => counts.push((item.what, 1)),
        }
    }
    let mut parts: Vec<String> = counts.iter().map(|(what, number)| count(*number, what)).collect();
    if reading.total > reading.items.len() {
        parts.push(format!("{} older ones not read", reading.total - reading.items.len()));
    }
    parts.join(", ")
}

/// Who did how much, most first; nothing where the feed names nobody or one list says it all.
fn authors(items: &[FeedItem]) -> Option<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for item in items.iter().filter(|item| item.what == "commit") {
        *counts.entry(item.by.as_deref()?).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(a, many), (b, more)| more.cmp(many).then_with(|| a.cmp(b)));
    let shown: Vec<_> = counts.iter().take(6).map(|(author, number)| format!("{} {number}", foreign(author, 40))).collect();
    let others = counts.len().saturating_sub(shown.len());
    let others = if others > 0 { format!(", {others} others") } else { String::new() };
    (!shown.is_empty()).then(|| format!("{}{others}", shown.join(", ")))
}

fn line(item: &FeedItem, asked: &OfflineQuestion<'_>) -> String {
    let what = if matches!(item.what, "commit" | "activity" | "changed file") { String::new() } else { format!("{} ", item.what) };
    let mut details: Vec<String> = Vec::new();
    // The team's own activity names who in its text.
    details.extend(item.by.as_deref().filter(|_| item.what == "commit").map(|by| foreign(by, 40)));
    details.extend(item.at.map(|at| moment(at, asked.now)));
    let files = item.value("files");
    if files > 0.0 {
        details.push(format!("{files} file{} +{} −{}", if files > 1.0 { "s" } else { "" }, item.value("added"), item.value("removed")));
    }
    let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
    format!("- {what}`{}` {}{details}\n", item.reference.replace('`', "'"), foreign(&item.text, 140))
}
