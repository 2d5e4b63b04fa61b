//! Ratings of insights by people.

use chrono::{DateTime, Utc};

use crate::store::Store;
use kernel::db::{Result, sql};
use kernel::ids::{PersonaSlug, UserId};

impl Store {
    /// Stores a person's rating of an insight. A later rating replaces the earlier one.
    ///
    /// The `subject` of a meeting's insight is the meeting's id, alone or followed by a slash and a suffix that identifies the insight. The figures
    /// of a meeting use the part before the slash.
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

    /// The number of a persona's insights rated useful since, and the number rated not useful.
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
