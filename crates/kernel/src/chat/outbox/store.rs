//! The outbox table.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::chat::outbound::{DeliveryState, OutboundMessage, Placement, Posted};
use crate::chat::outbox::new_rows::{announce, announce_channels};
use crate::chat::outbox::order::{Due, select_due};
use crate::db::{Database, Document, Readable, Result, Transaction, Word, document, plain, sql};
use crate::ids::{ChannelId, MessageId, OutboxId, PersonaSlug, TurnId};
use crate::jobs::RetentionRule;

/// Deletes messages of the team after `kept`.
pub fn retention(kept: Duration) -> RetentionRule {
    RetentionRule::new("posts", &["outbox"], kept, |database, before, limit| {
        Box::pin(async move { database.delete_outbound_before(before, limit).await })
    })
}

/// A message waiting to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct OutboxRow {
    pub message: OutboundMessage,
    /// The message that it responds to.
    pub cause: Option<MessageId>,
    /// Rises with each row that is added.
    pub position: i64,
    /// The number of attempts.
    pub attempts: u32,
    pub first_attempt_at: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    pub next_attempt_at: DateTime<Utc>,
}

/// A message that is kept until a permission is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldMessage {
    pub persona: PersonaSlug,
    pub channel: ChannelId,
    /// The missing permission, in the platform's words.
    pub needs: String,
}

/// A message that reached nobody: neither it nor what was sent instead.
#[derive(Debug, Clone, PartialEq)]
pub struct LostMessage {
    pub message: OutboundMessage,
    /// Why the last attempt failed.
    pub why: String,
    pub at: DateTime<Utc>,
}

/// The most waiting messages of a channel that are looked at. Later ones wait for their turn.
const LOOKED_AT: i64 = 100;

/// The delivery state of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// Waiting for the first or a later attempt.
    Pending,
    Sent(Posted),
    Failed {
        why: String,
    },
}

#[derive(sqlx::FromRow)]
struct OutboxColumns {
    #[sqlx(try_from = "String")]
    message: Document<OutboundMessage>,
    cause: Option<String>,
    position: i64,
    #[sqlx(try_from = "i64")]
    attempts: u32,
    first_attempt_at: Option<DateTime<Utc>>,
    next_attempt_at: DateTime<Utc>,
    created_at: DateTime<Utc>,
    failure: Option<String>,
}

impl From<OutboxColumns> for OutboxRow {
    fn from(row: OutboxColumns) -> Self {
        Self {
            message: row.message.0,
            cause: row.cause.map(MessageId::new),
            position: row.position,
            attempts: row.attempts,
            first_attempt_at: row.first_attempt_at,
            created_at: row.created_at,
            next_attempt_at: row.next_attempt_at,
        }
    }
}

/// Marks a message as sent, in a transaction or alone.
macro_rules! mark_sent {
    ($on:expr, $message:expr, $posted:expr) => {
        sql!(
            $on,
            execute,
            "UPDATE outbox SET state = 'sent', channel = $2, platform_id = $3, sent_at = $4, failure = NULL,
                 attempts = CASE attempts WHEN 0 THEN 1 ELSE attempts END
             WHERE id = $1 AND state = 'pending'",
            $message.as_str(),
            $posted.channel.as_str(),
            $posted.message.as_str(),
            $posted.at
        )
        .map(drop)
    };
}

impl Database {
    /// Adds messages to the outbox in this order.
    pub async fn enqueue(&self, messages: &[OutboundMessage], at: DateTime<Utc>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        insert_outbound(&mut transaction, messages, None, at).await?;
        transaction.commit().await
    }

    /// Adds a message with a fixed id, which contains a hyphen. False if a row with this id exists or existed, whatever its state.
    pub async fn enqueue_once(&self, message: &OutboundMessage, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let is_new = insert_outbound_once(&mut transaction, message, None, at).await?;
        transaction.commit().await?;
        Ok(is_new)
    }

