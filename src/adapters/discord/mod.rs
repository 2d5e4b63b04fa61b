//! Discord, and the sandbox, which is Discord to everything here.
//!
//! What it does: one [`identity`] per persona with a token, each on a thread of its own and supervised; what their [`gateway`]s see, once and
//! as [`kernel::chat::PlatformEvent`]s; a [`rest`] client that posts, reads back and fetches files within Discord's limits; webhooks as the voice of
//! personas without a token; slash [`commands`] on the coordinator's account, buttons on every one.
//!
//! What it deliberately does not do: decide who answers, remember what was handled, retry what may have been done. The router, the inbox
//! and the outbox do. Whatever has to outlive the process goes through the traits in [`ports`].

mod accounts;
mod address;
mod check;
mod commands;
mod connect;
mod gateway;
mod identity;
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

pub use check::{Finding, check};
pub use options::{ConnectError, Options, Timing};
pub use ports::{IdentifyLog, Registrations};

use gateway::Hub;
use identity::Identity;
use kernel::ids::PersonaSlug;
use kernel::persona::roster::Roster;
use rest::Rest;
use rest::webhooks::Webhooks;

/// The team on Discord. It is brought online by [`Discord::connect`] and used as a [`kernel::chat::ChatPlatform`].
pub struct Discord {
    roster: Arc<Roster>,
    hub: Arc<Hub>,
    rest: Arc<Rest>,
    webhooks: Webhooks,
    identities: BTreeMap<PersonaSlug, Arc<Identity>>,
    supervisors: Mutex<JoinSet<()>>,
    stop: CancellationToken,
}

impl Discord {
    /// Closes all identities, side by side, so that their accounts show as offline.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        while self.supervisors.lock().await.join_next().await.is_some() {}
    }
}
