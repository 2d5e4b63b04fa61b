//! What the team's sources say: passages of documents, findings of colleagues, and feeds.

use std::collections::HashSet;

use crate::agent::budget::BYTES_PER_TOKEN;
use crate::agent::context::cleaner::{Cleaner, file_name, flat_name, flat_title};
use crate::agent::prompt::Block;
use crate::feeds::{FeedItem, FeedReport};
use crate::memory::retrieval::{Quote, terms_of};
use crate::persona::Persona;
use crate::persona::file::READ_FEED;
use crate::persona::roster::Roster;

/// Maximum length of a finding, and of where it comes from.
const FINDING: usize = 700;
/// Longer items of a feed are cut.
const ITEM: usize = 300;

/// Passages of documents with their places, the best ones that fit into `tokens`.
pub fn passage_blocks(passages: &[Quote], tokens: usize, cleaner: Cleaner<'_>) -> Vec<Block> {
    let mut left = tokens * BYTES_PER_TOKEN;
    let mut blocks = Vec::new();
    for passage in passages {
        let text = cleaner.text(&passage.text, usize::MAX);
        let Some(rest) = left.checked_sub(text.len()) else { break };
        left = rest;
        blocks.push(Block { label: format!("part of {}", file_name(&passage.place)), text });
    }
    blocks
}

/// What colleagues have found out, as much as fits into `tokens`.
pub fn finding_block(findings: &[Quote], tokens: usize, cleaner: Cleaner<'_>) -> Option<Block> {
    let mut left = tokens * BYTES_PER_TOKEN;
    let mut lines: Vec<String> = Vec::new();
    for finding in findings {
        let line = format!("- {}: {}", cleaner.line(&flat_title(&finding.place), FINDING), cleaner.line(&finding.text, FINDING));
        let Some(rest) = left.checked_sub(line.len()) else { break };
        left = rest;
        lines.push(line);
    }
    (!lines.is_empty()).then(|| Block { label: "what the team has found out lately".into(), text: lines.join("\n") })
}

/// The feeds that fit a subject, as [`feed_blocks`], and the names of the others. All of them for a persona that could not read those.
pub fn fitting_feed_blocks(
    feeds: &[FeedReport],
    (persona, subject): (&Persona, &str),
    tokens: usize,
    cleaner: Cleaner<'_>,
    roster: &Roster,
) -> Vec<Block> {
    let subject: HashSet<String> = terms_of(subject).into_iter().collect();
    let fits = |report: &&FeedReport| !persona.can(READ_FEED) || is_about(report, &subject);
    let (fitting, others): (Vec<&FeedReport>, Vec<&FeedReport>) = feeds.iter().filter(|report| has_material(report)).partition(fits);
    let names: Vec<String> = others.iter().map(|report| flat_name(&report.feed)).collect();
    let rest =
        (!names.is_empty()).then(|| Block { label: "other feeds".into(), text: format!("{}: `read_feed` reads them", names.join(", ")) });
    blocks_of(&fitting, tokens, cleaner, roster).into_iter().chain(rest).collect()
}

/// As [`fitting_feed_blocks`]. All feeds where none fits, because people ask "what is new?" and in languages that the feeds are not written in.
pub fn talk_feed_blocks(
    feeds: &[FeedReport],
    (persona, subject): (&Persona, &str),
    tokens: usize,
    cleaner: Cleaner<'_>,
    roster: &Roster,
) -> Vec<Block> {
    let terms: HashSet<String> = terms_of(subject).into_iter().collect();
    if feeds.iter().filter(|report| has_material(report)).any(|report| is_about(report, &terms)) {
        fitting_feed_blocks(feeds, (persona, subject), tokens, cleaner, roster)
    } else {
        feed_blocks(feeds, tokens, cleaner, roster)
    }
}

/// Whether a feed's name or source says what the subject is, or something that it tells shares two words with it.
fn is_about(report: &FeedReport, subject: &HashSet<String>) -> bool {
    let shares = |text: &str, least: usize| terms_of(text).into_iter().collect::<HashSet<_>>().intersection(subject).count() >= least;
    let Ok(reading) = &report.outcome else { return shares(&report.feed, 1) };
    let values = reading.values.iter().map(|value| value.name.as_ref()).collect::<Vec<_>>().join(" ");
    let items = reading.items.iter().map(|item| item.text.as_str());
    let mut told = reading.story.iter().map(String::as_str).chain([&*values]).chain(items);
    shares(&format!("{} {}", report.feed, reading.source), 1) || told.any(|text| shares(text, 2))
}

fn has_material(report: &FeedReport) -> bool {
    report.outcome.as_ref().map_or(true, |reading| reading.find_absence().is_none())
}

/// Each feed with its newest items, in equal shares of `tokens`. A failed feed is included with the reason. One without any material yet is left out.
pub fn feed_blocks(feeds: &[FeedReport], tokens: usize, cleaner: Cleaner<'_>, roster: &Roster) -> Vec<Block> {
    blocks_of(&feeds.iter().filter(|report| has_material(report)).collect::<Vec<_>>(), tokens, cleaner, roster)
}

fn blocks_of(feeds: &[&FeedReport], tokens: usize, cleaner: Cleaner<'_>, roster: &Roster) -> Vec<Block> {
    let share = tokens * BYTES_PER_TOKEN / feeds.len().max(1);
    let block = |report: &&FeedReport| {
        let name = flat_name(&report.feed);
        match &report.outcome {
            Err(error) => Block { label: format!("feed {name}, failing"), text: cleaner.line(&error.describe(roster.zone()), 300) },
            Ok(reading) => {
                let mut lines: Vec<String> = reading.note.iter().map(|note| cleaner.line(note, 300)).collect();
                lines.extend(reading.story.iter().map(|line| cleaner.line(line, 300)));
                if reading.total > 0 || lines.is_empty() {
                    lines.push(format!("items in all: {}", reading.total));
                }
                let mut left = share;
                for (shown, item) in reading.items.iter().enumerate() {
                    let line = item_line(item, cleaner, roster);
                    if line.len() > left {
                        lines.push(format!("({} older ones left out)", reading.total.saturating_sub(shown)));
                        break;
                    }
                    left -= line.len();
                    lines.push(line);
                }
                Block {
                    label: format!("feed {name}, {}, as of {}", file_name(&reading.source), roster.show_time(reading.as_of)),
                    text: lines.join("\n"),
                }
            }
        }
    };
    feeds.iter().map(block).collect()
}

fn item_line(item: &FeedItem, cleaner: Cleaner<'_>, roster: &Roster) -> String {
    let at = item.at.map_or(String::new(), |at| format!("{}, ", roster.show_time(at)));
    // Not twice: a feed may name an item by its kind, and begin its text with who did it.
    let by = item.by.as_deref().filter(|by| !item.text.starts_with(*by)).map_or(String::new(), |by| format!(", {}", flat_name(by)));
    let reference = if item.reference == item.what { String::new() } else { format!(" {}", cleaner.line(&item.reference, 60)) };
    let fact = format!("- {at}{}{reference}{by}: {}", item.what, cleaner.line(&item.text, ITEM));
    let values = item.values.iter().map(ToString::to_string);
    std::iter::once(fact).chain(values).collect::<Vec<_>>().join(", ")
}
