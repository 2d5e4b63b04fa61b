//! Edits and deletions that nobody reported, because no identity of the team was connected, and edits that call a persona.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};

use crate::features::chat::Conversation;
use crate::features::chat::listener::Taken;
use crate::features::chat::model::decision::Reason;
use crate::features::chat::store::{Edit, Edited};
use kernel::chat::SendError;
use kernel::chat::attachments;
use kernel::chat::message::InboundMessage;
use kernel::db::StoreError;
use kernel::ids::{ChannelId, MessageId};

/// The number of lines in a prompt.
const LINES: u32 = 30;
/// The most files of a channel that are checked, and their greatest age. Older files are looked up when somebody asks for them.
const FILES: u32 = 60;
const FILE_AGE: TimeDelta = TimeDelta::hours(24);
/// How much of a channel is read back. Older messages are looked up one by one.
const PAGE: usize = 100;
const PAGES: usize = 3;
const LOOK_UPS: usize = 40;
/// How many deletions are stored in one transaction.
const DELETED_AT_ONCE: usize = 5;
/// The time in which somebody may edit a forgotten name into a message.
const SECOND_THOUGHT: TimeDelta = TimeDelta::minutes(1);

impl Conversation {
    /// Compares the messages in a channel's context with those on the platform.
    pub(super) async fn catch_up_changes(&self, channel: &ChannelId) -> anyhow::Result<Result<(), SendError>> {
        let known = self.list_context(channel).await?;
        let Some(oldest) = known.first() else { return Ok(Ok(())) };
        let platform = &self.deps().platform;
        let mut found: HashMap<MessageId, InboundMessage> = HashMap::new();
        let mut after = oldest.clone();
        for _ in 0..PAGES {
            let page = match platform.list_messages_after(channel, &after, PAGE).await {
                Ok(page) => page,
                Err(error) => return Ok(Err(error)),
            };
            let Some(last) = page.last() else { break };
            after = last.id.clone();
            let is_full = page.len() == PAGE;
            found.extend(page.into_iter().map(|message| (message.id.clone(), message)));
            if !is_full {
                break;
            }
        }
        let (mut gone, mut look_ups) = (Vec::new(), LOOK_UPS);
        for id in known {
            if let Some(message) = found.get(&id) {
                self.compare(message).await?;
            } else if look_ups > 0 {
                look_ups -= 1;
                match platform.find_message(channel, &id).await {
                    Ok(Some(message)) => self.compare(&message).await?,
                    Ok(None) => gone.push(id),
                    // The platform, or this channel, does not provide it.
                    Err(SendError::Refused(_)) => look_ups = 0,
                    Err(error) => return Ok(Err(error)),
                }
            }
        }
        if !gone.is_empty() {
            tracing::info!(%channel, count = gone.len(), "messages were deleted while nobody was connected");
            // In pieces, so that answers are not held up by many.
            for piece in gone.chunks(DELETED_AT_ONCE) {
                self.take_deletion(piece, channel).await?;
            }
        }
        Ok(Ok(()))
    }

    /// The messages whose text or files may be in the next prompt, oldest first.
    async fn list_context(&self, channel: &ChannelId) -> anyhow::Result<Vec<MessageId>> {
        let store = &self.deps().store;
        let since = self.deps().clock.now() - FILE_AGE;
        let lines = store.list_spoken(channel, LINES).await?.into_iter().filter_map(|line| Some((line.at, line.message?)));
        let files = store.list_channel_files(channel, None, FILES).await?.into_iter();
        let files = files.filter(|file| file.at >= since).map(|file| (file.at, file.message));
        let mut known: Vec<(DateTime<Utc>, MessageId)> = lines.chain(files).collect();
        known.sort();
        let mut seen = HashSet::new();
        Ok(known.into_iter().map(|(_, id)| id).filter(|id| seen.insert(id.clone())).collect())
    }

    /// Stores the current text of a message. The time of its edit is unknown, so the edit calls nobody.
    async fn compare(&self, message: &InboundMessage) -> anyhow::Result<()> {
        let Some(row) = self.deps().store.find_message(&message.id).await? else { return Ok(()) };
        if message.complete && row.deleted_at.is_none() && !says_the_same(&row.message, &message.text) {
            let at = row.edited_at.unwrap_or(row.message.sent_at);
            self.store_edit(&message.id, &message.text, at).await?;
        }
        Ok(())
    }