    /// The channels with waiting messages, longest wait first, and when a message of each may be sent. A channel is listed once for each such time.
    pub async fn list_pending_channels(&self) -> Result<Vec<(ChannelId, DateTime<Utc>)>> {
        let rows: Vec<(String, DateTime<Utc>)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT channel, next_attempt_at FROM outbox WHERE state = 'pending'
             GROUP BY channel, next_attempt_at ORDER BY MIN(position)"
        )?;
        Ok(rows.into_iter().map(|(channel, at)| (ChannelId::new(channel), at)).collect())
    }

    /// The messages of a channel that may be sent now, in their order, without those in flight. None overtakes one that it depends on, so a row that
    /// cannot be read is an error.
    pub(super) async fn list_due(&self, channel: &ChannelId, in_flight: &HashSet<OutboxId>, now: DateTime<Utc>) -> Result<Due> {
        let rows: Vec<OutboxColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM outbox WHERE channel = $1 AND state = 'pending' ORDER BY position LIMIT $2",
            channel.as_str(),
            LOOKED_AT
        )?;
        Ok(select_due(rows.into_iter().map(OutboxRow::from).collect(), in_flight, now))
    }

    /// The position of the newest row, 0 without one.
    pub(super) async fn last_position(&self) -> Result<i64> {
        let (last,): (Option<i64>,) = sql!(self.db().read(), fetch_one, "SELECT MAX(position) FROM outbox")?;
        Ok(last.unwrap_or_default())
    }

    /// The first message of a channel that may be sent now.
    pub async fn next_pending(&self, channel: &ChannelId, now: DateTime<Utc>) -> Result<Option<OutboxRow>> {
        Ok(self.list_due(channel, &HashSet::new(), now).await?.rows.into_iter().next())
    }

    /// Records an attempt before it is made, so that a restart knows that the message may have been posted.
    pub async fn record_attempt(&self, message: &OutboxId, at: DateTime<Utc>) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "UPDATE outbox SET attempts = attempts + 1, first_attempt_at = COALESCE(first_attempt_at, $2)
             WHERE id = $1 AND state = 'pending'",
            message.as_str(),
            at
        )?;
        Ok(())
    }

    /// Records where and under which id the platform has the message. Updates the row's channel to that place.
    pub async fn record_sent(&self, message: &OutboxId, posted: &Posted) -> Result<()> {
        mark_sent!(self.db().write()?, message, posted)
    }

    /// Records that `revision` replaced `original`. Later edits of the original, and threads on it, then refer to the revision's message.
    pub async fn record_revised(&self, revision: &OutboxId, original: &OutboxId, posted: &Posted) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        mark_sent!(transaction.on(), revision, posted)?;
        // Earlier revisions have the original's platform id. It is outdated if the message had to be posted again.
        sql!(
            transaction.on(),
            execute,
            "UPDATE outbox SET deleted_at = COALESCE(deleted_at, $3)
             WHERE platform_id = (SELECT platform_id FROM outbox WHERE id = $1) AND id <> $2",
            original.as_str(),
            revision.as_str(),
            posted.at
        )?;
        sql!(
            transaction.on(),
            execute,
            "UPDATE outbox SET platform_id = $2, channel = $3, sent_at = $4 WHERE id = $1",
            original.as_str(),
            posted.message.as_str(),
            posted.channel.as_str(),
            posted.at
        )?;
        transaction.commit().await
    }

    /// The platform id of a message. None while it is pending, or if it was given up.
    pub async fn find_posted(&self, message: &OutboxId) -> Result<Option<Posted>> {
        let row: Option<(String, Option<String>, Option<DateTime<Utc>>)> =
            sql!(self.db().read(), fetch_optional, "SELECT channel, platform_id, sent_at FROM outbox WHERE id = $1", message.as_str())?;
        Ok(row.and_then(|(channel, message, at)| Some(Posted { channel: channel.into(), message: message?.into(), at: at? })))
    }

    /// The delivery state of a message. None if it does not exist.
    pub async fn find_delivery(&self, message: &OutboxId) -> Result<Option<Delivery>> {
        #[derive(sqlx::FromRow)]
        struct Columns {
            #[sqlx(try_from = "String")]
            state: Word<DeliveryState>,
            channel: String,
            platform_id: Option<String>,
            sent_at: Option<DateTime<Utc>>,
            failure: Option<String>,
        }
        let row: Option<Columns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT state, channel, platform_id, sent_at, failure FROM outbox WHERE id = $1",
            message.as_str()
        )?;
        let Some(row) = row else { return Ok(None) };
        Ok(match row.state.0 {
            DeliveryState::Pending | DeliveryState::Held => Some(Delivery::Pending),
            DeliveryState::Failed => Some(Delivery::Failed { why: row.failure.unwrap_or_default() }),
            DeliveryState::Sent => {
                let posted = |message: String, at| Posted { channel: row.channel.into(), message: message.into(), at };
                row.platform_id.zip(row.sent_at).map(|(message, at)| Delivery::Sent(posted(message, at)))
            }
        })
    }

    /// Records an attempt at `row` that failed because of `why`, and schedules the next one. `attempted_at`: None if the message was certainly not
    /// posted.
    pub async fn record_retry(&self, row: &OutboxRow, attempted_at: Option<DateTime<Utc>>, next: DateTime<Utc>, why: &str) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "UPDATE outbox SET next_attempt_at = $2, failure = $3, attempts = $4, first_attempt_at = COALESCE(first_attempt_at, $5)
             WHERE id = $1 AND state = 'pending'",
            row.message.id.as_str(),
            next,
            plain(why),
            i64::from(row.attempts) + 1,
            attempted_at
        )?;
        Ok(())
    }

    /// Keeps a message for which the permission `needs` is missing. It is tried again at `next`, or with [`Self::release_held`].
    pub async fn record_held(&self, row: &OutboxRow, next: DateTime<Utc>, needs: &str) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "UPDATE outbox SET state = 'held', next_attempt_at = $2, failure = $3, attempts = $4
             WHERE id = $1 AND state = 'pending'",
            row.message.id.as_str(),
            next,
            plain(needs),
            i64::from(row.attempts) + 1
        )?;
        Ok(())
    }

    /// Makes the held messages due whose wait ends by `until`, and returns when the next wait ends. They keep their place in the order.
    pub async fn release_held(&self, until: DateTime<Utc>, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>> {
        let mut transaction = self.db().begin().await?;
        let released: Vec<(String,)> = sql!(
            transaction.on(),
            fetch_all,
            "UPDATE outbox SET state = 'pending', next_attempt_at = $1 WHERE state = 'held' AND next_attempt_at <= $2 RETURNING channel",
            now,
            until
        )?;
        let (next,): (Option<DateTime<Utc>>,) =
            sql!(transaction.on(), fetch_one, "SELECT MIN(next_attempt_at) FROM outbox WHERE state = 'held'")?;
        announce_channels(&mut transaction, released.into_iter().map(|(channel,)| ChannelId::new(channel)));
        transaction.commit().await?;
        Ok(next)
    }

    /// The messages that wait for a permission, in the order in which they are tried again, and how many there are in total.
    pub async fn list_held(&self, limit: u32) -> Result<(Vec<HeldMessage>, u64)> {
        let rows: Vec<Readable<OutboxColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM outbox WHERE state = 'held' ORDER BY next_attempt_at, position LIMIT $1",
            i64::from(limit)
        )?;
        let (count,): (i64,) = sql!(self.db().read(), fetch_one, "SELECT COUNT(*) FROM outbox WHERE state = 'held'")?;
        let held = self.db().keep_readable("outbox", rows).into_iter().map(|row| HeldMessage {
            persona: row.message.0.persona,
            channel: row.message.0.channel,
            needs: row.failure.unwrap_or_default(),
        });
        Ok((held.collect(), count.cast_unsigned()))
    }

    /// The messages since then that reached nobody, newest first. Changes of earlier messages and outdated ones do not count.
    pub async fn list_lost(&self, since: DateTime<Utc>, limit: u32) -> Result<Vec<LostMessage>> {
        let rows: Vec<Readable<OutboxColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM outbox WHERE state = 'failed' AND created_at >= $1 ORDER BY created_at DESC LIMIT $2",
            since,
            i64::from(limit)
        )?;
        Ok(find_lost(self.db().keep_readable("outbox", rows)))
    }

    /// Gives up a message, because of `why`, and adds what is sent instead, in one transaction. The channel continues with the next one.
    pub async fn record_failed(&self, message: &OutboundMessage, why: &str, at: DateTime<Utc>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        let failed = sql!(
            transaction.on(),
            execute,
            "UPDATE outbox SET state = 'failed', failure = $2 WHERE id = $1 AND state = 'pending'",
            message.id.as_str(),
            plain(why)
        )?;
        if failed > 0
            && let Some(instead) = &message.instead
        {
            insert_outbound(&mut transaction, std::slice::from_ref(instead), None, at).await?;
        }
        transaction.commit().await
    }

    /// The number of waiting messages and the age of the oldest.
    pub async fn outbox_depth(&self, now: DateTime<Utc>) -> Result<(u64, Duration)> {
        let (count, oldest): (i64, Option<DateTime<Utc>>) =
            sql!(self.db().read(), fetch_one, "SELECT COUNT(*), MIN(created_at) FROM outbox WHERE state = 'pending'")?;
        let age = oldest.and_then(|oldest| (now - oldest).to_std().ok()).unwrap_or_default();
        Ok((count.cast_unsigned(), age))
    }

    /// Deletes up to `limit` messages from before `at` that were sent or given up, and returns how many. Messages with a fixed id are kept: their row
    /// keeps them from being sent again, and is deleted with the thing that they are about.
    pub async fn delete_outbound_before(&self, at: DateTime<Utc>, limit: u32) -> Result<u64> {
        // Positions rise with time, so the search ends at the first row that is not old. An index on the time would cost each message a write.
        sql!(
            self.db().write()?,
            execute,
            "DELETE FROM outbox WHERE position IN (
                 SELECT position FROM outbox
                 WHERE position < COALESCE(
                         (SELECT later.position FROM outbox later WHERE later.position > 0 AND later.created_at >= $1
                          ORDER BY later.position LIMIT 1),
                         (SELECT MAX(position) + 1 FROM outbox))
                     AND state NOT IN ('pending', 'held') AND created_at < $1 AND id NOT LIKE '%-%'
                 ORDER BY position LIMIT $2)",
            at,
            i64::from(limit)
        )
    }

    /// The team's message with this platform id, in its last revision.
    pub async fn find_by_platform_id(&self, message: &MessageId) -> Result<Option<OutboundMessage>> {
        let row: Option<OutboxColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT * FROM outbox WHERE platform_id = $1 ORDER BY position DESC LIMIT 1",
            message.as_str()
        )?;
        Ok(row.map(|row| row.message.0))
    }
}

