//! Research, documents and files that a language model makes (WORK-6).
//!
//! `material` writes the prompt that a run begins with, `conversation` tells from the journal where it stands, `run` goes on from there,
//! `call` has one call made, refused or put before a person, and `finish` makes a product of what the model says in the end. Every step is in the journal before the next one rests on it. Nothing here believes what a model says it made: that is
//! the verifier's.
//!
//! `ask_agent` is not on offer: a question to another persona is a work item of its own.

mod call;
mod conversation;
mod finish;
mod material;
mod run;
mod setback;

use std::sync::Arc;

use super::{Assignment, Outcome};
use crate::domain::ids::ChannelId;
use crate::domain::memory::Memory;
use crate::domain::work::{Execution, WorkItem};
use crate::persona::turn::Performer;
use crate::tools::Toolbox;
use crate::tools::workspace::Workspaces;

/// What runs are made with.
pub(in crate::work) struct Maker {
    pub(in crate::work) performer: Arc<Performer>,
    pub(in crate::work) toolbox: Arc<Toolbox>,
    pub(in crate::work) workspaces: Workspaces,
}

/// What a run is told beside its item.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::work) struct Background<'a> {
    /// The items that it needed; what came of them is told.
    pub(in crate::work) needs: &'a [WorkItem],
    pub(in crate::work) rejected: Option<&'a Rejection>,
    /// On the same subject, the most fitting first.
    pub(in crate::work) lessons: &'a [Memory],
    /// Where people are asked. None: there is nobody to ask, and a call that a person would have to allow is refused.
    pub(in crate::work) channel: Option<&'a ChannelId>,
}

/// Why the run before was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::work) struct Rejection {
    pub(in crate::work) why: String,
    /// That run had read text from outside, which the reason may quote.
    pub(in crate::work) outside: bool,
}

/// What is made here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Making {
    Research,
    Document,
    Files,
}

impl Making {
    fn of(execution: &Execution) -> Option<Self> {
        match execution {
            Execution::Research => Some(Self::Research),
            Execution::Write => Some(Self::Document),
            Execution::Build => Some(Self::Files),
            Execution::Remind { .. } | Execution::Ask { .. } | Execution::Watch(_) => None,
        }
    }
}

impl Maker {
    /// Carries a run on from where its journal stands, from the beginning where there is none.
    ///
    /// A wait for an approval is recorded already, together with its row; every other outcome is for the caller to record. When the
    /// assignment is cancelled or its lease is lost, the outcome is [`Outcome::Later`] at once: the run goes on with whoever has the item next.
    ///
    /// # Errors
    /// The item is none that a model makes, or the store does not answer.
    pub(in crate::work) async fn make(&self, assignment: &Assignment<'_>, background: &Background<'_>) -> anyhow::Result<Outcome> {
        let making = assignment.item.execution.as_ref().and_then(Making::of);
        let making = making.ok_or_else(|| anyhow::anyhow!("work item {} is none that a model makes", assignment.item.id))?;
        run::perform(self, assignment, background, making).await
    }
}

#[cfg(test)]
mod tests;
