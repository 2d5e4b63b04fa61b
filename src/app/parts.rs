//! The parts that a team is built out of, each made of what is configured.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ports::{Memory, Reception};
use super::sources::OwnDoings;
use super::tools;
use crate::chat::PlatformEvent;
use crate::chat::redact::Redactor;
use crate::clock::SharedClock;
use crate::config::Config;
use crate::discord::{self, Discord};
use crate::domain::ids::{PersonaSlug, UserId};
use crate::domain::meeting::StandupTerms;
use crate::domain::roster::{Accounts, Roster};
use crate::feeds::{Feed, FeedBuilder, FeedSources, Web};
use crate::llm::Models;
use crate::persona::LedgerMeter;
use crate::persona::turn::{Performer, Readings};
use crate::store::Store;
use crate::tools::workspace::Workspaces;
use crate::work;
use crate::work::desk::Backlog;

/// The accounts of personas that earlier runs have seen.
pub(super) async fn known_accounts(store: &Store) -> anyhow::Result<Accounts> {
    let mut accounts = Accounts::default();
    for identity in store.list_identities().await? {
        accounts.record(identity.account, identity.persona);
    }
    Ok(accounts)
}

/// What people reach the backlog through that these parts work on.
pub(super) fn backlog_desk(config: &Config, work: &work::Parts) -> Arc<Backlog> {
    let work::Parts { store, roster, relay, clock, wake, budgets, settings, .. } = work.clone();
    let (people, most_rejections) = (people(config), settings.attempts);
    Arc::new(Backlog::new(work::desk::Parts { store, roster, people, budgets, most_rejections, relay, clock, ring: wake }))
}

/// Brings the identities online; what they hear goes to `events`.
pub(super) async fn connect(
    config: &Config,
    roster: &Arc<Roster>,
    known_accounts: &Accounts,
    events: mpsc::Sender<PlatformEvent>,
    commands: Arc<Reception>,
    memory: Memory,
) -> anyhow::Result<Arc<Discord>> {
    let (clock, memory) = (memory.clock.clone(), Arc::new(memory));
    Discord::connect(discord::Options {
        settings: config.discord.clone(),
        roster: roster.clone(),
        known_accounts: known_accounts.clone(),
        clock,
        events,
        commands,
        registrations: memory.clone(),
        identify_log: memory,
        timing: if config.discord.api_url.is_some() { discord::Timing::elsewhere() } else { discord::Timing::default() },
    })
    .await
    .context("cannot connect to Discord")
}

/// On what terms standups are called.
pub fn terms(config: &Config, roster: &Roster) -> StandupTerms {
    StandupTerms { facilitator: roster.coordinator().slug.clone(), zone: config.schedules.zone, session: config.standup.session }
}

/// Who may own an item of the backlog besides personas, with the name that they are called by.
pub fn people(config: &Config) -> Vec<(UserId, String)> {
    config.standup.humans.iter().map(|(name, id)| (id.clone(), name.clone())).collect()
}

/// Everything a turn works with. Also returns where it is told that the day's budget runs low.
///
/// # Errors
/// A feed or a model that is declared in a way that cannot work.
pub fn performer(
    config: &Config,
    roster: &Arc<Roster>,
    store: &Store,
    clock: &SharedClock,
) -> anyhow::Result<(Performer, mpsc::Receiver<String>)> {
    let doings = Arc::new(OwnDoings { store: store.clone(), roster: roster.clone() });
    let (activity, backlog, ledger) = (doings.clone(), doings.clone(), doings);
    let web = Web::new().context("cannot make an HTTP client for feeds")?;
    let mut builder = FeedBuilder::new(FeedSources { work: config.work.clone(), clock: clock.clone(), web, activity, backlog, ledger });
    let mut feeds: HashMap<PersonaSlug, Vec<Feed>> = HashMap::new();
    for persona in roster.personas() {
        for spec in &persona.feeds {
            let feed = builder.build(spec).with_context(|| format!("a feed of {} is declared wrongly", persona.name))?;
            feeds.entry(persona.slug.clone()).or_default().push(feed);
        }
    }
    let (meter, low) = LedgerMeter::new(store.clone(), config.budgets.clone(), clock.clone());
    let http = reqwest::Client::builder()
        .connect_timeout(config.models.connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .context("cannot make an HTTP client")?;
    let models = Models::new(&config.models, &http, meter, clock.clone())?;
    let performer = Performer {
        roster: roster.clone(),
        team: config.team.clone(),
        store: store.clone(),
        models,
        max_output_tokens: config.models.max_output_tokens,
        readings: Readings::new(feeds, clock.clone()),
        redactor: redactor(config),
        clock: clock.clone(),
    };
    Ok((performer, low))
}

/// What the backlog is worked off with, by a process of its own that nobody stops.
///
/// # Errors
/// A tool is set in a way that cannot work, or a persona lists one that there is not.
pub(super) fn work_parts(
    config: &Config,
    roster: &Arc<Roster>,
    store: &Store,
    performer: &Arc<Performer>,
    clock: &SharedClock,
) -> anyhow::Result<work::Parts> {
    let workspaces = Workspaces::new(config.data.join("workspaces"));
    let toolbox = Arc::new(tools::toolbox(config, roster, performer, &workspaces)?);
    Ok(work::Parts {
        roster: roster.clone(),
        settings: config.backlog.clone(),
        learnings: config.data.join("learnings.md"),
        store: store.clone(),
        relay: None,
        performer: performer.clone(),
        toolbox,
        budgets: config.budgets.clone(),
        workspaces,
        clock: clock.clone(),
        tasks: TaskTracker::new(),
        wake: Arc::new(Notify::new()),
        stop: CancellationToken::new(),
        kill: CancellationToken::new(),
    })
}

/// Knows everything that this process was told in confidence.
pub(crate) fn redactor(config: &Config) -> Redactor {
    let secrets: Vec<_> = config.list_secrets().into_iter().cloned().collect();
    Redactor::new(&secrets)
}
