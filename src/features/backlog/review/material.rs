//! What a grader is shown: the item and its criteria, what code found, the whole files, and what they rest on.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use crate::features::backlog::model::{Evidence, JournalEntry, Owner, WorkItem};
use crate::features::backlog::prompts::work_review as template;
use crate::features::backlog::render::{changed_tests, total};
use crate::features::backlog::verifier::without_unsupported;
use kernel::agent::Prompt;
use kernel::agent::context::{Cleaner, flat_name};
use kernel::agent::prompt::{Block, render_system};
use kernel::memory::retrieval::cut;
use kernel::persona::Persona;
use kernel::persona::roster::Roster;
use kernel::time::show_time;
use kernel::tools::{CallStatus, Trace};

/// Prompt limits: bytes of all files together, bytes of one source, the number of sources, and the number of parts.
pub(super) const FILES: usize = 48_000;
const SOURCE: usize = 1500;
const SOURCES: usize = 8;
const PARTS: usize = 60;

/// What is to be judged.
#[derive(Clone, Copy)]
pub struct ForReview<'a> {
    pub item: &'a WorkItem,
    /// What code has found.
    pub evidence: &'a [Evidence],
    /// Of the run that made it.
    pub journal: &'a [JournalEntry],
    /// The items that it consists of, all over. Empty for an item that was carried out itself.
    pub parts: &'a [WorkItem],
    /// What its author says that nobody on the team can do.
    pub blocked: Option<&'a str>,
}

/// The material for a grader.
pub(super) struct Shown<'a> {
    pub(super) of: ForReview<'a>,
    pub(super) criteria: &'a [String],
    /// Path and text.
    pub(super) files: &'a [(String, String)],
    /// Why the last verdict did not count.
    pub(super) fault: Option<&'a str>,
    /// The team's zone.
    pub(super) zone: Tz,
}

/// Whether a file does not go into the prompt whole.
pub(super) fn is_cut(files: &[(String, String)]) -> bool {
    files.iter().any(|(_, text)| text.len() > share(files))
}

fn share(files: &[(String, String)]) -> usize {
    FILES / files.len().max(1)
}

impl Shown<'_> {
    /// Renders the prompt. Pure.
    pub(super) fn prompt(&self, team: &str, roster: &Roster, grader: &Persona, marker: &str, now: DateTime<Utc>) -> Prompt {
        let author = match (&self.of.item.persona, &self.of.item.owner) {
            (Some(slug), _) | (None, Owner::Persona(slug)) => roster.name_of(slug),
            (None, Owner::Person { name, .. }) => name,
        };
        let message = template::render_review(&template::Review {
            marker,
            now: roster.today(now).spell(),
            author: flat_name(author),
            parts: self.of.parts.len(),
            criteria: self.criteria.len(),
            cut: is_cut(self.files),
            fault: self.fault.unwrap_or_default(),
            blocks: &self.blocks(Cleaner { marker }),
        });
        Prompt { system: render_system(team, roster, grader), message, holds_outside: true, remarks: Vec::new() }
    }

    /// The texts that a passage may be quoted from.
    pub(super) fn quotable(&self) -> Vec<String> {
        let evidence = self.of.evidence.iter().chain(self.of.parts.iter().flat_map(|part| &part.evidence));
        let findings = evidence.flat_map(|found| match found {
            // The words of another grader or of the author prove nothing.
            Evidence::Review { .. } | Evidence::Criterion { .. } => Vec::new(),
            Evidence::Answer { text, .. } => vec![text.clone(), describe(found, self.zone)],
            _ => vec![describe(found, self.zone)],
        });
        self.files.iter().map(|(_, text)| without_unsupported(text)).chain(findings).collect()
    }

    /// Everything goes into data blocks, because models and pages may have written any part of it.
    pub(super) fn blocks(&self, cleaner: Cleaner<'_>) -> Vec<Block> {
        let item = self.of.item;
        let asked = [("what", &item.what), ("how", &item.how), ("why", &item.why)];
        let asked =
            asked.iter().filter(|(_, words)| !words.is_empty()).map(|(name, words)| format!("{name}: {}", cleaner.line(words, 1000)));
        let criteria = self.criteria.iter().enumerate();
        let mut blocks = vec![
            block("what was asked for", asked),
            block("its criteria", criteria.map(|(index, words)| format!("{}. {}", index + 1, cleaner.line(words, 400)))),
        ];
        if !self.of.evidence.is_empty() {
            blocks.push(block(
                "what code found",
                self.of.evidence.iter().map(|found| format!("- {}", cleaner.line(&describe(found, self.zone), 400))),
            ));
        }
        let blocked = self.of.blocked.map(|blocked| cleaner.line(blocked, 400));
        blocks.extend(blocked.map(|text| Block { label: "what nobody on the team can do, as its author says".into(), text }));
        for part in self.of.parts.iter().take(PARTS) {
            blocks.push(part_block(part, cleaner, self.zone));
        }
        let answers = self.of.evidence.iter().filter_map(|found| match found {
            Evidence::Answer { by, text, .. } => Some((by, text)),
            _ => None,
        });
        blocks.extend(answers.map(|(by, text)| Block { label: format!("reply of {}", label(by)), text: cleaner.text(text, FILES) }));
        for (path, text) in self.files {
            blocks.push(Block { label: format!("file {}", label(path)), text: cleaner.text(text, share(self.files)) });
        }
        blocks.extend(sources(&self.of).take(SOURCES).map(|(name, text)| Block { label: name, text: cleaner.text(text, SOURCE) }));
        blocks
    }
}

