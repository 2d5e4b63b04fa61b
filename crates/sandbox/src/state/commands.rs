//! Application commands: each bot's global ones and those of the guild.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::snowflake::{Snowflake, now_ms};

/// An application's global commands, or those for the guild.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Scope {
    pub(crate) application: Snowflake,
    pub(crate) guild: Option<Snowflake>,
}

/// A command is stored as the JSON of Discord's response.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    by_scope: BTreeMap<Scope, Vec<Value>>,
    /// Unix milliseconds of the creations that count towards the daily limit.
    created: BTreeMap<Scope, Vec<u64>>,
}

/// "There is a global rate limit of 200 application command creates per day, per guild."
const CREATES_PER_DAY: usize = 200;
const DAY_MS: u64 = 24 * 60 * 60 * 1000;

impl Commands {
    pub(crate) fn replace(&mut self, scope: Scope, commands: Vec<Value>) {
        self.by_scope.insert(scope, commands);
    }

    pub(crate) fn list(&self, scope: Scope) -> &[Value] {
        self.by_scope.get(&scope).map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Scope, &[Value])> {
        self.by_scope.iter().map(|(scope, commands)| (*scope, commands.as_slice()))
    }

    /// A command of this application that can be used in the guild, by id or by name. Guild commands have precedence.
    pub(crate) fn find(&self, application: Snowflake, guild: Snowflake, id: Option<&str>, name: &str) -> Option<&Value> {
        let scopes = [Scope { application, guild: Some(guild) }, Scope { application, guild: None }];
        scopes.into_iter().flat_map(|scope| self.list(scope)).find(|command| match id {
            Some(id) => command["id"] == *id,
            None => command["name"] == *name,
        })
    }

    /// Counts `count` creations. Returns `false` if that exceeds the daily limit.
    pub(crate) fn may_create(&mut self, scope: Scope, count: usize) -> bool {
        let now = now_ms();
        let created = self.created.entry(scope).or_default();
        created.retain(|at| now.saturating_sub(*at) < DAY_MS);
        let allowed = created.len() + count <= CREATES_PER_DAY;
        if allowed {
            created.extend(std::iter::repeat_n(now, count));
        }
        allowed
    }
}
