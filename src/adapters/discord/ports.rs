//! What this adapter needs remembered across restarts. The store keeps it; `app` brings the two together.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use kernel::ids::PersonaSlug;

/// Which commands were registered last, so that an unchanged set costs none of the 200 registrations a day.
#[async_trait]
pub trait Registrations: Send + Sync + 'static {
    /// The digest recorded for `scope` (an application, globally or on one server).
    async fn find(&self, scope: &str) -> anyhow::Result<Option<String>>;

    /// Remembers that `digest` is now registered for `scope`.
    async fn record(&self, scope: &str, digest: &str) -> anyhow::Result<()>;
}

/// When each persona sent an IDENTIFY. Discord resets a token that sends 1000 a day, and a crash loop forgets what it did.
#[async_trait]
pub trait IdentifyLog: Send + Sync + 'static {
    async fn record(&self, persona: &PersonaSlug, at: DateTime<Utc>) -> anyhow::Result<()>;

    async fn count_since(&self, persona: &PersonaSlug, since: DateTime<Utc>) -> anyhow::Result<u32>;
}
