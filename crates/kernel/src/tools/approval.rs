//! A call that a person has to allow (TRUST-3).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::ids::{ApprovalId, WorkItemId};

/// What a tool may do to the world outside the item's workspace (TOOL-2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// Nothing.
    Read,
    /// Changes what the team keeps.
    Write,
    /// Is seen by others: posts, calls hosts that nobody listed.
    ReachOut,
}

impl Risk {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::ReachOut => "reach-out",
        }
    }
}

/// One call of one item, put before a person with its exact arguments. Allowed, it may be made once, with these and no others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    pub id: ApprovalId,
    pub item: WorkItemId,
    /// The run of the item that asked; another run asks anew.
    pub run: u32,
    pub tool: String,
    pub arguments: Value,
    pub risk: Risk,
    pub state: ApprovalState,
    /// The name of whoever decided.
    pub by: Option<String>,
    pub asked_at: DateTime<Utc>,
    pub decided_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    Asked,
    Allowed,
    Refused,
}

impl ApprovalState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Allowed => "allowed",
            Self::Refused => "refused",
        }
    }
}

/// What tells one call from any other: the tool and its arguments, whatever the order of their keys.
pub fn fingerprint(tool: &str, arguments: &Value) -> String {
    // `serde_json` keeps the keys of objects sorted, so that equal arguments give equal text.
    let digest = Sha256::digest(format!("{tool}\n{arguments}"));
    digest.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}
