//! The extension point for features whose work happens by the clock.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::features::schedule::model::{ActionKind, Job};
use kernel::chat::message::Channel;
use kernel::chat::outbound::OutboundMessage;
use kernel::db::{Effect, StoreError};

/// What a feature does when a job fires. Jobs name it by its [`ActionKind`].
#[async_trait]
pub trait Action: Send + Sync + 'static {
    fn kind(&self) -> ActionKind;

    /// Whether there is nothing to do. A firing then leaves no row.
    async fn is_idle(&self, _now: DateTime<Utc>) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// What the firing writes in its own transaction. None: the firing stays open, and a job carries it out by [`Action::run`]. `channel` is the one
    /// of the scheduled job, where the action needs one.
    fn effect(&self, _job: &Job, _channel: Option<Channel>, _now: DateTime<Utc>) -> Option<Arc<dyn Effect>> {
        None
    }

    /// Carries out an open firing. What it gives is stored in the transaction that ends the firing. Runs in the process that serves, and again
    /// after a failure or a crash.
    async fn run(&self) -> anyhow::Result<ActionOutcome> {
        anyhow::bail!("this process cannot do it")
    }
}

/// What came of carrying a firing out.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionOutcome {
    /// It is done, and this is to be posted.
    Done(Vec<OutboundMessage>),
    /// There was nothing that could be done, for this reason.
    Refused(String),
}