/// Of messages that failed, those for which everything that was sent instead failed too.
fn find_lost(rows: Vec<OutboxColumns>) -> Vec<LostMessage> {
    let chain = |message: &OutboundMessage| {
        std::iter::successors(message.instead.as_deref(), |next| next.instead.as_deref()).map(|next| next.id.clone()).collect::<Vec<_>>()
    };
    let failed: HashMap<OutboxId, String> =
        rows.iter().map(|row| (row.message.0.id.clone(), row.failure.clone().unwrap_or_default())).collect();
    let instead: HashSet<OutboxId> = rows.iter().flat_map(|row| chain(&row.message.0)).collect();
    let lost = rows.into_iter().filter_map(|row| {
        let message = row.message.0;
        let counts = message.until.is_none() && !matches!(message.place, Placement::Revision { .. }) && !instead.contains(&message.id);
        let others = chain(&message);
        let last = others.last().unwrap_or(&message.id);
        let why = failed.get(last).filter(|_| counts && others.iter().all(|other| failed.contains_key(other)))?.clone();
        Some(LostMessage { message, why, at: row.created_at })
    });
    lost.collect()
}

async fn find_row(transaction: &mut Transaction, message: &OutboxId) -> Result<bool> {
    let row: Option<(String,)> = sql!(transaction.on(), fetch_optional, "SELECT id FROM outbox WHERE id = $1", message.as_str())?;
    Ok(row.is_some())
}

/// Adds a message with a fixed id. False if a row with this id exists.
pub async fn insert_outbound_once(
    transaction: &mut Transaction,
    message: &OutboundMessage,
    cause: Option<&MessageId>,
    at: DateTime<Utc>,
) -> Result<bool> {
    if find_row(transaction, &message.id).await? {
        return Ok(false);
    }
    insert_outbound(transaction, std::slice::from_ref(message), cause, at).await?;
    Ok(true)
}

/// Adds messages to the outbox. `cause` is the message that they respond to.
pub async fn insert_outbound(
    transaction: &mut Transaction,
    messages: &[OutboundMessage],
    cause: Option<&MessageId>,
    at: DateTime<Utc>,
) -> Result<()> {
    for message in messages {
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO outbox (id, channel, turn, cause, kind, message, state, created_at, next_attempt_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)",
            message.id.as_str(),
            message.channel.as_str(),
            message.turn.as_ref().map(TurnId::as_str),
            cause.map(MessageId::as_str),
            message.kind.as_str(),
            document(message),
            DeliveryState::Pending.as_str(),
            at
        )?;
    }
    announce(transaction, messages);
    Ok(())
}
