//! What waits in one channel, in arrival order.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::Notify;

use kernel::agent::turn::Turn;
use kernel::chat::message::InboundMessage;
use kernel::ids::MessageId;

/// The longest burst that becomes one turn; somebody who never pauses is answered all the same.
const LONGEST_BURST: usize = 10;

/// Something to be dealt with in a channel.
#[derive(Debug)]
pub(crate) enum Waiting {
    Message {
        message: Box<InboundMessage>,
        arrived_at: DateTime<Utc>,
        /// It calls somebody by name, so it does not go on with what was written before it.
        calls: bool,
    },
    /// A turn that an earlier process left open.
    Turn(Box<Turn>),
}

impl Waiting {
    fn into_message(self) -> Option<InboundMessage> {
        match self {
            Self::Message { message, .. } => Some(*message),
            Self::Turn(_) => None,
        }
    }
}

/// The queue of one channel. One task works it off; others add, edit and remove.
#[derive(Debug, Default)]
pub(crate) struct ChannelQueue {
    waiting: Mutex<VecDeque<Waiting>>,
    arrived: Notify,
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
        self.lock().push_back(waiting);
        self.arrived.notify_one();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// True when a person waits to be heard, for whom agents interrupt their talk.
    pub(crate) fn has_message(&self) -> bool {
        self.lock().iter().any(|waiting| matches!(waiting, Waiting::Message { .. }))
    }

    /// Waits until something was added. May return early; callers look again.
    pub(crate) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Takes the recovered turns at the front; they belong together as they stand.
    pub(crate) fn pop_turns(&self) -> VecDeque<Turn> {
        let mut waiting = self.lock();
        let mut turns = VecDeque::new();
        while let Some(Waiting::Turn(turn)) = waiting.pop_front_if(|next| matches!(next, Waiting::Turn(_))) {
            turns.push_back(*turn);
        }
        turns
    }

    /// How the burst at the front stands; `None` when no message is there.
    pub(crate) fn find_burst(&self, pause: Duration) -> Option<BurstState> {
        let waiting = self.lock();
        let burst = burst_length(&waiting, pause);
        let Some(Waiting::Message { arrived_at, .. }) = burst.checked_sub(1).and_then(|last| waiting.get(last)) else { return None };
        Some(BurstState { last_arrival: *arrived_at, closed: burst < waiting.len() || burst >= LONGEST_BURST })
    }

    /// A copy of the message at the front, for showing early who will answer.
    pub(crate) fn peek_message(&self) -> Option<InboundMessage> {
        match self.lock().front() {
            Some(Waiting::Message { message, .. }) => Some((**message).clone()),
            _ => None,
        }
    }

    /// Takes the burst at the front: at least one message, unless all were deleted meanwhile. Without a `pause` it is one message.
    pub(crate) fn pop_burst(&self, pause: Duration) -> Vec<InboundMessage> {
        let mut waiting = self.lock();
        let length = burst_length(&waiting, pause);
        waiting.drain(..length).filter_map(Waiting::into_message).collect()
    }

    /// Takes every message that waits; turns stay, since their rows say what becomes of them.
    pub(crate) fn pop_messages(&self) -> Vec<InboundMessage> {
        let mut waiting = self.lock();
        let (messages, turns): (Vec<_>, Vec<_>) = waiting.drain(..).partition(|waiting| matches!(waiting, Waiting::Message { .. }));
        waiting.extend(turns);
        messages.into_iter().filter_map(Waiting::into_message).collect()
    }

    /// An edited message that still waits is taken as edited.
    pub(crate) fn edit(&self, id: &MessageId, text: &str) {
        for waiting in self.lock().iter_mut() {
            if let Waiting::Message { message, .. } = waiting
                && message.id == *id
            {
                text.clone_into(&mut message.text);
            }
        }
    }

    /// A deleted message is not answered.
    pub(crate) fn remove(&self, ids: &[MessageId]) {
        self.lock().retain(|waiting| !matches!(waiting, Waiting::Message { message, .. } if ids.contains(&message.id)));
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.waiting.lock().expect("no code panics while it holds a channel's queue")
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
        .take_while(|waiting| {
            let Waiting::Message { message, calls, .. } = waiting else { return false };
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
