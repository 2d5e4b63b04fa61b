//! Halts: channels or the team told to be silent, and paused personas. Stored in the database, so that they survive a restart.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};

use chrono::{DateTime, Utc};

use crate::db::{Database, Result, plain, sql};
use crate::events::Topic;
use crate::ids::{ChannelId, PersonaSlug};

/// Announced when a halt begins or ends, by this process or another one. No events are recorded.
pub const HALTS: Topic = Topic::new("halt");

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HaltScope {
    Channel(ChannelId),
    /// A persona that an operator paused.
    Persona(PersonaSlug),
    /// The whole team in all channels.
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

/// An active halt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halt {
    pub scope: HaltScope,
    /// The name of the person who ordered it.
    pub by: String,
    pub at: DateTime<Utc>,
}

/// The active halts, cached in memory because every message checks them.
pub struct Halts {
    database: Database,
    active: Mutex<Active>,
}

#[derive(Default)]
struct Active {
    /// When each halt began.
    since: HashMap<HaltScope, DateTime<Utc>>,
    /// Halts that are not stored yet.
    unsaved: HashSet<HaltScope>,
    /// Counts local changes.
    changes: u64,
}

/// Changes made by another process.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChangedHalts {
    pub halted: Vec<HaltScope>,
    pub lifted: Vec<HaltScope>,
}

impl Halts {
    /// Loads the stored halts.
    pub async fn load(database: Database) -> Result<Self> {
        let since = database.list_halts().await?.into_iter().map(|halt| (halt.scope, halt.at)).collect();
        Ok(Self { database, active: Mutex::new(Active { since, ..Active::default() }) })
    }

    /// Reloads the halts, because `teamroom halt` runs in another process. Local changes made during the read win.
    pub async fn refresh(&self) -> Result<ChangedHalts> {
        let before = self.active().changes;
        let stored: HashMap<_, _> = self.database.list_halts().await?.into_iter().map(|halt| (halt.scope, halt.at)).collect();
        let mut active = self.active();
        if active.changes != before {
            return Ok(ChangedHalts::default());
        }
        let halted = stored.keys().filter(|scope| !active.since.contains_key(scope)).cloned().collect();
        let is_gone = |scope: &&HaltScope| !stored.contains_key(scope) && !active.unsaved.contains(scope);
        let lifted: Vec<HaltScope> = active.since.keys().filter(is_gone).cloned().collect();
        active.since.retain(|scope, _| !lifted.contains(scope));
        active.since.extend(stored);
        Ok(ChangedHalts { halted, lifted })
    }

    pub fn is_team_halted(&self) -> bool {
        self.active().since.contains_key(&HaltScope::All)
    }

    /// Whether agents must be silent in a channel until a person addresses one of them.
    pub fn is_halted_in(&self, channel: &ChannelId) -> bool {
        let active = &self.active().since;
        active.contains_key(&HaltScope::All) || active.contains_key(&HaltScope::Channel(channel.clone()))
    }

    /// Whether the channel was halted at or after `since`.
    pub fn was_halted_since(&self, channel: &ChannelId, since: DateTime<Utc>) -> bool {
        let active = &self.active().since;
        [HaltScope::All, HaltScope::Channel(channel.clone())].iter().filter_map(|scope| active.get(scope)).any(|at| *at >= since)
    }

    pub fn is_paused(&self, persona: &PersonaSlug) -> bool {
        self.active().since.contains_key(&HaltScope::Persona(persona.clone()))
    }

    /// Takes effect at once, even if the store fails: silence is the safe default.
    pub async fn set(&self, scope: HaltScope, by: &str, at: DateTime<Utc>) -> Result<()> {
        {
            let mut active = self.active();
            active.since.insert(scope.clone(), at);
            active.unsaved.insert(scope.clone());
            active.changes += 1;
        }
        self.database.halt(&scope, by, at).await?;
        let mut active = self.active();
        active.unsaved.remove(&scope);
        active.changes += 1;
        Ok(())
    }

    /// True if a halt was lifted.
    pub async fn lift(&self, scope: &HaltScope) -> Result<bool> {
        let was_stored = self.database.resume(scope).await?;
        let mut active = self.active();
        active.unsaved.remove(scope);
        active.changes += 1;
        Ok(active.since.remove(scope).is_some() || was_stored)
    }

    /// Lifts all halts of the team and of channels. Paused personas stay paused.
    pub async fn lift_all(&self) -> Result<()> {
        let lifted: Vec<HaltScope> = self.active().since.keys().filter(|scope| !matches!(scope, HaltScope::Persona(_))).cloned().collect();
        for scope in &lifted {
            self.lift(scope).await?;
        }
        Ok(())
    }

    fn active(&self) -> MutexGuard<'_, Active> {
        self.active.lock().expect("no code panics while it holds the halts")
    }
}

impl Database {
    /// Starts a halt. An active one stays as it is.
    pub async fn halt(&self, scope: &HaltScope, by: &str, at: DateTime<Utc>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO halts (scope, by, at) VALUES ($1, $2, $3) ON CONFLICT (scope) DO NOTHING",
            scope.key(),
            plain(by),
            at
        )?;
        transaction.announce(HALTS);
        transaction.commit().await?;
        self.db().handover().wake();
        Ok(())
    }

    /// Ends a halt. False if there was none.
    pub async fn resume(&self, scope: &HaltScope) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let ended = sql!(transaction.on(), execute, "DELETE FROM halts WHERE scope = $1", scope.key())?;
        transaction.announce(HALTS);
        transaction.commit().await?;
        self.db().handover().wake();
        Ok(ended > 0)
    }

    /// All active halts, oldest first.
    pub async fn list_halts(&self) -> Result<Vec<Halt>> {
        let rows: Vec<(String, String, DateTime<Utc>)> =
            sql!(self.db().read(), fetch_all, "SELECT scope, by, at FROM halts ORDER BY at, scope")?;
        Ok(rows.into_iter().map(|(scope, by, at)| Halt { scope: HaltScope::parse(&scope), by, at }).collect())
    }

    /// Whether an operator paused this persona.
    pub async fn is_paused(&self, persona: &PersonaSlug) -> Result<bool> {
        Ok(self.list_halts().await?.iter().any(|halt| halt.scope == HaltScope::Persona(persona.clone())))
    }
}
