//! Verifies the claims of a run (WORK-7).
//!
//! `files` checks the workspace and the run's journal, `records` the store. `form` checks file formats, `links` finds cited addresses, `figures` looks
//! them up there, `test` runs the operator's command, `repository` checks a change of a repository, and `failing` says which failing tests speak
//! against it. The worker's own text is not trusted; what cannot be checked is not proven. What code cannot judge goes to a review.

mod citations;
pub(crate) mod failing;
mod figures;
mod files;
mod form;
mod links;
mod records;
mod repository;
mod test;

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use tokio_util::sync::CancellationToken;

use crate::features::backlog::model::{Claim, Evidence, Execution, JournalEntry, Product, WorkItem, criteria};
use crate::features::backlog::settings::BacklogSettings;
use crate::store::Store;
use kernel::agent::Readings;
use kernel::repository::Repositories;
use kernel::tools::workspace::Workspaces;

pub(crate) use citations::{Cleaned, without_unsupported};
pub(crate) use files::{CITATIONS, clean_citations, sha256_of};
pub use records::reading_trace;

pub struct VerifierDeps {
    pub store: Store,
    pub workspaces: Workspaces,
    pub readings: Readings,
    pub settings: BacklogSettings,
    pub repositories: Repositories,
    /// The team's zone.
    pub zone: Tz,
}

/// The claims of a run.
#[derive(Clone, Copy)]
pub struct Submitted<'a> {
    pub item: &'a WorkItem,
    pub product: &'a Product,
    /// Of the run that made the product.
    pub journal: &'a [JournalEntry],
    /// Of the item's earlier runs: what they wrote and read still counts.
    pub earlier: &'a [JournalEntry],
    pub now: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Everything is confirmed and nothing is left to judge. Always with evidence.
    Proven(Vec<Evidence>),
    /// The person was told. Only that person's word proves that the item is done.
    Told(Vec<Evidence>),
    /// Confirmed as far as code can. `why` says what it cannot judge.
    ForReview { evidence: Vec<Evidence>, why: String },
    /// It may still become true by itself.
    NotYet { why: String },
    /// Refuted, with all reasons. `evidence` has the parts that were confirmed.
    Unproven { reasons: Vec<String>, evidence: Vec<Evidence> },
}

impl Verdict {
    /// What was confirmed.
    pub fn evidence(&self) -> &[Evidence] {
        match self {
            Self::Proven(evidence) | Self::Told(evidence) | Self::ForReview { evidence, .. } | Self::Unproven { evidence, .. } => evidence,
            Self::NotYet { .. } => &[],
        }
    }
}

/// Checks all claims.
///
/// # Errors
/// The store or the disk failed, or the check was cancelled. Nothing is proven.
pub async fn verify(deps: &VerifierDeps, submitted: &Submitted<'_>, cancel: &CancellationToken) -> anyhow::Result<Verdict> {
    let Submitted { item, product, now, .. } = *submitted;
    let mut found = Findings::default();
    let Some(execution) = &item.execution else {
        found.refuse("it has not been planned");
        return Ok(found.conclude());
    };
    for claim in &product.claims {
        match (execution, claim) {
            // Checked together below, because one file may prove a claim about another.
            (Execution::Research | Execution::Write | Execution::Build, Claim::File { .. }) => {}
            (Execution::Build, Claim::Branch { .. }) if item.repository.is_some() => {}
            (Execution::Remind { .. } | Execution::Ask { .. }, Claim::Message { outbox }) => {
                records::check_message(deps, outbox, &mut found).await?;
            }
            (Execution::Remind { .. } | Execution::Ask { .. }, Claim::Answer { .. }) => records::check_answer(submitted, claim, &mut found),
            (Execution::Watch(terms), Claim::Value { feed, name, at }) => {
                records::check_value(deps, terms, (feed, name, *at), now, &mut found).await?;
            }
            (Execution::Watch(terms), Claim::Reading { feed, at }) => {
                records::check_reading(deps, submitted, terms, (feed, *at), &mut found).await?;
            }
            (Execution::Watch(terms), Claim::NotMet { feed, name, at }) => {
                records::check_not_met(deps, terms, (feed, name, *at), now, &mut found).await?;
            }
            (_, claim) => found.refuse(format!("{} proves nothing here", name_of(claim))),
        }
    }
    match execution {
        Execution::Build if item.repository.is_some() => repository::check(deps, submitted, &mut found, cancel).await?,
        Execution::Research | Execution::Write | Execution::Build => files::check(deps, submitted, &mut found, cancel).await?,
        Execution::Ask { .. } | Execution::Remind { .. } if found.answered => {}
        // Reminding somebody does not prove that the work is done, and asking is not an answer.
        Execution::Ask { .. } | Execution::Remind { .. } => {
            if !execution.is_for_a_person() && found.waits.is_empty() {
                found.refuse("nobody has answered");
            }
            return Ok(found.told());
        }
        Execution::Watch(_) => {}
    }
    check_is_new(deps, item, &mut found).await?;
    if !criteria::are_proven_by_code(item) {
        found.leave_open("its criteria are in prose");
    }
    Ok(found.conclude())
}

