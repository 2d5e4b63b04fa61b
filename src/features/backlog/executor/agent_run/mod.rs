//! Research, documents and files, which a language model writes (WORK-6).
//!
//! `material` writes the prompt, `run` has the kernel run it, `approvals` puts calls before people, and `finish` reads what the model says it
//! made. Nothing here believes that: the verifier checks it.
//!
//! `ask_agent` is not offered: a question to another persona is a work item of its own.

mod approvals;
mod finish;
mod material;
mod run;

use std::sync::Arc;

use crate::features::backlog::model::{Execution, WorkItem};
use crate::store::Store;
use kernel::agent::Agents;
use kernel::ids::ChannelId;
use kernel::memory::Memory;
use kernel::tools::workspace::Workspaces;

/// Carries out items by asking a model.
pub(crate) struct AgentExecutor {
    pub(crate) store: Store,
    pub(crate) agents: Arc<Agents>,
    pub(crate) workspaces: Workspaces,
}

/// What a run is told beside its item.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Background<'a> {
    /// The items that it needed. The prompt tells their outcomes.
    pub(crate) needs: &'a [WorkItem],
    pub(crate) rejected: Option<&'a Rejection>,
    /// On the same subject, the most fitting first.
    pub(crate) lessons: &'a [Memory],
    /// Where people are asked. None: nobody can be asked, and a call that a person would have to allow is refused.
    pub(crate) channel: Option<&'a ChannelId>,
}

/// Why the run before was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) why: String,
    /// That run had read text from outside, which the reason may quote.
    pub(crate) outside: bool,
}

/// What a run is to deliver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deliverable {
    Research,
    Document,
    Files,
}

impl Deliverable {
    fn of(execution: &Execution) -> Option<Self> {
        match execution {
            Execution::Research => Some(Self::Research),
            Execution::Write => Some(Self::Document),
            Execution::Build => Some(Self::Files),
            Execution::Remind { .. } | Execution::Ask { .. } | Execution::Watch(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
