//! Unchecked requests to add or change an item.

use chrono::{DateTime, Utc};
use serde::Deserialize;

use crate::features::backlog::model::{ExecutionKind, Urgency, WatchTerms};

/// A new item. Names are as typed.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ItemDraft {
    /// The name by which other drafts of the file refer to it.
    pub key: Option<String>,
    /// The title: what is to be done, in any words.
    pub what: String,
    pub how: String,
    pub why: String,
    /// A persona, a person, or `me`. None: the coordinator.
    pub owner: Option<String>,
    pub urgency: Option<Urgency>,
    /// When it is to be done, in words: `friday`, `2026-12-01 10:00`.
    pub due: Option<String>,
    pub criteria: Vec<String>,
    /// Keys of drafts in the same file, or short ids of existing items.
    pub needs: Vec<String>,
    /// As `needs`.
    pub parent: Option<String>,
    /// None: the planner decides.
    pub kind: Option<ExecutionKind>,
    /// The repository to work in, for the kind `build`.
    pub repository: Option<String>,
    /// The terms for the kind `watch`.
    pub watch: Option<WatchTerms>,
    /// Added although it looks like an open item.
    pub anyway: bool,
}

/// A change of a due date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueChange {
    Set(DateTime<Utc>),
    Remove,
}

/// Changes of an item. None leaves a field unchanged. The owner is as typed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemChanges {
    pub what: Option<String>,
    pub how: Option<String>,
    pub why: Option<String>,
    pub owner: Option<String>,
    pub urgency: Option<Urgency>,
    /// `none` removes the due date.
    pub due: Option<String>,
    pub criteria: Option<Vec<String>>,
    pub kind: Option<ExecutionKind>,
}
