//! Stores incoming messages. Each message is stored once, whichever identities receive it.
//!
//! `reading` fetches a message's files. `marks` notes how far each channel was heard. `backfill` fetches messages that were missed while offline,
//! `changes` edits and deletions. `recovery` resumes the work of an earlier process. The decision who answers is made elsewhere.

mod backfill;
mod changes;
mod early;
mod marks;
mod reading;
mod recording;
mod recovery;
mod undelivered;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tracing::{Instrument as _, Span, info_span};

pub(super) use backfill::Gaps;
pub(super) use early::EarlyChanges;
pub(super) use marks::Marks;

use crate::features::chat::Conversation;
use crate::features::chat::channel::ChannelQueue;
use crate::features::chat::model::decision::{Decision, Reason};
use crate::features::chat::rules::authorize::{Action, authorize};
use crate::features::chat::rules::router::{self, Calls};
use crate::features::chat::store::{CancelScope, Claim, Decided, Edited};
use kernel::agent::halts::HaltScope;
use kernel::chat::IdentityState;
use kernel::chat::message::{Author, AuthorKind, Channel, InboundMessage};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::db::StoreError;
use kernel::ids::{ChannelId, MessageId, PersonaSlug, UserId};

/// Minimum time between two reports of the same problem.
const TROUBLE_EVERY: Duration = Duration::from_hours(6);

/// How many things on hold a notice names.
const NAMED: usize = 10;

impl Conversation {
    /// Claims a message and puts it into its channel's queue. A duplicate does nothing.
    pub(super) async fn receive(&self, message: InboundMessage) -> anyhow::Result<()> {
        let deps = self.deps();
        // The team's own messages are already known from the outbox. Platform notices and other messages of foreign bots are ignored.
        match &message.author.kind {
            AuthorKind::Persona(_) | AuthorKind::System => return Ok(()),
            AuthorKind::ForeignBot if !deps.chat.allowed_bots.contains(&message.author.id) => return Ok(()),
            _ => {}
        }
        let now = deps.clock.now();
        let message = self.inner.early.apply_edits(message);
        let claim = self.persist("claiming a message", || deps.store.claim(&message, now)).await?;
        metrics::counter!("teamroom_messages_received_total", "claim" => claim_name(claim)).increment(1);
        if let Err(error) = self.note_heard(&message).await {
            // The mark stays where it was. The next start reads the messages after it again, and finds them known.
            tracing::warn!(id = %message.id, %error, "how far the channel was heard could not be noted");
        }
        if claim == Claim::Known {
            return Ok(());
        }
        // Without the content there is nothing to decide on. Another identity may see it, and then the span begins.
        let span =
            if message.complete { info_span!("message", message = %message.id, channel = %message.channel.id) } else { Span::none() };
        self.take_in(message, now).instrument(span).await
    }

    /// Puts a message that was claimed into its channel's queue.
    async fn take_in(&self, mut message: InboundMessage, now: DateTime<Utc>) -> anyhow::Result<()> {
        let deps = self.deps();
        // An edit or deletion that came before or during the claim found no row to change.
        if self.inner.early.is_deleted(&message.id) {
            return Ok(deps.store.record_deletion(&[message.id], now).await?);
        }
        let edited = self.inner.early.apply_edits(message.clone());
        if edited.text != message.text {
            deps.store.record_edit(&message.id, &edited.text, now).await?;
            message = edited;
        }
        if !message.complete {
            tracing::debug!(id = %message.id, persona = %message.seen_by, "seen without its content");
            return Ok(());
        }
        tracing::info!(persona = %message.seen_by, "heard");
        if self.is_stop(&message).await? {
            return self.take_stop(&message, now).await;
        }
        self.enqueue_message(message, now);
        Ok(())
    }

    pub(super) fn enqueue_message(&self, message: InboundMessage, arrived_at: DateTime<Utc>) {
        let calls = router::find_calls(&message.text, &self.deps().roster, &self.accounts());
        let alone = self.deps().listeners.iter().any(|listener| listener.recognises(&message));
        self.with_queue(&message.channel.id.clone(), |queue| queue.push(message, arrived_at, calls, alone));
    }

