//! Connects the relay to the transactions that add rows to the outbox, so that a message leaves without polling.

use std::fmt;
use std::sync::{Mutex, PoisonError, Weak};

use super::relay::{Inner, OUTBOX, Relay};
use crate::chat::outbound::OutboundMessage;
use crate::db::Transaction;

/// The relay of this process, once it exists. One per open database.
#[derive(Default)]
pub(crate) struct NewRows {
    relay: Mutex<Weak<Inner>>,
}

impl NewRows {
    pub(super) fn set_relay(&self, relay: Weak<Inner>) {
        *self.relay.lock().unwrap_or_else(PoisonError::into_inner) = relay;
    }

    fn relay(&self) -> Option<Relay> {
        self.relay.lock().unwrap_or_else(PoisonError::into_inner).upgrade().map(Relay::from)
    }
}

impl fmt::Debug for NewRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewRows")
    }
}

/// Wakes the relay after the commit, in this process or in the one that has it.
pub(super) fn announce(transaction: &mut Transaction, messages: &[OutboundMessage]) {
    let Some(first) = messages.first() else { return };
    let Some(relay) = transaction.new_rows().relay() else { return transaction.announce(OUTBOX) };
    let mut channels = vec![first.channel.clone()];
    for message in &messages[1..] {
        if !channels.contains(&message.channel) {
            channels.push(message.channel.clone());
        }
    }
    transaction.after_commit(move || channels.iter().for_each(|channel| relay.wake(channel)));
}
