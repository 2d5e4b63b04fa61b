use std::fmt;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::{Result, Transaction};

/// What one feature writes in the transaction of another: a meeting that is called by the decision on a message, or by a job that fires.
/// Either both are stored or neither is.
#[async_trait]
pub trait Effect: fmt::Debug + Send + Sync {
    /// Writes it. Runs again when the transaction is retried, so it must not change anything else.
    ///
    /// # Errors
    /// The database does not answer; the whole transaction is then given up.
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied>;

    /// Called once the transaction is committed, to wake up whoever continues from there.
    fn committed(&self) {}
}

/// What came of an [`Effect`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    Done,
    /// Nothing was written, for this reason. The rest of the transaction stands.
    Refused(String),
}
