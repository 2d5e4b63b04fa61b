//! Keeps texts out of prompts although they stay in the chat: messages that somebody wanted forgotten, and what the team said about them.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::features::chat::store::inbox::{blank, find_in};
use crate::store::Store;
use kernel::db::{Document, Result, Transaction, document, sql};
use kernel::ids::{ChannelId, MessageId};
use kernel::memory::store::delete_said;

/// The number of rows that are read at once.
const PAGE: i64 = 500;

/// A post of the team.
#[derive(Debug, Clone)]
pub struct Said {
    pub(super) position: i64,
    pub(super) message: Value,
}

#[derive(sqlx::FromRow)]
struct SaidColumns {
    position: i64,
    #[sqlx(try_from = "String")]
    message: Document<Value>,
    created_at: DateTime<Utc>,
    sent_at: Option<DateTime<Utc>>,
}

impl Store {
    /// The team's posts in a channel since a time whose text satisfies `is_meant`.
    pub async fn list_posts(&self, channel: &ChannelId, since: DateTime<Utc>, is_meant: impl Fn(&str) -> bool + Send) -> Result<Vec<Said>> {
        let (mut found, mut after) = (Vec::new(), 0);
        loop {
            let rows: Vec<SaidColumns> = sql!(
                self.db().read(),
                fetch_all,
                "SELECT position, message, created_at, sent_at FROM outbox
                 WHERE channel = $1 AND kind <> 'notice' AND state <> 'failed' AND deleted_at IS NULL AND position > $2
                 ORDER BY position LIMIT $3",
                channel.as_str(),
                after,
                PAGE
            )?;
            let Some(last) = rows.last() else { return Ok(found) };
            after = last.position;
            for row in rows.into_iter().filter(|row| row.created_at >= since && row.sent_at.is_some()) {
                let message = row.message.0;
                let texts = [&message["text"], &message["embed"]["text"]].into_iter().filter_map(Value::as_str);
                if texts.collect::<Vec<_>>().iter().any(|text| is_meant(text)) {
                    found.push(Said { position: row.position, message });
                }
            }
        }
    }
}

/// Keeps a message from being deleted until the transaction ends. False if it is deleted, or not known.
pub async fn hold_message(transaction: &mut Transaction, message: &MessageId) -> Result<bool> {
    let held: Option<(bool,)> = sql!(
        transaction.on(),
        fetch_optional,
        "UPDATE inbox SET deleted_at = deleted_at WHERE id = $1 RETURNING deleted_at IS NULL",
        message.as_str()
    )?;
    Ok(held == Some((true,)))
}

/// Whether a message still has a text. Keeps the message from being changed until the transaction ends. Also for posts of the team.
pub async fn is_unchanged(transaction: &mut Transaction, message: &MessageId, text: &str) -> Result<bool> {
    let heard: Option<(Option<String>, String)> = sql!(
        transaction.on(),
        fetch_optional,
        "UPDATE inbox SET deleted_at = deleted_at WHERE id = $1 RETURNING speaker, message",
        message.as_str()
    )?;
    if let Some((speaker, heard)) = heard {
        return Ok(speaker.is_some() && Document::<Value>::read(heard)?["text"] == text);
    }
    let said: Option<(bool,)> = sql!(
        transaction.on(),
        fetch_optional,
        "UPDATE outbox SET deleted_at = deleted_at WHERE platform_id = $1 RETURNING deleted_at IS NULL",
        message.as_str()
    )?;
    Ok(said == Some((true,)))
}

/// Removes the text of a message of a person from transcripts, prompts and the memory, as if it had been deleted. Its files stay.
pub async fn withhold_message(transaction: &mut Transaction, message: &MessageId, at: DateTime<Utc>) -> Result<()> {
    delete_said(transaction, message).await?;
    if let Some(row) = find_in(transaction, message).await? {
        blank(transaction, row, at).await?;
    }
    Ok(())
}

/// Removes the texts of posts, and of the turns that made them.
pub async fn withhold_posts(transaction: &mut Transaction, posts: &[Said], at: DateTime<Utc>) -> Result<()> {
    for post in posts {
        let mut message = post.message.clone();
        message["text"] = "".into();
        if message["embed"].is_object() {
            message["embed"] = Value::Null;
        }
        let changed: Option<(Option<String>, Option<String>)> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE outbox SET message = $2, deleted_at = COALESCE(deleted_at, $3) WHERE position = $1 AND sent_at IS NOT NULL RETURNING turn, platform_id",
            post.position,
            document(&message),
            at
        )?;
        let Some((turn, posted)) = changed else { continue };
        if let Some(turn) = turn {
            sql!(transaction.on(), execute, "UPDATE turns SET reply = NULL WHERE id = $1", turn)?;
        }
        if let Some(posted) = posted {
            delete_said(transaction, &MessageId::new(posted)).await?;
        }
    }
    Ok(())
}
