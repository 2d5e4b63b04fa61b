//! Decisions: who answers a message. Each is written together with everything that follows from it.

use chrono::{DateTime, Utc};

use crate::features::chat::model::decision::Decision;
use crate::features::chat::store::asks::insert_asks;
use crate::features::chat::store::events::record_decision;
use crate::features::chat::store::turns::insert_turns;
use crate::store::Store;
use kernel::agent::ask::Ask;
use kernel::agent::turn::Turn;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::{Document, Effect, Result, document, sql};
use kernel::ids::{ChannelId, MessageId};
use kernel::memory::store::remember_said;

/// A decision and what follows from it.
#[derive(Debug, Clone, Copy)]
pub struct Decided<'a> {
    /// The messages of the burst. The turns answer the first one.
    pub messages: &'a [MessageId],
    pub decision: &'a Decision,
    /// In the order in which they run.
    pub turns: &'a [Turn],
    pub asks: &'a [Ask],
    /// Notices that go with the decision.
    pub outbox: &'a [OutboundMessage],
    /// The rows of the feature that took the message.
    pub effect: Option<&'a dyn Effect>,
    pub at: DateTime<Utc>,
}

impl Store {
    /// Stores a decision with its turns, asks and notices. False, without any write, if one of the messages is already decided or was never claimed.
    pub async fn decide(&self, decided: &Decided<'_>) -> Result<bool> {
        let Some(first) = decided.messages.first() else { return Ok(false) };
        let mut transaction = self.db().begin().await?;
        let decision = document(decided.decision);
        let mut decided_in = None;
        for message in decided.messages {
            let changed: Option<(String, String)> = sql!(
                transaction.on(),
                fetch_optional,
                "UPDATE inbox SET decision = $2, decided_at = $3, burst = $4 WHERE id = $1 AND decided_at IS NULL RETURNING channel, message",
                message.as_str(),
                decision.as_str(),
                decided.at,
                first.as_str()
            )?;
            let Some((channel, heard)) = changed else { return Ok(false) };
            if decided.decision.is_remembered() {
                remember_said(&mut transaction, &Document::read(heard)?).await?;
            }
            decided_in.get_or_insert(ChannelId::new(channel));
        }
        if let Some(channel) = &decided_in {
            record_decision(&mut transaction, (first, channel), decided.decision, decided.at).await?;
        }
        insert_turns(&mut transaction, decided.turns).await?;
        insert_asks(&mut transaction, decided.asks).await?;
        insert_outbound(&mut transaction, decided.outbox, Some(first), decided.at).await?;
        if let Some(effect) = decided.effect {
            // A refused effect needs no notice: the message came a moment too late.
            effect.apply(&mut transaction, decided.at).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }
}
