use chrono::TimeDelta;

use crate::db::{Database, Document, Result, Transaction, document, plain, sql};
use crate::ids::{ChannelId, UserId};
use crate::people::{KnownPerson, Seen};

/// A person who writes often is stored again only after this time, unless a name changed.
const FRESH: TimeDelta = TimeDelta::hours(1);

#[derive(sqlx::FromRow)]
struct SeenColumns {
    id: String,
    private: bool,
    name: String,
    #[sqlx(try_from = "String")]
    aliases: Document<Vec<String>>,
}

/// Notes where a person was seen, and under which names. Does nothing for personas and bots.
pub async fn record_seen(transaction: &mut Transaction, seen: &Seen<'_>) -> Result<()> {
    if !seen.is_person() {
        return Ok(());
    }
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO people (id, channel, private, name, aliases, seen_at) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (id, channel) DO UPDATE SET name = excluded.name, aliases = excluded.aliases, seen_at = excluded.seen_at
         WHERE excluded.seen_at > people.seen_at
             AND (people.name <> excluded.name OR people.aliases <> excluded.aliases OR people.seen_at < $7)",
        seen.author.id.as_str(),
        seen.place().as_str(),
        seen.is_private(),
        plain(&seen.author.name),
        document(&seen.author.aliases),
        seen.at,
        seen.at - FRESH
    )?;
    Ok(())
}

impl Database {
    /// Notes a person who used a command or a button.
    pub async fn record_seen(&self, seen: &Seen<'_>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        record_seen(&mut transaction, seen).await?;
        transaction.commit().await
    }

    /// The name of a person where they were seen last.
    pub async fn find_name(&self, person: &UserId) -> Result<Option<String>> {
        let row: Option<(String,)> =
            sql!(self.db().read(), fetch_optional, "SELECT name FROM people WHERE id = $1 ORDER BY seen_at DESC LIMIT 1", person.as_str())?;
        Ok(row.map(|(name,)| name))
    }

    /// The names of everybody whom others have seen.
    pub async fn list_names_of_people(&self) -> Result<Vec<String>> {
        let seen = self.list_seen().await?.into_iter().filter(|person| person.is_public);
        let mut names: Vec<String> = seen.flat_map(|person| person.names).collect();
        names.sort_unstable();
        names.dedup();
        Ok(names)
    }

    /// Whether anybody else was seen where a person was seen.
    pub async fn is_shared(&self, seen: &Seen<'_>) -> Result<bool> {
        let (place, author) = (seen.place().as_str(), seen.author.id.as_str());
        let row: Option<(String,)> =
            sql!(self.db().read(), fetch_optional, "SELECT id FROM people WHERE channel = $1 AND id <> $2 LIMIT 1", place, author)?;
        Ok(row.is_some())
    }

    /// The channels in which only the team sees what a person writes.
    pub async fn list_private_channels_of(&self, person: &UserId) -> Result<Vec<ChannelId>> {
        let rows: Vec<(String,)> =
            sql!(self.db().read(), fetch_all, "SELECT channel FROM people WHERE id = $1 AND private ORDER BY channel", person.as_str())?;
        Ok(rows.into_iter().map(|(channel,)| ChannelId::new(channel)).collect())
    }

    /// Forgets where a person was seen, and under which names.
    pub async fn forget_seen(&self, person: &UserId) -> Result<()> {
        sql!(self.db().write()?, execute, "DELETE FROM people WHERE id = $1", person.as_str()).map(drop)
    }

    /// Everybody who was seen, the latest first, once for each channel.
    pub(super) async fn list_seen(&self) -> Result<Vec<KnownPerson>> {
        let rows: Vec<SeenColumns> =
            sql!(self.db().read(), fetch_all, "SELECT id, private, name, aliases FROM people ORDER BY seen_at DESC, id, channel")?;
        let person = |row: SeenColumns| {
            let names = std::iter::once(row.name.clone()).chain(row.aliases.0).collect();
            KnownPerson { id: UserId::new(row.id), name: row.name, names, is_public: !row.private }
        };
        Ok(rows.into_iter().map(person).collect())
    }
}
