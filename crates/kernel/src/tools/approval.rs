//! Approval of tool calls by a person (TRUST-3).

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::ids::{ApprovalId, WorkItemId};

/// The effects of a tool outside the item's workspace (TOOL-2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// None.
    Read,
    /// Changes the team's data.
    Write,
    /// Visible to others: posts a message, calls an unlisted host.
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

/// A request to approve one call with its exact arguments. Once approved, exactly this call may be made once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    pub id: ApprovalId,
    pub item: WorkItemId,
    /// The run that asked. Another run needs a new approval.
    pub run: u32,
    pub tool: String,
    pub arguments: Value,
    pub risk: Risk,
    pub state: ApprovalState,
    /// Who decided.
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

/// Identifies a call by tool and arguments, independent of key order.
pub fn fingerprint(tool: &str, arguments: &Value) -> String {
    // `serde_json` sorts keys, so equal arguments give equal text.
    let digest = Sha256::digest(format!("{tool}\n{arguments}"));
    digest.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}
