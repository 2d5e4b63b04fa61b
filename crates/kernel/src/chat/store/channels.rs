//! Known channels and the last message seen in each.

use chrono::{DateTime, Utc};

use crate::chat::message::{Channel, Place};
use crate::db::{Database, Document, Readable, Result, Transaction, document, plain, sql};
use crate::ids::{ChannelId, MessageId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelSeen {
    pub channel: Channel,
    pub last_message: MessageId,
    pub last_at: DateTime<Utc>,
}

#[derive(sqlx::FromRow)]
struct ChannelColumns {
    id: String,
    name: String,
    #[sqlx(try_from = "String")]
    place: Document<Place>,
    /// Null: not known.
    private: Option<bool>,
    last_message: String,
    last_at: DateTime<Utc>,
}

impl From<ChannelColumns> for ChannelSeen {
    fn from(row: ChannelColumns) -> Self {
        let (id, place, private) = (row.id.into(), row.place.0, row.private.unwrap_or(true));
        let channel = Channel { id, name: row.name, place, private, shared: false };
        Self { channel, last_message: row.last_message.into(), last_at: row.last_at }
    }
}

impl Database {
    /// Records how far channels were read, and who can read them. Older marks are ignored, so calls may come in any order.
    pub async fn record_channels_seen(&self, channels: &[ChannelSeen]) -> Result<()> {
        if channels.is_empty() {
            return Ok(());
        }
        let mut transaction = self.db().begin().await?;
        for seen in channels {
            sql!(
                transaction.on(),
                execute,
                "INSERT INTO channels (id, name, place, last_message, last_at, private) VALUES ($1, $2, $3, $4, $5, $6)
                 ON CONFLICT (id) DO UPDATE SET name = excluded.name, place = excluded.place,
                     last_message = excluded.last_message, last_at = excluded.last_at
                 WHERE excluded.last_at > channels.last_at",
                seen.channel.id.as_str(),
                plain(&seen.channel.name),
                document(&seen.channel.place),
                seen.last_message.as_str(),
                seen.last_at,
                seen.channel.private
            )?;
            sql!(
                transaction.on(),
                execute,
                "UPDATE channels SET private = $2 WHERE id = $1 AND (private IS NULL OR private <> $2)",
                seen.channel.id.as_str(),
                seen.channel.private
            )?;
        }
        transaction.commit().await
    }

    /// What a channel is called. None for a direct conversation, and for a channel without messages.
    pub async fn find_channel_name(&self, channel: &ChannelId) -> Result<Option<String>> {
        let row: Option<(String,)> = sql!(self.db().read(), fetch_optional, "SELECT name FROM channels WHERE id = $1", channel.as_str())?;
        Ok(row.map(|(name,)| name).filter(|name| !name.is_empty()))
    }

    /// All channels with a message, latest first.
    pub async fn list_channels(&self) -> Result<Vec<ChannelSeen>> {
        let rows: Vec<Readable<ChannelColumns>> = sql!(self.db().read(), fetch_all, "SELECT * FROM channels ORDER BY last_at DESC, id")?;
        Ok(self.db().keep_readable("channels", rows).into_iter().map(ChannelSeen::from).collect())
    }
}

/// A channel, thread or direct conversation. None if nothing was said there yet.
pub async fn find_channel(transaction: &mut Transaction, id: &ChannelId) -> Result<Option<Channel>> {
    let row: Option<ChannelColumns> = sql!(transaction.on(), fetch_optional, "SELECT * FROM channels WHERE id = $1", id.as_str())?;
    Ok(row.map(|row| ChannelSeen::from(row).channel))
}

/// The channel of a server that people mean by a name or an id, see [`Channel::is_called`]. None if nothing was said there yet.
pub async fn find_channel_called(transaction: &mut Transaction, written: &str) -> Result<Option<Channel>> {
    let rows: Vec<ChannelColumns> =
        sql!(transaction.on(), fetch_all, "SELECT * FROM channels ORDER BY last_at DESC, id /* reads all: a name in people's words */")?;
    let mut channels = rows.into_iter().map(|row| ChannelSeen::from(row).channel);
    Ok(channels.find(|channel| channel.place == Place::Server && channel.is_called(written)))
}
