//! What a grader is shown: the item and its criteria, what code found, the whole files, and what they rest on.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use crate::features::backlog::model::{Evidence, JournalEntry, Owner, WorkItem};
use crate::features::backlog::prompts::work_review as template;
use crate::features::backlog::render::{changed_tests, total};
use crate::features::backlog::review::verdict::Quotable;
use crate::features::backlog::verifier::without_unsupported;
use kernel::agent::Prompt;
use kernel::agent::budget::{Part, Rank, fit, is_shortened};
use kernel::agent::context::{Cleaner, flat_name};
use kernel::agent::prompt::{Block, PromptKind, render_system};
use kernel::memory::retrieval::cut;
use kernel::persona::Persona;
use kernel::persona::roster::Roster;
use kernel::time::show_time;
use kernel::tools::{CallStatus, Trace};

/// Limits of the pages that the result cites: bytes of one, and their number.
const SOURCE: usize = 1500;
const SOURCES: usize = 8;
/// Room for the template with its instructions, in tokens.
const INSTRUCTIONS: usize = 2000;

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
    /// Why the result before this one was not accepted, in the words of who judged it.
    pub rejected: Option<&'a str>,
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
    /// The tokens that the prompt may have.
    pub(super) tokens: usize,
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
            cut: self.is_cut(),
            again: self.of.rejected.is_some(),
            fault: self.fault.unwrap_or_default(),
            blocks: &self.blocks(Cleaner { marker }),
        });
        Prompt { system: render_system(team, roster, grader, PromptKind::Judgement), message, holds_outside: true, remarks: Vec::new() }
    }

    /// What may show that a criterion is met.
    pub(super) fn quotable(&self) -> Quotable {
        let evidence = || self.of.evidence.iter().chain(self.of.parts.iter().flat_map(|part| &part.evidence));
        let counts = evidence().filter_map(|found| match found {
            Evidence::File { bytes, form, .. } => Some(format!("{form}, {bytes} bytes")),
            _ => None,
        });
        let findings = evidence().flat_map(|found| match found {
            // The words of another grader or of the author prove nothing.
            Evidence::Review { .. } | Evidence::Criterion { .. } => Vec::new(),
            Evidence::Answer { text, .. } => vec![text.clone(), describe(found, self.zone)],
            _ => vec![describe(found, self.zone)],
        });
        let texts = self.files.iter().map(|(_, text)| without_unsupported(text)).chain(findings);
        Quotable { texts: texts.collect(), counts: counts.collect() }
    }

    /// Whether something does not go into the prompt whole, so that tools have to read it.
    pub(super) fn is_cut(&self) -> bool {
        self.blocks(Cleaner { marker: "…" }).iter().any(is_shortened)
    }

    /// Everything goes into data blocks, because models and pages may have written any part of it.
    pub(super) fn blocks(&self, cleaner: Cleaner<'_>) -> Vec<Block> {
        fit(self.parts(cleaner), self.tokens.saturating_sub(INSTRUCTIONS))
    }

    fn parts(&self, cleaner: Cleaner<'_>) -> Vec<Part> {
        let item = self.of.item;
        let criteria = (1..).zip(self.criteria).map(|(number, words)| format!("{number}. {}", cleaner.line(words, usize::MAX)));
        let mut parts =
            vec![Part::new(Rank::Task, "what was asked for", cleaner.whole(&item.describe_request())).read_by(item.read_call())];
        parts.extend(Part::of_lines(Rank::Task, "its criteria", criteria));
        let rejected = self.of.rejected.map(|why| cleaner.whole(why));
        parts.extend(rejected.map(|why| Part::new(Rank::SentBack, "why the last result was not accepted", why)));
        if !item.background.is_empty() {
            let background = cleaner.whole(&item.background);
            parts.push(Part::new(Rank::Task, "said before it, and noted with it", background).read_by(item.read_call()));
        }
        let found = self.of.evidence.iter().map(|found| format!("- {}", cleaner.line(&describe(found, self.zone), 400)));
        parts.extend(Part::of_lines(Rank::BuiltOn, "what code found", found));
        let blocked = self.of.blocked.map(|blocked| cleaner.line(blocked, 400));
        parts.extend(blocked.map(|text| Part::new(Rank::Task, "what nobody on the team can do, as its author says", text)));
        parts.extend(self.of.parts.iter().map(|part| shown_part(part, cleaner, self.zone)));
        let answers = self.of.evidence.iter().filter_map(Evidence::answer);
        parts.extend(answers.map(|(by, text)| Part::new(Rank::BuiltOn, format!("reply of {}", label(by)), cleaner.whole(text))));
        parts.extend(self.files.iter().map(|(path, text)| {
            let text = cleaner.text(text, usize::MAX);
            Part::new(Rank::BuiltOn, format!("file {}", label(path)), text).read_by(format!("`workspace_read` with `{}`", label(path)))
        }));
        let sources = sources(&self.of).take(SOURCES);
        parts.extend(sources.map(|(name, text)| Part::new(Rank::Said, name, cleaner.text(text, SOURCE))));
        parts
    }
}

/// A part: its title, its outcome, and what code found about it.
fn shown_part(part: &WorkItem, cleaner: Cleaner<'_>, zone: Tz) -> Part {
    let outcome = part.outcome.as_deref().unwrap_or("nothing was noted");
    let lines = [format!("what: {}", cleaner.whole(&part.what)), format!("came of it: {}", cleaner.whole(outcome))];
    let found = part.evidence.iter().map(|found| format!("- {}", cleaner.line(&describe(found, zone), 400)));
    let label = format!("part {}, {}", part.short_id(), part.status.as_str());
    Part::new(Rank::BuiltOn, label, lines.into_iter().chain(found).collect::<Vec<_>>().join("\n"))
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
        Evidence::NotHeld { .. } => evidence.describe_not_held().unwrap_or_default(),
        Evidence::Value { feed, name, value, unit, .. } => format!("the feed {feed} gave {name} {value} {unit}"),
        Evidence::Reading { feed, at } => format!("the feed {feed} gave data at {}", show_time(*at, zone)),
        Evidence::NotMet { feed, name, value, unit, .. } => format!("the feed {feed} still gave {name} {value} {unit} at the end"),
        Evidence::Review { note, .. } => format!("it was judged before: {note}"),
        Evidence::Criterion { criterion, shown, .. } => format!("{criterion}: {shown}"),
    }
}
