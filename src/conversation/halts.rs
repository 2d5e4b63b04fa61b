//! Who is silenced where. Kept in the store, so that a halt survives a restart, and in memory, since every message asks.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use chrono::{DateTime, Utc};

use crate::domain::ids::{ChannelId, PersonaSlug};
use crate::store::{HaltScope, Store, StoreError};

pub(super) struct Halts {
    store: Store,
    /// Since when each is in force.
    active: Mutex<HashMap<HaltScope, DateTime<Utc>>>,
}

impl Halts {
    /// Reads what an earlier process left halted.
    pub(super) async fn load(store: Store) -> Result<Self, StoreError> {
        let active = store.list_halts().await?.into_iter().map(|halt| (halt.scope, halt.at)).collect();
        Ok(Self { store, active: Mutex::new(active) })
    }

    pub(super) fn is_team_halted(&self) -> bool {
        self.active().contains_key(&HaltScope::All)
    }

    /// True when agents are to be silent in a channel until a person speaks to one.
    pub(super) fn is_halted_in(&self, channel: &ChannelId) -> bool {
        let active = self.active();
        active.contains_key(&HaltScope::All) || active.contains_key(&HaltScope::Channel(channel.clone()))
    }

    /// True when the channel was halted at or after `since`.
    pub(super) fn was_halted_since(&self, channel: &ChannelId, since: DateTime<Utc>) -> bool {
        let active = self.active();
        [HaltScope::All, HaltScope::Channel(channel.clone())].iter().filter_map(|scope| active.get(scope)).any(|at| *at >= since)
    }

    /// Channels in which agents are silent, for showing.
    pub(super) fn list_channels(&self) -> Vec<ChannelId> {
        let channel = |scope: &HaltScope| if let HaltScope::Channel(id) = scope { Some(id.clone()) } else { None };
        self.active().keys().filter_map(channel).collect()
    }

    pub(super) fn is_paused(&self, persona: &PersonaSlug) -> bool {
        self.active().contains_key(&HaltScope::Persona(persona.clone()))
    }

    /// In force from this instant, even if the store cannot be written: silence is the safe side.
    pub(super) async fn set(&self, scope: HaltScope, by: &str, at: DateTime<Utc>) -> Result<(), StoreError> {
        self.active().insert(scope.clone(), at);
        self.store.halt(&scope, by, at).await
    }

    /// True when there was something to lift.
    pub(super) async fn lift(&self, scope: &HaltScope) -> Result<bool, StoreError> {
        self.store.resume(scope).await?;
        Ok(self.active().remove(scope).is_some())
    }

    /// Lifts every halt of the team and of channels; paused personas stay paused.
    pub(super) async fn lift_all(&self) -> Result<(), StoreError> {
        let lifted: Vec<HaltScope> = self.active().keys().filter(|scope| !matches!(scope, HaltScope::Persona(_))).cloned().collect();
        for scope in &lifted {
            self.lift(scope).await?;
        }
        Ok(())
    }

    fn active(&self) -> MutexGuard<'_, HashMap<HaltScope, DateTime<Utc>>> {
        self.active.lock().expect("no code panics while it holds the halts")
    }
}
