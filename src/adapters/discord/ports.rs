//! State that the adapter keeps across restarts. Implemented by the store; connected in `app`.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use kernel::ids::PersonaSlug;

/// The commands that were registered last. An unchanged set is not registered again, because Discord allows 200 registrations a day.
#[async_trait]
pub trait Registrations: Send + Sync + 'static {
    /// The digest recorded for `scope`: an application, globally or on one server.
    async fn find(&self, scope: &str) -> anyhow::Result<Option<String>>;

    /// Records that `digest` is registered for `scope`.
    async fn record(&self, scope: &str, digest: &str) -> anyhow::Result<()>;
}

/// When each persona sent an IDENTIFY. Discord resets a token after 1000 a day. The log must survive restarts, because a crash loop would
/// exceed the limit.
#[async_trait]
pub trait IdentifyLog: Send + Sync + 'static {
    async fn record(&self, persona: &PersonaSlug, at: DateTime<Utc>) -> anyhow::Result<()>;

    async fn count_since(&self, persona: &PersonaSlug, since: DateTime<Utc>) -> anyhow::Result<u32>;
}
