//! What somebody puts forward to be done, and what became of that.

use serde::{Deserialize, Serialize};

use crate::features::backlog::model::{ExecutionKind, Urgency, WatchTerms};

/// An action as somebody proposed it, before code has looked at it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ProposedAction {
    /// What is to be done; begins with a verb.
    pub what: String,
    /// How to go about it, in one sentence.
    pub how: String,
    /// Why it is worth doing, in one sentence.
    pub why: String,
    /// The name of a persona or of a person on the team.
    pub owner: String,
    pub urgency: Urgency,
    /// How it is to be carried out, if the proposer knows. The planner decides by rule otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution: Option<ExecutionKind>,
    /// With `watch`: what is waited for. Rules know it; a model is not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub watch: Option<WatchTerms>,
}

/// A proposed action that does not become an item, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedAction {
    pub what: String,
    pub reason: String,
}
