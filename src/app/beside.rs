//! Commands in their own process, beside a running team or without one.

use std::sync::Arc;
use std::time::Duration;

use crate::app::deps::{agents, people, provide, scheduled_actions};
use crate::config::{Config, PLATFORM};
use crate::features::chat::commands::{ChatCommands, authorizer};
use crate::features::schedule::{self, Schedule};
use crate::features::{self, FeatureDeps};
use crate::store::Store;
use kernel::commands::{Registry, Services};
use kernel::db::StoreError;
use kernel::persona::roster::Roster;
use kernel::time::{Clock as _, SharedClock, SystemClock};
use tokio::net::TcpStream;

/// The commands of the team on its database.
pub struct Beside {
    pub registry: Registry,
    pub services: Services,
    pub store: Store,
}

/// How long to wait for an answer of another process.
const PATIENCE: Duration = Duration::from_millis(300);

/// The address of the kanban page, while a process of the team serves it. Only that process knows it: its settings or its port may differ.
async fn find_kanban(store: &Store) -> Result<Option<String>, StoreError> {
    let Some((address, url)) = store.find_kanban_page().await? else { return Ok(None) };
    let connected = tokio::time::timeout(PATIENCE, TcpStream::connect(address)).await;
    Ok(matches!(connected, Ok(Ok(_))).then_some(url))
}

/// Opens the database even if another process serves from it. A running team hears of new rows from the database.
///
/// # Errors
/// The database cannot be opened.
pub async fn beside(config: &Config, roster: Roster) -> anyhow::Result<Beside> {
    let store = Store::open_shared(&config.database_url, SystemClock.now()).await?;
    beside_on(config, roster, store).await
}

/// Like [`beside`], on a database that is open.
///
/// # Errors
/// The database does not respond.
pub async fn beside_on(config: &Config, roster: Roster, store: Store) -> anyhow::Result<Beside> {
    let clock: SharedClock = Arc::new(SystemClock);
    let roster = Arc::new(roster.in_zone(config.schedules.zone));
    let services = Services::new("This works only where the team runs. Give the command in the chat.");
    let registry = features::registry(PLATFORM, &services, authorizer(config.chat.clone(), &services));
    let people = people(config, &store);
    // An invalid setting must not keep an operator from halting the team.
    let (agents, more) = match agents(config, &roster, &store, &clock, &services) {
        Ok(deps) => (Some(Arc::new(deps.agents)), deps.faults),
        Err(_) => (None, Vec::new()),
    };
    let deps = FeatureDeps {
        config,
        roster: roster.clone(),
        people: people.clone(),
        store: store.clone(),
        running: None,
        kanban: find_kanban(&store).await?,
        speech: agents.as_ref().and_then(|agents| agents.speech.clone()),
        clock: clock.clone(),
    };
    provide(&deps, &services);
    services.provide(Arc::new(Schedule::new(schedule::Deps {
        settings: config.schedules.clone(),
        coordinator: roster.coordinator().slug.clone(),
        actions: scheduled_actions(&deps, &services),
        store: store.clone(),
        platform: None,
        clock: clock.clone(),
    })));
    services.provide(Arc::new(ChatCommands {
        store: store.clone(),
        faults: roster.faults().iter().cloned().chain(more).collect(),
        roster,
        agents,
        clock,
        budgets: config.effective_budgets(),
        people,
        platform: None,
        live: None,
    }));
    Ok(Beside { registry, services, store })
}
