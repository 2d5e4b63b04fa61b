//! The waiting messages and open turns of one channel, in arrival order.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::Notify;

use kernel::chat::message::InboundMessage;
use kernel::ids::{MessageId, TurnId};

/// The longest burst that becomes one turn. A person who never pauses is still answered.
const LONGEST_BURST: usize = 10;

/// A message that waits for a decision.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) message: InboundMessage,
    pub(crate) arrived_at: DateTime<Utc>,
    /// The message calls somebody, so it starts a new burst.
    pub(crate) calls: bool,
    /// The message is a request that a feature carries out, such as "remind me …". No other message joins it.
    pub(crate) alone: bool,
}

/// The waiting messages and open turns of one channel. One task decides on the messages. Others add, edit and remove them.
#[derive(Debug, Default)]
pub(crate) struct ChannelQueue {
    state: Mutex<State>,
    /// Notified when a message arrives.
    arrived: Notify,
    /// Notified when a turn ends.
    over: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    turns: HashSet<TurnId>,
    /// How often `turns` was changed.
    changes: u64,
}

/// The burst at the front of the queue: consecutive messages of one person.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BurstState {
    pub(crate) last_arrival: DateTime<Utc>,
    /// No further message can join: it is a request, another person has spoken, or the burst has its maximum length.
    pub(crate) closed: bool,
}

impl ChannelQueue {
    pub(crate) fn push(&self, waiting: Waiting) {
        self.lock().waiting.push_back(waiting);
        self.arrived.notify_one();
    }

    pub(crate) fn is_idle(&self) -> bool {
        let state = self.lock();
        state.waiting.is_empty() && state.turns.is_empty()
    }

    /// True when a person's message waits. Agents then interrupt their talk.
    pub(crate) fn has_message(&self) -> bool {
        !self.lock().waiting.is_empty()
    }

    /// Waits until a message is added. May return early, so callers check again.
    pub(crate) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Registers open turns. New turns are registered before they are stored, because a turn may end right after that.
    pub(crate) fn open_turns<'a>(&self, turns: impl IntoIterator<Item = &'a TurnId>) {
        let mut state = self.lock();
        state.turns.extend(turns.into_iter().cloned());
        state.changes += 1;
    }

    pub(crate) fn close_turns<'a>(&self, turns: impl IntoIterator<Item = &'a TurnId>) {
        let mut state = self.lock();
        for turn in turns {
            state.turns.remove(turn);
        }
        state.changes += 1;
        drop(state);
        self.over.notify_one();
    }

    pub(crate) fn has_turns(&self) -> bool {
        !self.lock().turns.is_empty()
    }

    /// Waits until a turn ends. May return early, so callers check again.
    pub(crate) async fn over(&self) {
        self.over.notified().await;
    }

    /// The change counter for [`Self::retain_turns`].
    pub(crate) fn changes(&self) -> u64 {
        self.lock().changes
    }

    /// Drops all turns except those that are `open` in the database. The caller reads `changes` before it reads the database. Does nothing if the
    /// counter has changed since.
    pub(crate) fn retain_turns(&self, changes: u64, open: &[TurnId]) {
        let mut state = self.lock();
        if state.changes == changes {
            state.turns.retain(|turn| open.contains(turn));
        }
        drop(state);
        self.over.notify_one();
    }

    /// The state of the burst at the front. `None` without a message.
    pub(crate) fn find_burst(&self, pause: Duration) -> Option<BurstState> {
        let waiting = &self.lock().waiting;
        let burst = burst_length(waiting, pause);
        let last = waiting.get(burst.checked_sub(1)?)?;
        Some(BurstState { last_arrival: last.arrived_at, closed: last.alone || burst < waiting.len() || burst >= LONGEST_BURST })
    }

    /// A copy of the message at the front, for the early typing indicator. None for a request, which is answered at once.
    pub(crate) fn peek_message(&self) -> Option<InboundMessage> {
        self.lock().waiting.front().filter(|waiting| !waiting.alone).map(|waiting| waiting.message.clone())
    }

    /// Takes the burst at the front: at least one message, unless all were deleted meanwhile. Without a `pause` it takes one message.
    pub(crate) fn pop_burst(&self, pause: Duration) -> Vec<InboundMessage> {
        let waiting = &mut self.lock().waiting;
        let length = burst_length(waiting, pause);
        waiting.drain(..length).map(|waiting| waiting.message).collect()
    }

    /// Takes all waiting messages.
    pub(crate) fn pop_messages(&self) -> Vec<InboundMessage> {
        self.lock().waiting.drain(..).map(|waiting| waiting.message).collect()
    }

    /// Replaces the text of a message that still waits.
    pub(crate) fn edit(&self, id: &MessageId, text: &str) {
        for waiting in self.lock().waiting.iter_mut().filter(|waiting| waiting.message.id == *id) {
            text.clone_into(&mut waiting.message.text);
        }
    }

    /// Removes deleted messages, so that they are not answered.
    pub(crate) fn remove(&self, ids: &[MessageId]) {
        self.lock().waiting.retain(|waiting| !ids.contains(&waiting.message.id));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no code panics while it holds a channel's queue")
    }
}

/// The number of messages at the front that form one burst: the same author, no new address by name, no request of its own, and no gap longer
/// than `pause`. Uses the platform's timestamps, because messages that are fetched later arrive all at once.
fn burst_length(waiting: &VecDeque<Waiting>, pause: Duration) -> usize {
    let mut before: Option<&Waiting> = None;
    waiting
        .iter()
        .take(if pause.is_zero() { 1 } else { LONGEST_BURST })
        .take_while(|waiting| {
            let goes_on = |before: &InboundMessage, message: &InboundMessage| {
                let gap = (message.sent_at - before.sent_at).abs().to_std().unwrap_or(Duration::MAX);
                message.author.id == before.author.id && gap <= pause
            };
            let joins = |before: &Waiting| !waiting.calls && !waiting.alone && !before.alone && goes_on(&before.message, &waiting.message);
            let belongs = before.is_none_or(joins);
            before = Some(waiting);
            belongs
        })
        .count()
}
