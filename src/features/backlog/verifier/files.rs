//! Verifies files of the workspace: they exist, were written by the item's runs, have the right format, and cite only fetched pages.

use std::collections::HashSet;

use anyhow::Context;
use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::features::backlog::inputs::{Inputs, list_inputs};
use crate::features::backlog::model::{Claim, Evidence, Execution, JournalEntry, WorkItem};
use crate::features::backlog::verifier::citations::{self, Cleaned};
use crate::features::backlog::verifier::form::read_form;
use crate::features::backlog::verifier::links::{Address, addresses_in, normalise};
use crate::features::backlog::verifier::{Findings, Submitted, VerifierDeps, figures, test};
use kernel::tools::workspace::{MOST_FILE_BYTES, Workspace, is_input};
use kernel::tools::{CallStatus, Trace};

/// Tools that count as sources for research. A search only lists pages, and the workspace contains the run's own files.
const SOURCES: [&str; 7] = ["fetch_page", "git_diff", "git_log", "git_show", "http_get", "read_document", "read_feed"];

pub(super) async fn check(
    deps: &VerifierDeps,
    submitted: &Submitted<'_>,
    found: &mut Findings,
    cancel: &CancellationToken,
) -> anyhow::Result<()> {
    let Submitted { item, product, journal, earlier, .. } = *submitted;
    let workspace = deps.workspaces.open(&item.id).await.context("cannot open the workspace to verify what is in it")?;
    let sources = Sources::of(item, [earlier, journal]);
    let inputs = list_inputs(&deps.store, item).await?;
    let given: HashSet<&str> = inputs.iter().flat_map(|input| &input.files).map(|file| file.facts.sha256.as_str()).collect();
    check_inputs(&workspace, &inputs, found).await;
    let mut copies = 0;
    let built = item.execution == Some(Execution::Build);
    for claim in &product.claims {
        let Claim::File { path } = claim else { continue };
        if is_input(path) {
            found.refuse(format!("the file {path:?} was made by somebody else"));
            continue;
        }
        let bytes = match workspace.read(path, MOST_FILE_BYTES).await {
            Ok(file) => file.head,
            Err(error) => {
                found.refuse(format!("the file {path:?} was claimed, but {error}"));
                continue;
            }
        };
        let sha256 = sha256_of(&bytes);
        copies += usize::from(given.contains(sha256.as_str()));
        if !sources.wrote(path, &sha256) {
            found.refuse(format!("the file {path:?} is not as a call of this item wrote it"));
            continue;
        }
        match read_form(path, &bytes, !built) {
            Err(why) => found.refuse(format!("the file {path:?} {why}")),
            Ok(form) => {
                found.prove(Evidence::File { path: path.clone(), sha256, bytes: bytes.len() as u64, form: form.description });
                if let Some(text) = form.text.filter(|_| !built) {
                    check_links(path, &text, &sources, found);
                    let removed = removed_from(journal, path);
                    if !removed.is_empty() {
                        let pages = removed.into_iter().map(str::to_owned).collect();
                        found.prove(Evidence::Uncited { path: path.clone(), pages });
                    }
                    figures::check(path, &text, [earlier, journal], found);
                }
            }
        }
    }
    if copies > 0 && copies == product.claims.len() {
        found.refuse("its files are copies of what it was to build on");
    }
    if item.execution == Some(Execution::Research) && !sources.any {
        found.refuse("it has no source: no page, feed or repository was read for it");
    }
    // The test command is skipped if the result cannot be accepted anyway.
    let written: Vec<&str> = traces(journal).filter_map(written_path).collect();
    if !(built && found.stands() && test::run(deps, &workspace, (&written, submitted.now), found, cancel).await?) {
        found.leave_open("code cannot judge its quality");
    }
    Ok(())
}

/// The journal entry for citations that were removed from a file. Its text has one address per line.
pub(crate) const CITATIONS: &str = "citations";

/// Removes citations of pages that no run of the item fetched. None if there is nothing to remove.
pub(crate) fn clean_citations(item: &WorkItem, journals: [&[JournalEntry]; 2], text: &str) -> Option<Cleaned> {
    let sources = Sources::of(item, journals);
    citations::clean(text, &|address| {
        address.readings.iter().any(|reading| sources.find_fetched(reading).is_some() || sources.given.contains(reading))
    })
}