    /// Stores an edit, and begins the answer again if it is being made.
    pub(super) async fn store_edit(&self, id: &MessageId, text: &str, at: DateTime<Utc>) -> anyhow::Result<Edited> {
        let deps = self.deps();
        let follows = self.reconsider(id, text).await?;
        let outbox: Vec<_> = follows.iter().filter_map(|follows| follows.reply.clone()).collect();
        let effect = follows.as_ref().and_then(|follows| follows.effect.as_deref());
        let edit = Edit { message: id, text, at, reopens: self.is_young(id).await? };
        let store = || deps.store.record_edit_with(&edit, (effect, &outbox), deps.clock.now());
        let edited = self.persist("storing an edit", store).await?;
        if edited == Edited::Waits {
            self.queues().values().for_each(|queue| queue.edit(id, text));
        }
        self.follow_edit(&edited);
        Ok(edited)
    }

    /// Whether a message is young enough for another decision.
    async fn is_young(&self, id: &MessageId) -> Result<bool, StoreError> {
        let deps = self.deps();
        let Some(row) = deps.store.find_message(id).await? else { return Ok(false) };
        Ok((deps.clock.now() - row.message.sent_at).to_std().map_or(true, |age| age <= deps.chat.max_age))
    }

    /// Begins the answer to a message again, because it was edited while it was decided on. If nobody answers it, the edit may call a persona.
    pub(crate) async fn answer_again(&self, id: &MessageId) -> anyhow::Result<()> {
        let deps = self.deps();
        let edited = self.persist("taking an answer back", || deps.store.take_answer_back(id, deps.clock.now())).await?;
        self.follow_edit(&edited);
        if edited == Edited::Context { self.take_second_thought(id).await } else { Ok(()) }
    }

    /// Stops the answers that an edit has ended, and takes up what follows from it.
    fn follow_edit(&self, edited: &Edited) {
        let (cancelled, turns, messages) = match edited {
            Edited::Waits | Edited::Context => return,
            Edited::Reopened { cancelled, messages } => (cancelled, &[][..], messages.as_slice()),
            Edited::Renewed { cancelled, turns } => (cancelled, turns.as_slice(), &[][..]),
        };
        tracing::info!(turns = cancelled.len(), reopened = messages.len(), "an edit begins an answer again");
        for turn in turns {
            self.with_queue(&turn.channel, |queue| queue.open_turns([&turn.id]));
        }
        for message in messages {
            self.enqueue_message(message.clone(), self.deps().clock.now());
        }
        self.running().iter().filter(|(turn, _)| cancelled.contains(turn)).for_each(|(_, running)| running.cancel.cancel());
        self.close_turns(cancelled);
    }

    /// The consequences of an edit for the feature that took the message.
    async fn reconsider(&self, id: &MessageId, text: &str) -> anyhow::Result<Option<Taken>> {
        let deps = self.deps();
        let Some(row) = deps.store.find_message(id).await? else { return Ok(None) };
        let was_taken = row.decision.is_some_and(|decision| decision.taken.is_some());
        if !was_taken || row.deleted_at.is_some() || row.message.text == text {
            return Ok(None);
        }
        let edited = InboundMessage { text: text.to_owned(), ..row.message };
        for listener in &deps.listeners {
            if let Some(follows) = listener.reconsider(&edited).await? {
                return Ok(Some(follows));
            }
        }
        Ok(None)
    }

    /// Makes a new decision on a message that nobody was to answer, if an edit within a minute calls a persona.
    pub(crate) async fn take_second_thought(&self, id: &MessageId) -> anyhow::Result<()> {
        let store = &self.deps().store;
        let Some(row) = store.find_message(id).await? else { return Ok(()) };
        let is_open = row.decision.is_some_and(|decision| decision.responders.is_empty() && decision.taken.is_none());
        let is_quick = row.edited_at.is_some_and(|at| at - row.message.sent_at <= SECOND_THOUGHT);
        if !is_open || !is_quick || row.deleted_at.is_some() {
            return Ok(());
        }
        let decision = self.route(&row.message).await?;
        if matches!(decision.reason, Reason::Mentioned | Reason::Named) && store.reopen(id).await? {
            tracing::info!(%id, "an edit calls a persona");
            self.enqueue_message(row.message, self.deps().clock.now());
        }
        Ok(())
    }
}

/// Whether the stored text matches that on the platform. The words of a recording are stored below the typed text.
fn says_the_same(stored: &InboundMessage, text: &str) -> bool {
    let is_spoken = || !attachments::select_recordings(&stored.attachments).is_empty();
    stored.text == text || (is_spoken() && stored.text.starts_with(text))
}
