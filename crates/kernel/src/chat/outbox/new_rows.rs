//! Connects the relay to the transactions that add rows to the outbox, so that a message leaves without polling.

use super::relay::OUTBOX;
use crate::chat::outbound::OutboundMessage;
use crate::db::Transaction;
use crate::ids::ChannelId;

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
    let Some(relay) = transaction.relay().upgrade() else { return transaction.announce(OUTBOX) };
    transaction.after_commit(move || channels.iter().for_each(|channel| relay.wake(channel)));
}
