//! A work item as somebody asks for it, or for a change of it, before code has looked at it.

use serde::Deserialize;

use crate::features::backlog::model::{ExecutionKind, Urgency, WatchTerms};

/// An item to be added. Names are as typed.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ItemDraft {
    /// How other drafts of the same file name it.
    pub key: Option<String>,
    /// What is to be done; begins with a verb.
    pub what: String,
    pub how: String,
    pub why: String,
    /// A persona, a person, or `me`. None: the coordinator.
    pub owner: Option<String>,
    pub urgency: Option<Urgency>,
    pub criteria: Vec<String>,
    /// Keys of drafts of the same file, or ends of ids of items that are there.
    pub needs: Vec<String>,
    /// Likewise.
    pub parent: Option<String>,
    /// None leaves it to the planner.
    pub kind: Option<ExecutionKind>,
    /// With the kind `watch`: what is waited for.
    pub watch: Option<WatchTerms>,
}

/// What is to be different about an item. None stays as it is; the owner is as typed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemChanges {
    pub what: Option<String>,
    pub how: Option<String>,
    pub why: Option<String>,
    pub owner: Option<String>,
    pub urgency: Option<Urgency>,
    pub criteria: Option<Vec<String>>,
}
