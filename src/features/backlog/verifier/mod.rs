//! Whether what a run claims is so (WORK-7).
//!
//! Every claim is looked up in the world: `files` in the workspace and in the journal of the run, `records` in the store. `form` says whether a
//! file is what its name promises, `links` which addresses it names, `test` runs the operator's command. A worker's own words are looked at by nobody here, and whatever cannot be
//! looked up is not proven. What code cannot judge at all is handed to a review, which is not made here.

mod files;
mod form;
mod links;
mod records;
mod test;

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use crate::features::backlog::model::{Claim, Evidence, Execution, JournalEntry, Product, WorkItem};
use crate::features::backlog::settings::BacklogSettings;
use crate::store::Store;
use kernel::agent::Readings;
use kernel::tools::workspace::Workspaces;

pub(crate) use files::sha256_of;
pub use records::reading_trace;

/// Where the verifier looks.
pub struct VerifierParts {
    pub store: Store,
    pub workspaces: Workspaces,
    pub readings: Readings,
    pub settings: BacklogSettings,
}

/// What a run hands in.
#[derive(Clone, Copy)]
pub struct Submitted<'a> {
    pub item: &'a WorkItem,
    pub product: &'a Product,
    /// Of the run that made the product, and of no other.
    pub journal: &'a [JournalEntry],
    pub now: DateTime<Utc>,
}

/// What the verifier found.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// All of it is so, and nothing is left to judge. There is always evidence.
    Proven(Vec<Evidence>),
    /// As far as code can tell; `why` says what it cannot.
    ForReview { evidence: Vec<Evidence>, why: String },
    /// It may still come true by itself.
    NotYet { why: String },
    /// It is not so, with every reason; `evidence` is what was so nevertheless.
    Unproven { reasons: Vec<String>, evidence: Vec<Evidence> },
}

/// Looks up everything that was claimed.
///
/// # Errors
/// The world did not answer: the store, the disk, or the check was cancelled. Nothing is proven then.
pub async fn verify(parts: &VerifierParts, submitted: &Submitted<'_>, cancel: &CancellationToken) -> anyhow::Result<Verdict> {
    let Submitted { item, product, now, .. } = *submitted;
    let mut found = Findings::default();
    let Some(execution) = &item.execution else {
        found.refuse("nobody has said how it is to be carried out");
        return Ok(found.conclude());
    };
    for claim in &product.claims {
        match (execution, claim) {
            // Looked at together below, since what one file says another may prove.
            (Execution::Research | Execution::Write | Execution::Build, Claim::File { .. }) => {}
            (Execution::Remind { .. } | Execution::Ask { .. }, Claim::Message { outbox }) => {
                records::check_message(parts, outbox, &mut found).await?;
            }
            (Execution::Remind { .. } | Execution::Ask { .. }, Claim::Answer { .. }) => records::check_answer(submitted, claim, &mut found),
            (Execution::Ask { whom, .. }, Claim::Ask { ask }) => records::check_ask(parts, ask, whom, now, &mut found).await?,
            (Execution::Watch(terms), Claim::Value { feed, name, at }) => {
                records::check_value(parts, terms, (feed, name, *at), now, &mut found).await?;
            }
            (Execution::Watch(terms), Claim::Reading { feed, at }) => {
                records::check_reading(parts, submitted, terms, (feed, *at), &mut found).await?;
            }
            (_, claim) => found.refuse(format!("{} proves nothing here", name_of(claim))),
        }
    }
    match execution {
        Execution::Research | Execution::Write | Execution::Build => files::check(parts, submitted, &mut found, cancel).await?,
        // That the question was delivered is not yet an answer.
        Execution::Ask { .. } if !found.proves(|evidence| matches!(evidence, Evidence::Answer { .. })) && found.waits.is_empty() => {
            found.refuse("nobody has answered");
        }
        Execution::Ask { .. } | Execution::Remind { .. } | Execution::Watch(_) => {}
    }
    if !item.criteria.is_empty() {
        found.leave_open("its criteria are in words");
    }
    Ok(found.conclude())
}

fn name_of(claim: &Claim) -> String {
    match claim {
        Claim::File { path } => format!("the file {path:?}"),
        Claim::Message { .. } => "a message".into(),
        Claim::Ask { .. } => "a question".into(),
        Claim::Answer { by, .. } => format!("an answer of {by}"),
        Claim::Value { feed, name, .. } => format!("the value {feed} {name}"),
        Claim::Reading { feed, .. } => format!("data of {feed}"),
    }
}

/// As many reasons are told; whoever tries again is helped by some, not by a thousand.
const REASONS: usize = 20;

/// What was found so far.
#[derive(Debug, Default)]
struct Findings {
    evidence: Vec<Evidence>,
    reasons: Vec<String>,
    waits: Vec<String>,
    open: Vec<String>,
}

impl Findings {
    fn prove(&mut self, evidence: Evidence) {
        if !self.evidence.contains(&evidence) {
            self.evidence.push(evidence);
        }
    }

    fn proves(&self, of_kind: impl Fn(&Evidence) -> bool) -> bool {
        self.evidence.iter().any(of_kind)
    }

    fn refuse(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// Something was proven, and nothing speaks against it so far.
    fn stands(&self) -> bool {
        self.reasons.is_empty() && !self.evidence.is_empty()
    }

    fn wait(&mut self, why: impl Into<String>) {
        self.waits.push(why.into());
    }

    /// Something that code cannot judge.
    fn leave_open(&mut self, what: impl Into<String>) {
        self.open.push(what.into());
    }

    /// One reason against it outweighs all evidence, and without evidence there is always a reason.
    fn conclude(mut self) -> Verdict {
        if self.reasons.is_empty() && !self.waits.is_empty() {
            return Verdict::NotYet { why: self.waits.join("; ") };
        }
        if self.reasons.is_empty() && self.evidence.is_empty() {
            self.refuse("nothing was claimed that can be looked up");
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
