//! Ratings: what people found useful.

use chrono::{DateTime, Utc};

use crate::store::Store;
use kernel::db::{Result, sql};
use kernel::ids::{PersonaSlug, UserId};

impl Store {
    /// Stores what a person thinks of an insight; who thinks better of it later has changed their rating.
    ///
    /// An insight of a meeting has that meeting's id as its `subject`, alone or followed by a slash and what tells it from the
    /// meeting's other insights: by the part before the slash the figures of a meeting are found.
    pub async fn rate(&self, subject: &str, persona: &PersonaSlug, user: &UserId, useful: bool, at: DateTime<Utc>) -> Result<()> {
        let about = subject.split_once('/').map_or(subject, |(about, _)| about);
        sql!(
            self.db().write()?,
            execute,
            "INSERT INTO ratings (subject, account, about, persona, useful, at) VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (subject, account) DO UPDATE SET persona = excluded.persona, useful = excluded.useful, at = excluded.at",
            subject,
            user.as_str(),
            about,
            persona.as_str(),
            useful,
            at
        )?;
        Ok(())
    }

    /// How many of a persona's insights were found useful since, and how many not.
    pub async fn count_ratings(&self, persona: &PersonaSlug, since: DateTime<Utc>) -> Result<(u64, u64)> {
        let (useful, not_useful): (i64, i64) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT COUNT(CASE WHEN useful THEN 1 END), COUNT(CASE WHEN NOT useful THEN 1 END) FROM ratings WHERE persona = $1 AND at >= $2",
            persona.as_str(),
            since
        )?;
        Ok((useful.cast_unsigned(), not_useful.cast_unsigned()))
    }
}
