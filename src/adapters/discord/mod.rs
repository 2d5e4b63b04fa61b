//! The adapter for Discord, and for the sandbox, which behaves like Discord.
//!
//! It runs one [`identity`] per persona with a token, each with a gateway connection of its own. Their [`gateway`]s report each event once, as
//! [`kernel::chat::PlatformEvent`]. A [`rest`] client posts, reads back and fetches files within Discord's limits. Personas without a token post
//! through webhooks. No account is special: what the coordinator's cannot do, the next one does. Slash [`commands`] belong to one account; every
//! account handles buttons.
//!
//! Outside of this folder every id begins with `discord:`, which [`ids`] adds and removes.
//!
//! It does not decide who answers (the router does), remember which messages were handled (the inbox does), or retry calls that may have succeeded
//! (the outbox does). State that must survive a restart goes through the traits in [`ports`].

mod accounts;
mod address;
mod avatars;
mod check;
mod commands;
mod connect;
mod deputies;
mod gateway;
mod identity;
mod ids;
mod links;
mod markup;
mod options;
mod platform;
mod ports;
mod rest;
pub mod settings;

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use check::check;
pub use ids::PLATFORM;
pub use markup::TEXT;
pub use options::{ConnectError, Options, Timing};
pub use ports::{IdentifyLog, Registrations};

use avatars::Emojis;
use gateway::Hub;
use identity::Identity;
use kernel::ids::PersonaSlug;
use kernel::persona::roster::Roster;
use rest::Rest;
use rest::webhooks::Webhooks;

/// The team on Discord. Created by [`Discord::connect`], used as a [`kernel::chat::ChatPlatform`].
pub struct Discord {
    roster: Arc<Roster>,
    hub: Arc<Hub>,
    rest: Arc<Rest>,
    webhooks: Webhooks,
    emojis: Emojis,
    identities: BTreeMap<PersonaSlug, Arc<Identity>>,
    supervisors: Mutex<JoinSet<()>>,
    stop: CancellationToken,
}

impl Discord {
    /// Closes all identities concurrently, so that their accounts show as offline.
    pub async fn close(&self) {
        self.stop.cancel();
        while self.supervisors.lock().await.join_next().await.is_some() {}
    }
}
