//! State that the adapter keeps across restarts. Implemented by the store; connected in `app`.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use kernel::ids::PersonaSlug;

/// The commands and avatars that were set last. They are not set again unchanged, because Discord allows 200 registrations of commands a day,
/// and few changes of an avatar an hour.
#[async_trait]
pub trait Registrations: Send + Sync + 'static {
    /// The digest recorded for `scope`: the commands of an application, globally or on one server, or the avatar of an account.
    async fn find(&self, scope: &str) -> anyhow::Result<Option<String>>;

    /// Records that `digest` is set for `scope`.
    async fn record(&self, scope: &str, digest: &str) -> anyhow::Result<()>;
}

/// When each persona sent an IDENTIFY. Discord resets a token after 1000 a day. The log must survive restarts, because a crash loop would
/// exceed the limit.
#[async_trait]
pub trait IdentifyLog: Send + Sync + 'static {
    async fn record(&self, persona: &PersonaSlug, at: DateTime<Utc>) -> anyhow::Result<()>;

    async fn count_since(&self, persona: &PersonaSlug, since: DateTime<Utc>) -> anyhow::Result<u32>;
}
