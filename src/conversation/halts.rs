//! Who is silenced where. Kept in the store, so that a halt survives a restart, and in memory, since every message asks.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard};

use chrono::{DateTime, Utc};

use crate::domain::ids::{ChannelId, PersonaSlug, UserId};
use crate::store::{Store, StoreError};

/// What a halt covers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Scope {
    Team,
    /// Agents do not talk to agents here until a person addresses one or says resume.
    Channel(ChannelId),
    /// A persona that an operator has paused.
    Persona(PersonaSlug),
}

impl Scope {
    /// The scope's name in the store.
    fn key(&self) -> String {
        match self {
            Self::Team => "*".into(),
            Self::Channel(id) => format!("channel:{id}"),
            Self::Persona(slug) => format!("persona:{slug}"),
        }
    }
}

pub(super) struct Halts {
    store: Store,
    active: Mutex<HashSet<String>>,
}

impl Halts {
    /// Reads what an earlier process left halted.
    pub(super) async fn load(store: Store) -> Result<Self, StoreError> {
        let active = store.list_halts().await?.into_iter().map(|halt| halt.scope).collect();
        Ok(Self { store, active: Mutex::new(active) })
    }

    pub(super) fn holds(&self, scope: &Scope) -> bool {
        self.active().contains(&scope.key())
    }

    pub(super) fn is_paused(&self, persona: &PersonaSlug) -> bool {
        self.holds(&Scope::Persona(persona.clone()))
    }

    /// In force from this instant, even if the store cannot be written: silence is the safe side.
    pub(super) async fn set(&self, scope: &Scope, by: &UserId, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.active().insert(scope.key());
        self.store.halt(&scope.key(), by, at).await
    }

    /// True when there was something to lift.
    pub(super) async fn lift(&self, scope: &Scope) -> Result<bool, StoreError> {
        self.store.resume(&scope.key()).await?;
        Ok(self.active().remove(&scope.key()))
    }

    /// Lifts every halt of the team and of channels; paused personas stay paused.
    pub(super) async fn lift_all(&self) -> Result<(), StoreError> {
        let lifted: Vec<String> = self.active().iter().filter(|key| !key.starts_with("persona:")).cloned().collect();
        for key in lifted {
            self.store.resume(&key).await?;
            self.active().remove(&key);
        }
        Ok(())
    }

    fn active(&self) -> MutexGuard<'_, HashSet<String>> {
        self.active.lock().expect("no code panics while it holds the halts")
    }
}
