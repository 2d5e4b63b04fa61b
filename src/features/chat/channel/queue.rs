//! What goes on in one channel, in arrival order.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::Notify;

use kernel::chat::message::InboundMessage;
use kernel::ids::{MessageId, TurnId};

/// The longest burst that becomes one turn; somebody who never pauses is answered all the same.
const LONGEST_BURST: usize = 10;

/// A message that is to be decided on.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) message: InboundMessage,
    pub(crate) arrived_at: DateTime<Utc>,
    /// It calls somebody by name, so it does not go on with what was written before it.
    pub(crate) calls: bool,
}

/// What goes on in one channel: messages that wait, and turns that are not over. One task decides on the messages; others add, edit and remove.
#[derive(Debug, Default)]
pub(crate) struct ChannelQueue {
    state: Mutex<State>,
    /// A message has arrived.
    arrived: Notify,
    /// A turn is over.
    over: Notify,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    turns: HashSet<TurnId>,
    /// How often `turns` was changed.
    changes: u64,
}

/// The messages at the front that one person wrote in one go.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BurstState {
    pub(crate) last_arrival: DateTime<Utc>,
    /// Nothing more can join it: somebody else has spoken, or it is long enough.
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

    /// True when a person waits to be heard, for whom agents interrupt their talk.
    pub(crate) fn has_message(&self) -> bool {
        !self.lock().waiting.is_empty()
    }

    /// Waits until a message was added. May return early; callers look again.
    pub(crate) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Notes turns that are going to be stored, or are. Before they are stored, because they may be over right after that.
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

    /// Waits until a turn is over. May return early; callers look again.
    pub(crate) async fn over(&self) {
        self.over.notified().await;
    }

    /// For [`Self::retain_turns`].
    pub(crate) fn changes(&self) -> u64 {
        self.lock().changes
    }

    /// Forgets all turns but those that are `open` in the store, which was read after `changes`. Does nothing if something has changed since.
    pub(crate) fn retain_turns(&self, changes: u64, open: &[TurnId]) {
        let mut state = self.lock();
        if state.changes == changes {
            state.turns.retain(|turn| open.contains(turn));
        }
    }

    /// How the burst at the front stands; `None` when no message is there.
    pub(crate) fn find_burst(&self, pause: Duration) -> Option<BurstState> {
        let waiting = &self.lock().waiting;
        let burst = burst_length(waiting, pause);
        let last = waiting.get(burst.checked_sub(1)?)?;
        Some(BurstState { last_arrival: last.arrived_at, closed: burst < waiting.len() || burst >= LONGEST_BURST })
    }

    /// A copy of the message at the front, for showing early who will answer.
    pub(crate) fn peek_message(&self) -> Option<InboundMessage> {
        self.lock().waiting.front().map(|waiting| waiting.message.clone())
    }

    /// Takes the burst at the front: at least one message, unless all were deleted meanwhile. Without a `pause` it is one message.
    pub(crate) fn pop_burst(&self, pause: Duration) -> Vec<InboundMessage> {
        let waiting = &mut self.lock().waiting;
        let length = burst_length(waiting, pause);
        waiting.drain(..length).map(|waiting| waiting.message).collect()
    }

    /// Takes every message that waits.
    pub(crate) fn pop_messages(&self) -> Vec<InboundMessage> {
        self.lock().waiting.drain(..).map(|waiting| waiting.message).collect()
    }

    /// An edited message that still waits is taken as edited.
    pub(crate) fn edit(&self, id: &MessageId, text: &str) {
        for waiting in self.lock().waiting.iter_mut().filter(|waiting| waiting.message.id == *id) {
            text.clone_into(&mut waiting.message.text);
        }
    }

    /// A deleted message is not answered.
    pub(crate) fn remove(&self, ids: &[MessageId]) {
        self.lock().waiting.retain(|waiting| !ids.contains(&waiting.message.id));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no code panics while it holds a channel's queue")
    }
}

/// How many messages at the front one person wrote in one go: nobody else between, nobody called anew, and no pause longer than
/// `pause`. The platform's times count,
/// since messages that were fetched later arrive all at once.
fn burst_length(waiting: &VecDeque<Waiting>, pause: Duration) -> usize {
    let mut before: Option<&InboundMessage> = None;
    waiting
        .iter()
        .take(if pause.is_zero() { 1 } else { LONGEST_BURST })
        .take_while(|Waiting { message, calls, .. }| {
            let goes_on = |before: &InboundMessage| {
                let gap = (message.sent_at - before.sent_at).abs().to_std().unwrap_or(Duration::MAX);
                message.author.id == before.author.id && gap <= pause
            };
            let belongs = before.is_none_or(|before| !calls && goes_on(before));
            before = Some(message);
            belongs
        })
        .count()
}
