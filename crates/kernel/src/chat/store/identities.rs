//! The accounts through which personas speak, how often they logged in, and which slash commands the platform knows of.

use chrono::{DateTime, Utc};

use crate::db::{Database, Result, sql};
use crate::ids::{PersonaSlug, UserId};

/// A persona's account on a platform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub persona: PersonaSlug,
    pub platform: String,
    pub account: UserId,
    pub updated_at: DateTime<Utc>,
}

impl Database {
    /// Notes under which account a persona speaks, as the platform told it.
    pub async fn record_identity(&self, persona: &PersonaSlug, platform: &str, account: &UserId, now: DateTime<Utc>) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "INSERT INTO identities (persona, platform, account, updated_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (persona) DO UPDATE SET platform = excluded.platform, account = excluded.account, updated_at = excluded.updated_at",
            persona.as_str(),
            platform,
            account.as_str(),
            now
        )?;
        Ok(())
    }

    /// All accounts known, by persona.
    pub async fn list_identities(&self) -> Result<Vec<Identity>> {
        let rows: Vec<(String, String, String, DateTime<Utc>)> =
            sql!(self.db().read(), fetch_all, "SELECT persona, platform, account, updated_at FROM identities ORDER BY persona")?;
        Ok(rows
            .into_iter()
            .map(|(persona, platform, account, updated_at)| Identity {
                persona: persona.into(),
                platform,
                account: account.into(),
                updated_at,
            })
            .collect())
    }

    /// Notes a login. Discord allows a thousand in 24 hours and resets the token of who needs more.
    pub async fn record_identify(&self, persona: &PersonaSlug, at: DateTime<Utc>) -> Result<()> {
        sql!(self.db().write()?, execute, "INSERT INTO identifies (persona, at) VALUES ($1, $2)", persona.as_str(), at)?;
        Ok(())
    }

    /// How many logins a persona made since.
    pub async fn count_identifies(&self, persona: &PersonaSlug, since: DateTime<Utc>) -> Result<u64> {
        let (count,): (i64,) =
            sql!(self.db().read(), fetch_one, "SELECT COUNT(*) FROM identifies WHERE persona = $1 AND at >= $2", persona.as_str(), since)?;
        Ok(count.cast_unsigned())
    }

    /// The hash of the slash commands that the platform was last given for `scope`: a server, or everywhere.
    pub async fn find_registration(&self, scope: &str) -> Result<Option<String>> {
        let row: Option<(String,)> = sql!(self.db().read(), fetch_optional, "SELECT hash FROM registrations WHERE scope = $1", scope)?;
        Ok(row.map(|(hash,)| hash))
    }

    /// Notes which slash commands the platform was given, so that they are given again only when they change.
    pub async fn record_registration(&self, scope: &str, hash: &str, now: DateTime<Utc>) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "INSERT INTO registrations (scope, hash, updated_at) VALUES ($1, $2, $3)
             ON CONFLICT (scope) DO UPDATE SET hash = excluded.hash, updated_at = excluded.updated_at",
            scope,
            hash,
            now
        )?;
        Ok(())
    }
}
