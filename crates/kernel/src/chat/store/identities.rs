//! The accounts of personas, their logins, and the registered slash commands.

use chrono::{DateTime, Utc};

use crate::db::{Database, Result, sql};
use crate::ids::{PersonaSlug, UserId};
use crate::persona::roster::Accounts;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub persona: PersonaSlug,
    pub platform: String,
    pub account: UserId,
    pub updated_at: DateTime<Utc>,
}

impl Database {
    /// Records a persona's account, as the platform reported it.
    pub async fn record_identity(&self, persona: &PersonaSlug, account: &UserId, now: DateTime<Utc>) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "INSERT INTO identities (persona, platform, account, updated_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (persona, platform) DO UPDATE SET account = excluded.account, updated_at = excluded.updated_at",
            persona.as_str(),
            account.platform().unwrap_or_default(),
            account.as_str(),
            now
        )?;
        Ok(())
    }

    /// All known accounts by persona.
    pub async fn list_identities(&self) -> Result<Vec<Identity>> {
        let rows: Vec<(String, String, String, DateTime<Utc>)> =
            sql!(self.db().read(), fetch_all, "SELECT persona, platform, account, updated_at FROM identities ORDER BY persona, platform")?;
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

    /// The accounts of all personas.
    pub async fn read_accounts(&self) -> Result<Accounts> {
        let mut accounts = Accounts::default();
        for identity in self.list_identities().await? {
            accounts.record(identity.account, identity.persona);
        }
        Ok(accounts)
    }

    /// Records a login. Discord resets a token after 1000 logins in 24 hours.
    pub async fn record_identify(&self, persona: &PersonaSlug, at: DateTime<Utc>) -> Result<()> {
        sql!(self.db().write()?, execute, "INSERT INTO identifies (persona, at) VALUES ($1, $2)", persona.as_str(), at)?;
        Ok(())
    }

    /// The number of a persona's logins since a time.
    pub async fn count_identifies(&self, persona: &PersonaSlug, since: DateTime<Utc>) -> Result<u64> {
        let (count,): (i64,) =
            sql!(self.db().read(), fetch_one, "SELECT COUNT(*) FROM identifies WHERE persona = $1 AND at >= $2", persona.as_str(), since)?;
        Ok(count.cast_unsigned())
    }

    /// The digest of the commands last registered for `scope`: a server, or all.
    pub async fn find_registration(&self, scope: &str) -> Result<Option<String>> {
        let row: Option<(String,)> = sql!(self.db().read(), fetch_optional, "SELECT hash FROM registrations WHERE scope = $1", scope)?;
        Ok(row.map(|(hash,)| hash))
    }

    /// Records the registered commands, so that an unchanged set is not registered again.
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