    /// STOP is checked first, and works while the channel's queue is busy. A stop that is addressed to another person does not count. "Cancel that" is
    /// one while an answer is being made. Otherwise it is about something else, and a persona answers it.
    pub(super) async fn is_stop(&self, message: &InboundMessage) -> Result<bool, StoreError> {
        let (deps, accounts) = (self.deps(), self.accounts());
        let is_answering = || self.queues().get(&message.channel.id).is_some_and(|queue| queue.has_turns());
        let says_stop = message.author.kind == AuthorKind::Person
            && (router::is_stop(&message.text, &deps.chat.stop_phrases, &deps.roster, &accounts)
                || (router::calls_off(&message.text, &deps.roster, &accounts) && is_answering()))
            && authorize(Action::Speak, &message.author, &message.channel, &deps.chat).is_ok();
        let Some(reply) = message.reply_to.as_ref().filter(|_| says_stop) else { return Ok(says_stop) };
        let author = reply.author.as_ref();
        let to_team = author == Some(&message.author.id)
            || author.is_some_and(|author| accounts.find(author).is_some())
            || router::find_calls(&message.text, &deps.roster, &accounts) != Calls::Nobody
            // The replied message may be from a persona that posts through a shared account.
            || deps.store.find_by_platform_id(&reply.message).await?.is_some();
        Ok(to_team)
    }

    pub(super) async fn take_stop(&self, message: &InboundMessage, now: DateTime<Utc>) -> anyhow::Result<()> {
        let channel = &message.channel.id;
        self.silence(channel, &message.author.name, now).await?;
        let notice = self.stopped_notice(channel).await?;
        self.decide_stopped(&message.id, &[notice], now).await?;
        tracing::info!(id = %message.id, %channel, "a person said stop");
        Ok(())
    }

    /// A second press finds the channel silent already, and is not answered.
    pub(super) async fn take_stop_press(&self, author: &Author, channel: &Channel) -> anyhow::Result<()> {
        let deps = self.deps();
        let may = authorize(Action::Speak, author, channel, &deps.chat).is_ok();
        if may && !self.is_halted_in(&channel.id) {
            self.silence(&channel.id, &author.name, deps.clock.now()).await?;
            self.post(self.stopped_notice(&channel.id).await?).await?;
            tracing::info!(channel = %channel.id, "a person pressed stop");
        }
        Ok(())
    }

    /// Silences a channel: cancels running turns, decided turns and earlier messages. Running turns are cancelled before the first await.
    async fn silence(&self, channel: &ChannelId, by: &str, now: DateTime<Utc>) -> Result<(), StoreError> {
        self.cancel_running(|running| running.channel == *channel);
        let unheard = self.queues().get(channel).map(|queue| queue.pop_messages()).unwrap_or_default();
        self.inner.halts.set(HaltScope::Channel(channel.clone()), by, now).await?;
        self.cancel_turns(CancelScope::Channel(channel), "a person said stop").await?;
        for before in &unheard {
            self.decide_stopped(&before.id, &[], now).await?;
        }
        Ok(())
    }

    async fn decide_stopped(&self, message: &MessageId, outbox: &[OutboundMessage], now: DateTime<Utc>) -> Result<(), StoreError> {
        let decision = &Decision::nobody(Reason::Stop);
        let messages = std::slice::from_ref(message);
        self.deps().store.decide(&Decided { messages, decision, turns: &[], asks: &[], outbox, effect: None, at: now }).await?;
        Ok(())
    }

    /// Names the work that the halt holds. A run after a crash names the same.
    async fn stopped_notice(&self, channel: &ChannelId) -> Result<OutboundMessage, StoreError> {
        let mut work = Vec::new();
        for listener in &self.deps().listeners {
            work.extend(listener.list_work(channel).await?);
        }
        let more = work.len().saturating_sub(NAMED);
        work.truncate(NAMED);
        work.extend((more > 0).then(|| format!("{more} more")));
        let text = if work.is_empty() {
            "Stopped. We are quiet here until you speak to one of us again.".to_owned()
        } else {
            format!(
                "Stopped. On hold: {}. Nothing is lost: we are quiet here, and go on with it when you speak to one of us again. `/backlog cancel` ends an \
                 item for good.",
                work.join("; ")
            )
        };
        Ok(Self::notice(&self.deps().roster.coordinator().slug, channel, text))
    }

