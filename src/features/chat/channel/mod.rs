//! The task of one channel. It lives while the channel has work. It decides on messages in arrival order, each after the previous turns have ended.
//!
//! `queue` holds the waiting messages. `deciding` turns a burst into a decision, and `weighing` asks a model where the rules are unsure. `running` runs the job of a turn, and `answering` builds its
//! question and its reply. `handover` lets agents answer each other as far as the guard allows. `asking` carries questions from one persona to
//! another, and `late` delivers answers after the deadline. `refusals` keeps the same refusal from being posted again and again.

mod answering;
mod asking;
mod deciding;
mod handover;
mod late;
mod progress;
mod queue;
mod refusals;
mod running;
mod turn_journal;
mod weighing;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tracing::{Instrument as _, info_span};

pub(super) use asking::{Asked, Outcome, attribute};
pub(super) use queue::ChannelQueue;

use crate::features::chat::Conversation;
use kernel::catch_panic::catch_panic;
use kernel::chat::message::{ChannelKind, InboundMessage};
use kernel::ids::ChannelId;

/// Checks for ended turns at this interval. Every process announces them, but an announcement of another process is lost if that process dies right
/// after its commit, or if the listening connection is being opened again.
const BACKSTOP: Duration = Duration::from_secs(30);

/// The interval while a message waits: a turn whose process died again and again rests, and nothing announces that.
const BEHIND_TURN: Duration = Duration::from_secs(2);

impl Conversation {
    /// Processes a channel until it has no work left or the process stops. Unfinished work stays in the database.
    pub(super) async fn work_off(self, channel: &ChannelId, queue: &Arc<ChannelQueue>) {
        loop {
            self.await_turns(channel, queue).await;
            if self.deps().stop.is_cancelled() {
                return;
            }
            if let Err(error) = catch_panic(Box::pin(self.work_off_next(queue))).await {
                tracing::error!(%channel, error = format!("{error:#}"), "a message could not be worked off");
                metrics::counter!("teamroom_errors_total", "where" => "channel").increment(1);
            }
            // Uses the lock that additions use, so that nothing is added to a queue without a task.
            let mut queues = self.queues();
            if queue.is_idle() {
                queues.remove(channel);
                return;
            }
        }
    }

    /// Waits until the turns of a channel are over.
    async fn await_turns(&self, channel: &ChannelId, queue: &ChannelQueue) {
        while queue.has_turns() {
            for message in queue.list_not_read_ahead() {
                if let Err(error) = self.read_ahead(message).await {
                    tracing::warn!(%channel, error = format!("{error:#}"), "a message is read when its turn comes");
                }
            }
            tokio::select! {
                () = queue.over() => {}
                () = queue.arrived() => {}
                () = self.deps().clock.sleep(if queue.has_message() { BEHIND_TURN } else { BACKSTOP }) => {
                    self.forget_ended_turns(channel, queue).await;
                }
                () = self.deps().stop.cancelled() => return,
            }
        }
    }

    /// Reads what a message brings for the team's knowledge, without waiting for the turns before it, which may take minutes. The decision on the message
    /// does it again, which changes nothing.
    async fn read_ahead(&self, mut message: InboundMessage) -> anyhow::Result<()> {
        let deps = self.deps();
        if self.kind_of(&message.channel) != ChannelKind::Knowledge {
            return Ok(());
        }
        let decision = self.route(&message).await?;
        let Some(effect) = deps.listeners.iter().find_map(|listener| listener.accompany(&message, &decision)) else { return Ok(()) };
        self.read_files(std::slice::from_mut(&mut message)).await?;
        let mut transaction = deps.store.db().begin().await?;
        effect.apply(&mut transaction, deps.clock.now()).await?;
        Ok(transaction.commit().await?)
    }

    pub(super) async fn forget_ended_turns(&self, channel: &ChannelId, queue: &ChannelQueue) {
        let changes = queue.changes();
        match self.deps().store.list_awaited_turns(channel, self.deps().clock.now()).await {
            Ok(open) => queue.retain_turns(changes, &open),
            Err(error) => tracing::warn!(%channel, %error, "whether turns are over cannot be read"),
        }
    }

    async fn work_off_next(&self, queue: &ChannelQueue) -> anyhow::Result<()> {
        self.await_burst(queue).await;
        if self.deps().stop.is_cancelled() {
            return Ok(());
        }
        let taken_at = self.deps().clock.now();
        let early = &self.inner.early;
        let edits = early.count();
        let burst: Vec<_> = queue.pop_burst(self.deps().chat.coalesce).into_iter().map(|message| early.apply_edits(message)).collect();
        let Some(first) = burst.first() else { return Ok(()) };
        let ids: Vec<_> = burst.iter().map(|message| message.id.clone()).collect();
        let span = info_span!("decision", message = %first.id);
        self.work_off_burst(burst, taken_at, queue).instrument(span).await?;
        // The decision did not read an edit that came meanwhile.
        for id in ids.iter().filter(|id| early.is_edited_since(edits, id)) {
            self.answer_again(id).await?;
        }
        Ok(())
    }

    async fn work_off_burst(&self, mut burst: Vec<InboundMessage>, taken_at: DateTime<Utc>, queue: &ChannelQueue) -> anyhow::Result<()> {
        for other in &burst[1..] {
            tracing::info!(id = %other.id, "decided together with the message before it");
        }
        let refused = self.read_files(&mut burst).await?;
        // The message was deleted on its way into the queue, or while its files were read.
        burst.retain(|message| !self.inner.early.is_deleted(&message.id));
        if burst.is_empty() {
            return Ok(());
        }
        self.decide(&burst, taken_at, refused, queue).await
    }

    /// Waits until the person has finished: the pause has passed, or another person spoke. Shows typing meanwhile.
    async fn await_burst(&self, queue: &ChannelQueue) {
        let deps = self.deps();
        let coalesce = deps.chat.coalesce;
        if coalesce.is_zero() {
            return;
        }
        if let Some(first) = queue.peek_message() {
            self.show_typing_early(first);
        }
        while let Some(burst) = queue.find_burst(coalesce) {
            let quiet = (deps.clock.now() - burst.last_arrival).to_std().unwrap_or(Duration::ZERO);
            if burst.closed || quiet >= coalesce {
                return;
            }
            tokio::select! {
                () = deps.clock.sleep(coalesce.saturating_sub(quiet)) => {}
                () = queue.arrived() => {}
                () = deps.stop.cancelled() => return,
            }
        }
    }
}
