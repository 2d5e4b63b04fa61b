//! What the team's sources say: passages of documents, findings of colleagues, and feeds.

use crate::agent::budget::BYTES_PER_TOKEN;
use crate::agent::context::cleaner::{Cleaner, file_name, flat_name, flat_title};
use crate::agent::prompt::Block;
use crate::feeds::{FeedItem, FeedReport};
use crate::memory::retrieval::Quote;
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

/// Each feed with its newest items, in equal shares of `tokens`. A failed feed is included with the reason. One without any material yet is left out.
pub fn feed_blocks(feeds: &[FeedReport], tokens: usize, cleaner: Cleaner<'_>, roster: &Roster) -> Vec<Block> {
    let has_material = |report: &&FeedReport| report.outcome.as_ref().map_or(true, |reading| reading.find_absence().is_none());
    let feeds: Vec<&FeedReport> = feeds.iter().filter(has_material).collect();
    let share = tokens * BYTES_PER_TOKEN / feeds.len().max(1);
    let block = |report: &&FeedReport| {
        let name = flat_name(&report.feed);
        match &report.outcome {
            Err(error) => Block { label: format!("feed {name}, failing"), text: cleaner.line(&error.describe(roster.zone()), 300) },
            Ok(reading) => {
                let mut lines: Vec<String> = reading.note.iter().map(|note| cleaner.line(note, 300)).collect();
                lines.extend(reading.story.iter().map(|line| cleaner.line(line, 300)));
                lines.push(format!("items in all: {}", reading.total));
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
    let by = item.by.as_deref().map_or(String::new(), |by| format!(", {}", flat_name(by)));
    let fact = format!("- {at}{} {}{by}: {}", item.what, cleaner.line(&item.reference, 60), cleaner.line(&item.text, ITEM));
    let values = item.values.iter().map(ToString::to_string);
    std::iter::once(fact).chain(values).collect::<Vec<_>>().join(", ")
}
