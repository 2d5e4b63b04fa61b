//! The storage of the Discord adapter.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::adapters::discord::{IdentifyLog, Registrations};
use crate::store::Store;
use kernel::ids::PersonaSlug;
use kernel::time::SharedClock;

/// Stores the adapter's state in the database.
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
