//! The extension point for features with scheduled work.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::features::schedule::model::{ActionKind, Job};
use kernel::chat::message::Channel;
use kernel::chat::outbound::OutboundMessage;
use kernel::db::{Effect, StoreError};

/// The work of a feature when a job fires. Jobs name it by its [`ActionKind`].
#[async_trait]
pub trait Action: Send + Sync + 'static {
    fn kind(&self) -> ActionKind;

    /// Whether there is nothing to do. The firing then stores no row.
    async fn is_idle(&self, _now: DateTime<Utc>) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// The rows that the firing writes in its own transaction. None: the firing stays open, and a job carries it out with [`Action::run`]. `channel`
    /// is the channel of the scheduled job, if the action needs one.
    fn effect(&self, _job: &Job, _channel: Option<Channel>, _now: DateTime<Utc>) -> Option<Arc<dyn Effect>> {
        None
    }

    /// How long before an instant [`Action::prepare`] begins. None: there is nothing to prepare.
    fn lead(&self) -> Option<Duration> {
        None
    }

    /// Prepares the next instant of a job. Called in the serving process at every look at the clock from [`Action::lead`] before the instant on, and
    /// never after it. So it must store what it has prepared, and prepare it only once.
    async fn prepare(&self, _channel: &Channel, _instant: DateTime<Utc>, _now: DateTime<Utc>) -> Result<(), StoreError> {
        Ok(())
    }

    /// Carries out an open firing. Its outcome is stored in the transaction that ends the firing. Runs in the serving process, and again after a
    /// failure or a crash.
    async fn run(&self) -> anyhow::Result<ActionOutcome> {
        anyhow::bail!("this process cannot do it")
    }
}

/// The outcome of a firing.
#[derive(Debug, Clone, PartialEq)]
pub enum ActionOutcome {
    /// The action succeeded. These messages are posted.
    Done(Vec<OutboundMessage>),
    /// The action could not run, for this reason.
    Refused(String),
}
