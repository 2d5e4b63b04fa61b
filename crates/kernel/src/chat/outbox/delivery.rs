//! One attempt to deliver a row: finds the place and checks whether the message was posted before.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::chat::message::{Channel, Place};
use crate::chat::outbound::{OutboundMessage, Placement, Posted};
use crate::chat::outbox::OutboxRow;
use crate::chat::outbox::thread_name::thread_name;
use crate::chat::store::ChannelSeen;
use crate::chat::{ChatPlatform, SendError};
use crate::db::{Database, StoreError};
use crate::ids::{ChannelId, OutboxId, UserId};

/// Clocks of platform and machine differ. Reading back starts this much earlier.
const SKEW: chrono::Duration = chrono::Duration::seconds(30);

/// Why an attempt failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Hitch {
    #[error(transparent)]
    Platform(#[from] SendError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub(super) struct Delivery<'a> {
    pub store: &'a Database,
    pub platform: &'a dyn ChatPlatform,
    pub now: DateTime<Utc>,
    /// The row before this attempt.
    pub row: &'a OutboxRow,
    /// Whether an attempt may have been made that is not recorded.
    pub may_have_been_tried: bool,
}

impl Delivery<'_> {
    /// Whether the attempt need not be recorded, because the nonce would still be known after a crash. This saves a write before each answer. If the
    /// next process sends the row later than that, it reads back first.
    pub(super) fn may_go_unrecorded(&self) -> bool {
        self.row.first_attempt_at.is_none() && !self.is_forgotten(self.row.created_at)
    }

    pub(super) async fn attempt(&self) -> Result<Posted, Hitch> {
        match &self.row.message.place {
            Placement::Channel => self.post(&self.row.message.channel).await,
            Placement::Thread { on, name } => self.post_in_thread(on, name).await,
            Placement::Revision { of } => self.revise(of).await,
            Placement::Direct { to } => self.post_direct(to).await,
        }
    }

    /// Posts in the thread. Falls back to the channel if no thread is possible, so that the message is not lost.
    async fn post_in_thread(&self, on: &OutboxId, title: &str) -> Result<Posted, Hitch> {
        let Some(starter) = self.store.find_posted(on).await? else { return self.post(&self.row.message.channel).await };
        let name = thread_name(self.store, title).await?;
        let opened = self.platform.open_thread(&starter.channel, &starter.message, &name).await.map_err(Hitch::from);
        let posted = match opened {
            Ok(thread) => self.post(&thread).await,
            Err(hitch) => Err(hitch),
        };
        match posted {
            Err(Hitch::Platform(why @ (SendError::Refused(_) | SendError::Denied { .. } | SendError::Gone(_)))) => {
                tracing::warn!(outbox = %self.row.message.id, on = %starter.message, %why, "not possible in a thread; it goes into the channel");
                self.post(&self.row.message.channel).await
            }
            posted => posted,
        }
    }

    /// Posts in the conversation with a person. Stores the channel first: only stored channels are read after a restart, so an answer that came while
    /// no process ran would be missed.
    async fn post_direct(&self, to: &UserId) -> Result<Posted, Hitch> {
        let (id, newest) = self.platform.open_direct(&self.row.message.persona, to).await?;
        let channel = Channel { id: id.clone(), name: String::new(), place: Place::Direct, private: true, shared: false };
        // The oldest possible time, so that any answer moves the mark.
        let seen = ChannelSeen { channel, last_message: newest, last_at: DateTime::UNIX_EPOCH };
        self.store.record_channels_seen(&[seen]).await?;
        self.post(&id).await
    }

    /// Replaces the original. Posts a new message if the original was deleted or never posted. Idempotent, so nothing is read back first.
    async fn revise(&self, of: &OutboxId) -> Result<Posted, Hitch> {
        let Some(original) = self.store.find_posted(of).await? else { return self.post(&self.row.message.channel).await };
        match self.platform.edit(&self.placed_in(&original.channel), &original.message).await {
            Err(SendError::Gone(why)) => {
                tracing::info!(outbox = %self.row.message.id, original = %original.message, why, "nothing to edit; posting it as a new message");
                self.post(&self.row.message.channel).await
            }
            revised => Ok(revised?),
        }
    }

    /// Posts the message in `channel`, unless an earlier attempt succeeded.
    async fn post(&self, channel: &ChannelId) -> Result<Posted, Hitch> {
        let message = self.placed_in(channel);
        if let Some(since) = self.doubtful_since()
            && let Some(posted) = self.platform.find_posted(&message, since - SKEW).await?
        {
            return Ok(posted);
        }
        Ok(self.platform.send(&message).await?)
    }

    /// The message with its actual channel.
    fn placed_in(&self, channel: &ChannelId) -> OutboundMessage {
        OutboundMessage { channel: channel.clone(), place: Placement::Channel, ..self.row.message.clone() }
    }

    /// The earliest time at which the message may have been posted, if the platform might accept it again.
    fn doubtful_since(&self) -> Option<DateTime<Utc>> {
        let recorded = self.row.first_attempt_at;
        // Without a nonce every attempt is recorded.
        let unrecorded = || (self.may_have_been_tried && !self.nonce_window().is_zero()).then_some(self.row.created_at);
        recorded.or_else(unrecorded).filter(|since| self.is_forgotten(*since))
    }

    /// Whether the platform may have forgotten the nonce of a message that was posted at `posted_at`.
    fn is_forgotten(&self, posted_at: DateTime<Utc>) -> bool {
        (self.now - posted_at).to_std().map_or(true, |age| age >= self.nonce_window())
    }

    fn nonce_window(&self) -> Duration {
        self.platform.nonce_window(&self.row.message)
    }
}
