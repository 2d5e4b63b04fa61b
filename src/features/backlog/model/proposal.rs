use serde::{Deserialize, Serialize};

use crate::features::backlog::model::{ExecutionKind, Urgency, WatchTerms};

/// An unchecked action proposed by somebody.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ProposedAction {
    /// The title: what is to be done.
    pub what: String,
    /// How to do it, in one sentence.
    pub how: String,
    /// Why it is worth doing, in one sentence.
    pub why: String,
    /// The name of a persona or a person of the team.
    pub owner: String,
    pub urgency: Urgency,
    /// How to execute it. None: the planner decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ExecutionKind>,
    /// The terms for `watch`. Only rules set them; models are not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub watch: Option<WatchTerms>,
}

/// A rejected action and the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedAction {
    pub what: String,
    pub reason: String,
}
