//! The guard's records: blocked answers, and pairs of agents in cooldown.

use chrono::{DateTime, Utc};

use crate::features::chat::model::decision::Block;
use crate::features::chat::store::events::record_blocked;
use crate::store::Store;
use kernel::chat::message::Speaker;
use kernel::db::{Result, Word, document, sql};
use kernel::ids::{ChainId, ChannelId, PersonaSlug};

/// An answer that the guard blocked.
#[derive(Debug, Clone, Copy)]
pub struct Blocked<'a> {
    pub channel: &'a ChannelId,
    pub chain: &'a ChainId,
    /// Who spoke.
    pub from: &'a Speaker,
    /// Who would have answered.
    pub to: &'a PersonaSlug,
    pub block: Block,
    pub at: DateTime<Utc>,
}

#[derive(sqlx::FromRow)]
struct CountColumns {
    #[sqlx(try_from = "String")]
    block: Word<Block>,
    #[sqlx(try_from = "i64")]
    count: u64,
}

impl Store {
    /// Records a block.
    pub async fn record_block(&self, blocked: &Blocked<'_>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO blocks (channel, chain, sender, receiver, block, at) VALUES ($1, $2, $3, $4, $5, $6)",
            blocked.channel.as_str(),
            blocked.chain.as_str(),
            document(blocked.from),
            blocked.to.as_str(),
            blocked.block.as_str(),
            blocked.at
        )?;
        record_blocked(&mut transaction, blocked).await?;
        transaction.commit().await
    }

    /// The number of blocks by reason.
    pub async fn count_blocks(&self) -> Result<Vec<(Block, u64)>> {
        let rows: Vec<CountColumns> =
            sql!(self.db().read(), fetch_all, "SELECT block, COUNT(*) AS count FROM blocks GROUP BY block ORDER BY block")?;
        Ok(rows.into_iter().map(|row| (row.block.0, row.count)).collect())
    }

    /// Starts a cooldown for two agents of a channel, which lasts until `until`.
    pub async fn set_cooldown(&self, channel: &ChannelId, a: &Speaker, b: &Speaker, until: DateTime<Utc>) -> Result<()> {
        let (first, second) = pair(a, b);
        sql!(
            self.db().write()?,
            execute,
            "INSERT INTO cooldowns (channel, first, second, until) VALUES ($1, $2, $3, $4)
             ON CONFLICT (channel, first, second) DO UPDATE SET until = excluded.until",
            channel.as_str(),
            first,
            second,
            until
        )?;
        Ok(())
    }

    /// The end of the cooldown between two agents of a channel. It may lie in the past.
    pub async fn find_cooldown(&self, channel: &ChannelId, a: &Speaker, b: &Speaker) -> Result<Option<DateTime<Utc>>> {
        let (first, second) = pair(a, b);
        let row: Option<(DateTime<Utc>,)> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT until FROM cooldowns WHERE channel = $1 AND first = $2 AND second = $3",
            channel.as_str(),
            first,
            second
        )?;
        Ok(row.map(|(until,)| until))
    }
}

/// The two in an order that does not depend on who spoke.
fn pair(a: &Speaker, b: &Speaker) -> (String, String) {
    let (a, b) = (key(a), key(b));
    if a <= b { (a, b) } else { (b, a) }
}

/// Uses the account, because anybody may change a display name.
fn key(speaker: &Speaker) -> String {
    match speaker {
        Speaker::Persona(slug) => format!("persona {slug}"),
        Speaker::ForeignBot { id, .. } => format!("bot {id}"),
        Speaker::Person { id, .. } => format!("person {id}"),
    }
}
