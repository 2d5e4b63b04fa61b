//! Connects the relay to the transactions that add rows to the outbox, so that a message leaves without polling.

use std::fmt;
use std::sync::{Mutex, PoisonError, Weak};

use super::relay::{Inner, OUTBOX, Relay};
use crate::chat::outbound::OutboundMessage;
use crate::db::Transaction;
use crate::ids::ChannelId;

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
    announce_channels(transaction, messages.iter().map(|message| message.channel.clone()));
}

/// Wakes the relay for these channels after the commit.
pub(super) fn announce_channels(transaction: &mut Transaction, of_rows: impl Iterator<Item = ChannelId>) {
    let mut channels = Vec::new();
    for channel in of_rows {
        if !channels.contains(&channel) {
            channels.push(channel);
        }
    }
    if channels.is_empty() {
        return;
    }
    let Some(relay) = transaction.new_rows().relay() else { return transaction.announce(OUTBOX) };
    transaction.after_commit(move || channels.iter().for_each(|channel| relay.wake(channel)));
}
