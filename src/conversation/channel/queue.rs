//! What waits in one channel, in arrival order.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use chrono::{DateTime, Utc};
use tokio::sync::Notify;

use crate::domain::ids::{MessageId, UserId};
use crate::domain::message::InboundMessage;
use crate::domain::turn::Turn;

/// The longest burst that becomes one turn; somebody who never pauses is answered all the same.
const LONGEST_BURST: usize = 10;

/// Something to be dealt with in a channel.
#[derive(Debug)]
pub(in crate::conversation) enum Waiting {
    Message {
        message: Box<InboundMessage>,
        arrived_at: DateTime<Utc>,
    },
    /// A turn that an earlier process left open.
    Turn(Box<Turn>),
}

/// The queue of one channel. One task works it off; others add, edit and remove.
#[derive(Debug, Default)]
pub(in crate::conversation) struct ChannelQueue {
    waiting: Mutex<VecDeque<Waiting>>,
    arrived: Notify,
}

/// The messages at the front that one person wrote in one go.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::conversation) struct BurstState {
    pub(in crate::conversation) last_arrival: DateTime<Utc>,
    /// Nothing more can join it: somebody else has spoken, or it is long enough.
    pub(in crate::conversation) closed: bool,
}

impl ChannelQueue {
    pub(in crate::conversation) fn push(&self, waiting: Waiting) {
        self.lock().push_back(waiting);
        self.arrived.notify_one();
    }

    pub(in crate::conversation) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// True when a person waits to be heard, for whom agents interrupt their talk.
    pub(in crate::conversation) fn has_message(&self) -> bool {
        self.lock().iter().any(|waiting| matches!(waiting, Waiting::Message { .. }))
    }

    /// Waits until something was added. May return early; callers look again.
    pub(in crate::conversation) async fn arrived(&self) {
        self.arrived.notified().await;
    }

    /// Takes a recovered turn from the front, if that is what stands there.
    pub(in crate::conversation) fn pop_turn(&self) -> Option<Turn> {
        let mut waiting = self.lock();
        match waiting.front() {
            Some(Waiting::Turn(_)) => match waiting.pop_front() {
                Some(Waiting::Turn(turn)) => Some(*turn),
                _ => None,
            },
            _ => None,
        }
    }

    /// How the burst at the front stands; `None` when no message is there.
    pub(in crate::conversation) fn find_burst(&self) -> Option<BurstState> {
        let waiting = self.lock();
        let burst = burst_length(&waiting);
        let Some(Waiting::Message { arrived_at, .. }) = burst.checked_sub(1).and_then(|last| waiting.get(last)) else { return None };
        Some(BurstState { last_arrival: *arrived_at, closed: burst < waiting.len() || burst >= LONGEST_BURST })
    }

    /// A copy of the message at the front, for showing early who will answer.
    pub(in crate::conversation) fn peek_message(&self) -> Option<InboundMessage> {
        match self.lock().front() {
            Some(Waiting::Message { message, .. }) => Some((**message).clone()),
            _ => None,
        }
    }

    /// Takes the burst at the front: at least one message, unless all were deleted meanwhile. Without `coalesce` it is one message.
    pub(in crate::conversation) fn pop_burst(&self, coalesce: bool) -> Vec<InboundMessage> {
        let mut waiting = self.lock();
        let length = burst_length(&waiting).min(if coalesce { LONGEST_BURST } else { 1 });
        waiting
            .drain(..length)
            .filter_map(|waiting| match waiting {
                Waiting::Message { message, .. } => Some(*message),
                Waiting::Turn(_) => None,
            })
            .collect()
    }

    /// An edited message that still waits is taken as edited.
    pub(in crate::conversation) fn edit(&self, id: &MessageId, text: &str) {
        for waiting in self.lock().iter_mut() {
            if let Waiting::Message { message, .. } = waiting
                && message.id == *id
            {
                text.clone_into(&mut message.text);
            }
        }
    }

    /// A deleted message is not answered.
    pub(in crate::conversation) fn remove(&self, ids: &[MessageId]) {
        self.lock().retain(|waiting| !matches!(waiting, Waiting::Message { message, .. } if ids.contains(&message.id)));
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.waiting.lock().expect("no code panics while it holds a channel's queue")
    }
}

/// How many messages at the front come from one person without anybody else between.
fn burst_length(waiting: &VecDeque<Waiting>) -> usize {
    let mut author: Option<&UserId> = None;
    waiting
        .iter()
        .take(LONGEST_BURST)
        .take_while(|waiting| match waiting {
            Waiting::Message { message, .. } => *author.get_or_insert(&message.author.id) == &message.author.id,
            Waiting::Turn(_) => false,
        })
        .count()
}