    /// An edit counts until the answer is stored. A later edit does not change an answer. But if nobody answers, an edit that calls a persona may start
    /// an answer.
    pub(super) async fn take_edit(&self, id: &MessageId, text: Option<String>, at: DateTime<Utc>) -> anyhow::Result<()> {
        let Some(text) = text else { return Ok(()) };
        self.inner.early.note_edit(id, &text);
        if self.store_edit(id, &text, at).await? == Edited::Context {
            self.take_second_thought(id).await?;
        }
        Ok(())
    }

    /// Removes deleted messages from the queue and from the context.
    pub(super) async fn take_deletion(&self, ids: &[MessageId], channel: &ChannelId) -> anyhow::Result<()> {
        let deps = self.deps();
        let now = deps.clock.now();
        self.inner.early.note_deletion(ids);
        deps.store.record_deletion(ids, now).await?;
        if let Some(queue) = self.queues().get(channel) {
            queue.remove(ids);
        }
        self.cancel_running(|running| ids.contains(&running.message));
        for id in ids {
            self.cancel_turns(CancelScope::Message(id), "the message was deleted").await?;
        }
        Ok(())
    }

    /// An identity is online: stores its account, sends its pending messages and fetches missed messages.
    pub(super) async fn take_ready(&self, persona: PersonaSlug, account: UserId) -> anyhow::Result<()> {
        let deps = self.deps();
        deps.store.record_identity(&persona, &account, deps.clock.now()).await?;
        self.inner.accounts.write().expect("no code panics while it holds the accounts").record(account, persona.clone());
        if deps.roster.find(&persona).is_some_and(|persona| self.inner.halts.is_paused(&persona.slug)) {
            deps.platform.set_presence(&persona, kernel::chat::Presence::Paused).await;
        }
        self.look_for_gaps().await?;
        Ok(())
    }

    /// Posts to the ops channel, at most once per interval. Runs in its own task, because the channel may not be known yet.
    pub fn tell_operators_soon(&self, key: String, text: String) {
        let conversation = self.clone();
        self.deps().tasks.spawn(async move {
            let stop = conversation.deps().stop.clone();
            tokio::select! {
                told = conversation.tell_operators(&key, text) => {
                    if let Err(error) = told {
                        tracing::warn!(%error, "operators could not be told");
                    }
                }
                () = stop.cancelled() => {}
            }
        });
    }

    /// Without an ops channel in which anybody can post, the server's owner is told.
    async fn tell_operators(&self, key: &str, text: String) -> Result<(), StoreError> {
        let deps = self.deps();
        let coordinator = &deps.roster.coordinator().slug;
        let ops = deps.platform.find_channel(&deps.ops_channel).await.filter(|ops| self.can_be_told_in(ops));
        let owner = || deps.platform.owner().map(|owner| OutboundMessage::direct(coordinator, &owner, OutboundKind::Notice, &text));
        let Some(message) = ops.map(|ops| Self::notice(coordinator, &ops, &text)).or_else(owner) else { return Ok(()) };
        if deps.store.claim_notice(key, deps.clock.now(), TROUBLE_EVERY).await? {
            self.post(message).await?;
        }
        Ok(())
    }

    /// False once every identity was refused there.
    fn can_be_told_in(&self, ops: &ChannelId) -> bool {
        // Nobody is online yet, or the platform does not say. The relay finds out when it posts.
        let nobody = self.deps().platform.identities().iter().all(|identity| identity.state != IdentityState::Ready);
        nobody || self.deps().platform.find_speaker(ops, &PersonaSlug::new("")).is_some()
    }

    /// Passes the queue of a channel to `hand`. Starts the channel's task if none is running.
    pub(super) fn with_queue(&self, channel: &ChannelId, hand: impl FnOnce(&ChannelQueue)) -> Arc<ChannelQueue> {
        let mut queues = self.queues();
        if let Some(queue) = queues.get(channel) {
            hand(queue);
            return queue.clone();
        }
        let queue = Arc::new(ChannelQueue::default());
        hand(&queue);
        queues.insert(channel.clone(), queue.clone());
        drop(queues);
        let (conversation, channel, of_task) = (self.clone(), channel.clone(), queue.clone());
        self.deps().tasks.spawn(async move { conversation.work_off(&channel, &of_task).await });
        queue
    }
}

fn claim_name(claim: Claim) -> &'static str {
    match claim {
        Claim::New => "new",
        Claim::Completed => "completed",
        Claim::Known => "known",
    }
}
