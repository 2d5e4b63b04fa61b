use std::fmt;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::{Result, Transaction};

/// A write of one feature inside another feature's transaction, such as a meeting called by a chat decision. Both are stored, or neither.
#[async_trait]
pub trait Effect: fmt::Debug + Send + Sync {
    /// Writes it. Runs again if the transaction is retried, so it may only change the database.
    ///
    /// # Errors
    /// The database fails, and the whole transaction is rolled back.
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied>;
}

/// The result of an [`Effect`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    Done,
    /// Nothing was written, for this reason. The transaction continues.
    Refused(String),
}
