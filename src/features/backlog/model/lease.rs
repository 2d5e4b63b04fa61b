use serde::{Deserialize, Serialize};

use kernel::ids::WorkItemId;

/// A running process. A restarted process is a new worker.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorkerId(String);

impl WorkerId {
    pub fn generate() -> Self {
        Self(uuid::Uuid::now_v7().simple().to_string())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for WorkerId {
    fn from(id: String) -> Self {
        Self(id)
    }
}

/// The right to work on an item. Each claim has a higher token, and the store rejects writes with a lower one. So a worker that was wrongly
/// believed dead does no harm.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lease {
    pub item: WorkItemId,
    pub worker: WorkerId,
    pub token: i64,
}