/// No verdict is drawn twice over the same files.
async fn check_is_new(deps: &VerifierDeps, item: &WorkItem, found: &mut Findings) -> anyhow::Result<()> {
    let rejected = deps.store.list_rejected_files(item).await?;
    let files: Vec<_> = found
        .evidence
        .iter()
        .filter_map(|found| match found {
            Evidence::File { path, sha256, .. } => Some((path.trim_start_matches("./"), sha256.as_str())),
            _ => None,
        })
        .collect();
    let is_rejected =
        |(path, sha256): &(&str, &str)| rejected.iter().any(|file| (file.name.as_str(), file.sha256.as_str()) == (path, sha256));
    if !rejected.is_empty() && files.len() == rejected.len() && files.iter().all(is_rejected) {
        found.refuse("its files are exactly those that were not accepted before; mend what was wrong with them");
    }
    Ok(())
}

fn name_of(claim: &Claim) -> String {
    match claim {
        Claim::File { path } => format!("the file {path:?}"),
        Claim::Branch { branch, .. } => format!("the branch {branch}"),
        Claim::Message { .. } => "a message".into(),
        Claim::Ask { .. } => "a question".into(),
        Claim::Answer { by, .. } => format!("an answer of {by}"),
        Claim::Value { feed, name, .. } => format!("the value {feed} {name}"),
        Claim::Reading { feed, .. } => format!("data of {feed}"),
        Claim::NotMet { feed, name, .. } => format!("the end of the time for {feed} {name}"),
    }
}

/// The most reasons reported.
const REASONS: usize = 20;

/// The findings so far.
#[derive(Debug, Default)]
struct Findings {
    evidence: Vec<Evidence>,
    reasons: Vec<String>,
    waits: Vec<String>,
    open: Vec<String>,
    /// Somebody gave an answer that counts.
    answered: bool,
}

impl Findings {
    fn prove(&mut self, evidence: Evidence) {
        if !self.evidence.contains(&evidence) {
            self.evidence.push(evidence);
        }
    }

    /// The verdict on an item that waits for a person's word.
    fn told(self) -> Verdict {
        match self.conclude() {
            Verdict::Proven(evidence) | Verdict::ForReview { evidence, .. } => Verdict::Told(evidence),
            verdict => verdict,
        }
    }

    fn refuse(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// There is evidence, and no reason against it.
    fn stands(&self) -> bool {
        self.reasons.is_empty() && !self.evidence.is_empty()
    }

    fn wait(&mut self, why: impl Into<String>) {
        self.waits.push(why.into());
    }

    /// Adds a point that code cannot judge.
    fn leave_open(&mut self, what: impl Into<String>) {
        self.open.push(what.into());
    }

    /// A single reason outweighs all evidence. Without evidence there is always a reason.
    fn conclude(mut self) -> Verdict {
        if self.reasons.is_empty() && !self.waits.is_empty() {
            return Verdict::NotYet { why: self.waits.join("; ") };
        }
        if self.reasons.is_empty() && self.evidence.is_empty() {
            self.refuse("nothing was claimed that can be checked");
        }
        if !self.reasons.is_empty() {
            let beyond = self.reasons.len().saturating_sub(REASONS);
            self.reasons.truncate(REASONS);
            self.reasons.extend((beyond > 0).then(|| format!("and {beyond} more")));
            return Verdict::Unproven { reasons: self.reasons, evidence: self.evidence };
        }
        if self.open.is_empty() {
            Verdict::Proven(self.evidence)
        } else {
            Verdict::ForReview { evidence: self.evidence, why: self.open.join("; ") }
        }
    }
}
