//! The extension point for features whose work happens by the clock.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::features::schedule::model::{ActionKind, Firing, Job};
use kernel::chat::message::Channel;
use kernel::db::{Effect, StoreError};

/// What a feature does when a job fires. Jobs name it by its [`ActionKind`].
#[async_trait]
pub trait Action: Send + Sync + 'static {
    fn kind(&self) -> ActionKind;

    /// Whether there is nothing to do. A firing then leaves no row.
    async fn is_idle(&self, _now: DateTime<Utc>) -> Result<bool, StoreError> {
        Ok(false)
    }

    /// What the firing writes in its own transaction. None: the firing stays open, and [`Action::run`] carries it out. `channel` is the one of the
    /// job, where the action needs one.
    fn effect(&self, _job: &Job, _channel: Option<Channel>, _now: DateTime<Utc>) -> Option<Arc<dyn Effect>> {
        None
    }

    /// Carries out an open firing and ends it with `Store::end_firing`. Runs in the process that serves; runs again after a failure or a crash.
    async fn run(&self, _firing: &Firing) -> anyhow::Result<()> {
        anyhow::bail!("this process cannot do it")
    }
}
