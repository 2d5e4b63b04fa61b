//! Runs research, documents and files with a model (WORK-6).
//!
//! `material` builds the prompt, `run` starts the agent run, `approvals` asks people, and `finish` parses the claimed result. `repository` has the tools and the result of work in a repository. The verifier
//! checks it later.
//!
//! `ask_agent` is not offered, because a question to another persona is a work item of its own. Another feature may add tools for its own items.

mod approvals;
mod finish;
mod material;
mod repository;
mod run;
mod waiting;

use std::sync::Arc;

use crate::features::backlog::OfferTools;
use crate::features::backlog::inputs::{GivenFile, Inputs};
use crate::features::backlog::model::{Execution, WorkItem};
use crate::features::backlog::render::Spot;
use crate::store::Store;
use kernel::agent::{Agents, NamedText};
use kernel::memory::Memory;
use kernel::tools::workspace::Workspaces;

/// Executes items with a model.
pub(crate) struct AgentExecutor {
    pub(crate) store: Store,
    pub(crate) agents: Arc<Agents>,
    pub(crate) workspaces: Workspaces,
}

/// The context of a run besides its item.
#[derive(Clone, Copy, Default)]
pub(crate) struct Background<'a> {
    /// Needed items, whose outcomes are in the prompt.
    pub(crate) needs: &'a [WorkItem],
    /// The files of needed items and of parts, which lie in the workspace.
    pub(crate) inputs: &'a [Inputs],
    /// The files of the message in which it was asked for, which lie in the workspace.
    pub(crate) given: &'a [GivenFile],
    /// The items and files that the task names.
    pub(crate) named: &'a [NamedText],
    pub(crate) rejected: Option<&'a Rejection>,
    /// Lessons on the same subject, best match first.
    pub(crate) lessons: &'a [Memory],
    /// How something similar was done before.
    pub(crate) approaches: &'a [Memory],
    /// The persona's amendment for this kind of work.
    pub(crate) amendment: Option<&'a str>,
    /// The repository to work in. None: files in the workspace.
    pub(crate) site: Option<Site<'a>>,
    /// Where to ask for approval. None: calls that need approval are refused.
    pub(crate) spot: Option<&'a Spot>,
    /// Tools of another feature. None: only those of the backlog.
    pub(crate) more_tools: Option<&'a dyn OfferTools>,
}

/// Why the last run was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) why: String,
    /// The rejected run had read text from outside, which the reason may quote.
    pub(crate) outside: bool,
}

/// The kind of result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deliverable {
    Research,
    Document,
    Files,
    /// A change of a repository.
    Change,
}

impl Deliverable {
    fn of(execution: &Execution, site: Option<Site<'_>>) -> Option<Self> {
        match execution {
            Execution::Build if site.is_some() => Some(Self::Change),
            Execution::Research => Some(Self::Research),
            Execution::Write => Some(Self::Document),
            Execution::Build => Some(Self::Files),
            Execution::Remind { .. } | Execution::Ask { .. } | Execution::Watch(_) => None,
        }
    }
}

pub(crate) use repository::{Site, patch_name};

#[cfg(test)]
mod tests;
