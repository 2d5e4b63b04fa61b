//! Files in the item's workspace: there, written in this run, of the promised form, and naming no page that nobody fetched.

use anyhow::Context;
use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use crate::features::backlog::model::{Claim, Evidence, Execution, JournalEntry, WorkItem};
use crate::features::backlog::verifier::form::read_form;
use crate::features::backlog::verifier::links::{Address, addresses_in, normalise};
use crate::features::backlog::verifier::{Findings, Submitted, VerifierParts, test};
use kernel::tools::workspace::MOST_FILE_BYTES;
use kernel::tools::{CallStatus, Trace};

/// Tools whose results a piece of research may rest on. A search only names pages, and the workspace holds what the run itself wrote.
const SOURCES: [&str; 5] = ["fetch_page", "git_diff", "git_log", "http_get", "read_feed"];

pub(super) async fn check(
    parts: &VerifierParts,
    submitted: &Submitted<'_>,
    found: &mut Findings,
    cancel: &CancellationToken,
) -> anyhow::Result<()> {
    let Submitted { item, product, journal, .. } = *submitted;
    let workspace = parts.workspaces.open(&item.id).await.context("cannot open the workspace to verify what is in it")?;
    let sources = Sources::of(item, journal);
    let built = item.execution == Some(Execution::Build);
    for claim in &product.claims {
        let Claim::File { path } = claim else { continue };
        let bytes = match workspace.read(path, MOST_FILE_BYTES).await {
            Ok(file) => file.head,
            Err(error) => {
                found.refuse(format!("the file {path:?} was claimed, but {error}"));
                continue;
            }
        };
        let sha256 = sha256_of(&bytes);
        if !sources.wrote(path, &sha256) {
            found.refuse(format!("the file {path:?} was not written in this run as it stands"));
            continue;
        }
        match read_form(path, &bytes, !built) {
            Err(why) => found.refuse(format!("the file {path:?} {why}")),
            Ok(form) => {
                found.prove(Evidence::File { path: path.clone(), sha256, bytes: bytes.len() as u64, form: form.words });
                if let Some(text) = form.text.filter(|_| !built) {
                    check_links(path, &text, &sources, found);
                }
            }
        }
    }
    if item.execution == Some(Execution::Research) && !sources.any {
        found.refuse("it rests on no source: no page was fetched and no feed or repository was read in this run");
    }
    // What cannot be accepted anyway need not be run.
    if !(built && found.stands() && test::run(parts, &workspace, submitted.now, found, cancel).await?) {
        found.leave_open("code cannot judge whether it is any good");
    }
    Ok(())
}

/// Every address was fetched in this run, or was given with the item.
fn check_links(path: &str, text: &str, sources: &Sources<'_>, found: &mut Findings) {
    for Address { shown, readings } in addresses_in(text) {
        if let Some((url, sha256, at)) = readings.iter().find_map(|reading| sources.find_fetched(reading)) {
            found.prove(Evidence::Link { url: url.to_owned(), sha256: sha256.to_owned(), at });
        } else if !readings.iter().any(|reading| sources.given.contains(reading)) {
            found.refuse(format!("the file {path:?} names {shown}, which was not fetched in this run"));
        }
    }
}

/// What a run may rest on.
struct Sources<'a> {
    journal: &'a [JournalEntry],
    /// Pages by the addresses that were asked for and by those where they were found, normalised.
    fetched: Vec<(String, &'a Trace)>,
    /// Addresses in the item's own words.
    given: Vec<String>,
    any: bool,
}

impl<'a> Sources<'a> {
    fn of(item: &WorkItem, journal: &'a [JournalEntry]) -> Self {
        let mut fetched = Vec::new();
        for trace in traces(journal) {
            if let Trace::Fetched { url, from, .. } = trace {
                fetched.extend([url, from].into_iter().filter_map(|address| Some((normalise(address)?, trace))));
            }
        }
        let words = [&item.what, &item.how, &item.why].into_iter().chain(&item.criteria);
        let given = words.flat_map(|words| addresses_in(words)).flat_map(|address| address.readings).collect();
        let any = !fetched.is_empty() || has_read(journal);
        Self { journal, fetched, given, any }
    }

    fn find_fetched(&self, address: &str) -> Option<(&str, &str, DateTime<Utc>)> {
        let (url, trace) = self.fetched.iter().find(|(url, _)| url == address)?;
        let Trace::Fetched { sha256, at, .. } = trace else { return None };
        Some((url, sha256, *at))
    }

    fn wrote(&self, path: &str, sha256: &str) -> bool {
        let path = path.trim_start_matches("./");
        traces(self.journal).any(|trace| matches!(trace, Trace::Wrote { path: to, sha256: of, .. } if to == path && of == sha256))
    }
}

/// What successful calls left behind.
fn traces(journal: &[JournalEntry]) -> impl Iterator<Item = &Trace> {
    journal.iter().filter_map(|entry| match entry {
        JournalEntry::Returned { status: CallStatus::Ok, trace, .. } => trace.as_ref(),
        _ => None,
    })
}

/// Whether a source was read. Ids of calls are the model's own and may come again, so a result belongs to the reply right before it.
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

/// In hexadecimal digits.
pub(crate) fn sha256_of(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}