/// A part: its title, its outcome, and what code found about it.
fn part_block(part: &WorkItem, cleaner: Cleaner<'_>, zone: Tz) -> Block {
    let outcome = part.outcome.as_deref().unwrap_or("nothing was noted");
    let lines = [format!("what: {}", cleaner.line(&part.what, 300)), format!("came of it: {}", cleaner.line(outcome, 600))];
    let found = part.evidence.iter().map(|found| format!("- {}", cleaner.line(&describe(found, zone), 400)));
    block(&format!("part {}, {}", part.short_id(), part.status.as_str()), lines.into_iter().chain(found))
}

fn block(label: &str, lines: impl Iterator<Item = String>) -> Block {
    Block { label: label.into(), text: lines.collect::<Vec<_>>().join("\n") }
}

/// Text from outside that the run used: cited pages, and all data of feeds and repositories.
fn sources<'a>(shown: &ForReview<'a>) -> impl Iterator<Item = (String, &'a str)> {
    let cited: HashSet<&str> = shown
        .evidence
        .iter()
        .filter_map(|found| match found {
            Evidence::Link { sha256, .. } => Some(sha256.as_str()),
            _ => None,
        })
        .collect();
    shown.journal.iter().filter_map(move |entry| match entry {
        JournalEntry::Returned { status: CallStatus::Ok, outside: true, text, trace, .. } => match trace {
            Some(Trace::Fetched { url, sha256, .. }) => {
                cited.contains(sha256.as_str()).then(|| (format!("beginning of the page {}", label(url)), text.as_str()))
            }
            Some(Trace::Found { .. }) => None,
            _ => Some(("beginning of what a tool gave".to_owned(), text.as_str())),
        },
        _ => None,
    })
}

/// A path or an address that is safe in a label.
fn label(name: &str) -> String {
    cut(&kernel::text::without_invisible(name).replace(['<', '>', '|', '\n'], " "), 160)
}

fn describe(evidence: &Evidence, zone: Tz) -> String {
    match evidence {
        Evidence::File { path, bytes, form, .. } => format!("the file {path}: {form}; {bytes} bytes"),
        Evidence::Branch { repository, branch, diffstat, tests, .. } => {
            format!("the branch {branch} of the repository {repository}, whose patch is below: {}{}", total(diffstat), changed_tests(tests))
        }
        Evidence::Link { url, at, .. } => format!("the page {url} was fetched at {}", show_time(*at, zone)),
        Evidence::Uncited { path, pages } => format!(
            "the file {path} cited pages that were never read; the citations were taken out, and what rested on them alone is marked (no source): {}",
            pages.join(", ")
        ),
        Evidence::Delivered { at, .. } => format!("a message was delivered at {}", show_time(*at, zone)),
        Evidence::Answer { by, text, .. } => format!("{by} answered: {text}"),
        Evidence::Test { command, exit_code, .. } => format!("the test command \"{command}\" ended with {exit_code}"),
        Evidence::Value { feed, name, value, unit, .. } => format!("the feed {feed} gave {name} {value} {unit}"),
        Evidence::Reading { feed, at } => format!("the feed {feed} gave data at {}", show_time(*at, zone)),
        Evidence::NotMet { feed, name, value, unit, .. } => format!("the feed {feed} still gave {name} {value} {unit} at the end"),
        Evidence::Review { note, .. } => format!("it was judged before: {note}"),
        Evidence::Criterion { criterion, shown, .. } => format!("{criterion}: {shown}"),
    }
}
