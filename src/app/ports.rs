//! What the Discord adapter leaves to others: remembering, and answering commands.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::chat::command::{Choice, CommandCall, CommandDesk, CommandReply};
use crate::clock::SharedClock;
use crate::discord::{IdentifyLog, Registrations};
use crate::domain::ids::PersonaSlug;
use crate::store::Store;

/// What the adapter wants remembered, in the store.
pub(super) struct Memory {
    pub(super) store: Store,
    pub(super) clock: SharedClock,
}

#[async_trait]
impl Registrations for Memory {
    async fn find(&self, scope: &str) -> anyhow::Result<Option<String>> {
        Ok(self.store.find_registration(scope).await?)
    }

    async fn record(&self, scope: &str, digest: &str) -> anyhow::Result<()> {
        Ok(self.store.record_registration(scope, digest, self.clock.now()).await?)
    }
}

#[async_trait]
impl IdentifyLog for Memory {
    async fn record(&self, persona: &PersonaSlug, at: DateTime<Utc>) -> anyhow::Result<()> {
        Ok(self.store.record_identify(persona, at).await?)
    }

    async fn count_since(&self, persona: &PersonaSlug, since: DateTime<Utc>) -> anyhow::Result<u32> {
        Ok(u32::try_from(self.store.count_identifies(persona, since).await?).unwrap_or(u32::MAX))
    }
}

/// Stands in for the desk until there is one: the adapter needs it to connect, and the conversation behind it needs the adapter.
#[derive(Default)]
pub(super) struct Reception {
    desk: OnceLock<Arc<dyn CommandDesk>>,
}

impl Reception {
    pub(super) fn open(&self, desk: Arc<dyn CommandDesk>) {
        // Opened once, by the start.
        let _ = self.desk.set(desk);
    }
}

#[async_trait]
impl CommandDesk for Reception {
    async fn run(&self, call: CommandCall) -> CommandReply {
        match self.desk.get() {
            Some(desk) => desk.run(call).await,
            None => CommandReply::refused("We are just starting. Please try again in a moment."),
        }
    }

    fn complete_persona(&self, prefix: &str) -> Vec<String> {
        self.desk.get().map(|desk| desk.complete_persona(prefix)).unwrap_or_default()
    }

    async fn complete_job(&self, prefix: &str) -> Vec<String> {
        match self.desk.get() {
            Some(desk) => desk.complete_job(prefix).await,
            None => Vec::new(),
        }
    }

    async fn complete_item(&self, typed: &str) -> Vec<Choice> {
        match self.desk.get() {
            Some(desk) => desk.complete_item(typed).await,
            None => Vec::new(),
        }
    }
}