/// The citations that were taken out of a file.
fn removed_from<'a>(journal: &'a [JournalEntry], path: &str) -> Vec<&'a str> {
    let of = path.trim_start_matches("./");
    let entries = journal.iter().filter_map(|entry| match entry {
        JournalEntry::Returned { call, text, trace: Some(Trace::Wrote { path, .. }), .. } if call == CITATIONS && path == of => Some(text),
        _ => None,
    });
    let mut removed: Vec<&str> = entries.flat_map(|text| text.lines()).collect();
    removed.sort_unstable();
    removed.dedup();
    removed
}

/// Inputs must be unchanged.
async fn check_inputs(workspace: &Workspace, inputs: &[Inputs], found: &mut Findings) {
    for input in inputs {
        for file in &input.files {
            let path = input.path(file);
            if !workspace.digest(&path).await.is_ok_and(|there| there.sha256 == file.facts.sha256) {
                found.refuse(format!("the file {path:?}, which it builds on, was changed"));
            }
        }
    }
}

/// Every cited address must be fetched for the item or given with it.
fn check_links(path: &str, text: &str, sources: &Sources<'_>, found: &mut Findings) {
    for Address { shown, readings } in addresses_in(text) {
        if let Some((url, sha256, at)) = readings.iter().find_map(|reading| sources.find_fetched(reading)) {
            found.prove(Evidence::Link { url: url.to_owned(), sha256: sha256.to_owned(), at });
        } else if !readings.iter().any(|reading| sources.given.contains(reading)) {
            found.refuse(format!("the file {path:?} names {shown}, which was not fetched for it"));
        }
    }
}

struct Sources<'a> {
    /// Of earlier runs, and of the current one.
    journals: [&'a [JournalEntry]; 2],
    /// Fetched pages by requested and final address, normalised.
    fetched: Vec<(String, &'a Trace)>,
    /// Addresses in the item's text.
    given: Vec<String>,
    any: bool,
}

impl<'a> Sources<'a> {
    fn of(item: &WorkItem, journals: [&'a [JournalEntry]; 2]) -> Self {
        let mut fetched = Vec::new();
        for trace in journals.into_iter().flat_map(traces) {
            if let Trace::Fetched { url, from, .. } = trace {
                fetched.extend([url, from].into_iter().filter_map(|address| Some((normalise(address)?, trace))));
            }
        }
        let words = [&item.what, &item.how, &item.why, &item.said].into_iter().chain(&item.criteria);
        let given = words.flat_map(|words| addresses_in(words)).flat_map(|address| address.readings).collect();
        let any = !fetched.is_empty() || journals.into_iter().any(has_read);
        Self { journals, fetched, given, any }
    }

    fn find_fetched(&self, address: &str) -> Option<(&str, &str, DateTime<Utc>)> {
        let (url, trace) = self.fetched.iter().find(|(url, _)| url == address)?;
        let Trace::Fetched { sha256, at, .. } = trace else { return None };
        Some((url, sha256, *at))
    }

    fn wrote(&self, path: &str, sha256: &str) -> bool {
        let path = path.trim_start_matches("./");
        self.journals
            .into_iter()
            .flat_map(traces)
            .any(|trace| matches!(trace, Trace::Wrote { path: to, sha256: of, .. } if to == path && of == sha256))
    }
}

/// The traces of successful calls.
fn traces(journal: &[JournalEntry]) -> impl Iterator<Item = &Trace> {
    journal.iter().filter_map(|entry| match entry {
        JournalEntry::Returned { status: CallStatus::Ok, trace, .. } => trace.as_ref(),
        _ => None,
    })
}

fn written_path(trace: &Trace) -> Option<&str> {
    match trace {
        Trace::Wrote { path, .. } => Some(path),
        _ => None,
    }
}

/// Whether a source was read. The model chooses call ids and may reuse them, so a result belongs to the reply directly before it.
fn has_read(journal: &[JournalEntry]) -> bool {
    let mut last: &[_] = &[];
    journal.iter().any(|entry| match entry {
        JournalEntry::Replied { calls, .. } => {
            last = calls;
            false
        }
        JournalEntry::Returned { call, text, status: CallStatus::Ok, .. } => {
            !text.trim().is_empty() && last.iter().any(|made| made.id == *call && SOURCES.contains(&made.name.as_str()))
        }
        _ => false,
    })
}

/// In hexadecimal.
pub(crate) fn sha256_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}
