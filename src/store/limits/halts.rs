//! Halts: where the team was told to stop. They outlive the process.

use chrono::{DateTime, Utc};

use crate::domain::ids::{ChannelId, PersonaSlug};
use crate::store::Store;
use crate::store::engine::{plain, sql};
use crate::store::error::Result;

/// What a halt stops.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HaltScope {
    Channel(ChannelId),
    /// A persona that an operator has paused.
    Persona(PersonaSlug),
    /// The whole team, everywhere.
    All,
}

impl HaltScope {
    fn key(&self) -> String {
        match self {
            Self::Channel(channel) => format!("channel:{channel}"),
            Self::Persona(persona) => format!("persona:{persona}"),
            Self::All => "all".into(),
        }
    }

    fn parse(key: &str) -> Self {
        match key.split_once(':') {
            Some(("persona", persona)) => Self::Persona(persona.into()),
            Some((_, channel)) => Self::Channel(channel.into()),
            None => Self::All,
        }
    }
}

/// A halt in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halt {
    pub scope: HaltScope,
    /// Who said stop, for people.
    pub by: String,
    pub at: DateTime<Utc>,
}

impl Store {
    /// Halts the team in `scope`. A halt in force stays as it is.
    pub async fn halt(&self, scope: &HaltScope, by: &str, at: DateTime<Utc>) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "INSERT INTO halts (scope, by, at) VALUES ($1, $2, $3) ON CONFLICT (scope) DO NOTHING",
            scope.key(),
            plain(by),
            at
        )?;
        Ok(())
    }

    /// Ends a halt. False when none was in force.
    pub async fn resume(&self, scope: &HaltScope) -> Result<bool> {
        let ended = sql!(self.db().write()?, execute, "DELETE FROM halts WHERE scope = $1", scope.key())?;
        Ok(ended > 0)
    }

    /// All halts in force, the oldest first.
    pub async fn list_halts(&self) -> Result<Vec<Halt>> {
        let rows: Vec<(String, String, DateTime<Utc>)> =
            sql!(self.db().read(), fetch_all, "SELECT scope, by, at FROM halts ORDER BY at, scope")?;
        Ok(rows.into_iter().map(|(scope, by, at)| Halt { scope: HaltScope::parse(&scope), by, at }).collect())
    }
}
