//! Discord, and the sandbox, which is Discord to everything here.
//!
//! What it does: one [`identity`] per persona with a token, each on a thread of its own and supervised; what their [`gateway`]s see, once and
//! as [`PlatformEvent`]s; a [`rest`] client that posts, reads back and fetches files within Discord's limits; webhooks as the voice of
//! personas without a token; slash [`commands`] on the coordinator's account.
//!
//! What it deliberately does not do: decide who answers, remember what was handled, retry what may have been done. The router, the inbox
//! and the outbox do. Whatever has to outlive the process goes through the traits in [`ports`].

mod accounts;
mod address;
mod check;
mod commands;
mod gateway;
mod identity;
mod platform;
mod ports;
mod rest;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret;
use serde::Deserialize;
use serenity::all::HttpBuilder;
use serenity::model::id::GuildId;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use check::{Finding, check};
pub use ports::{IdentifyLog, Registrations};

use crate::chat::PlatformEvent;
use crate::chat::command::CommandDesk;
use crate::clock::SharedClock;
use crate::config::DiscordSettings;
use crate::domain::ids::PersonaSlug;
use crate::domain::roster::{Accounts, Roster};
use accounts::OwnAccounts;
use address::Address;
use commands::{Commands, Counter};
use gateway::Hub;
use identity::{Identity, SessionParts, Supervisor};
use rest::webhooks::Webhooks;
use rest::{Call, Credential, Rest};

/// What the adapter is made from.
pub struct Options {
    pub settings: DiscordSettings,
    pub roster: Arc<Roster>,
    /// Accounts from earlier runs, so that a persona that is not online yet is known all the same.
    pub known_accounts: Accounts,
    pub clock: SharedClock,
    /// Where everything that happens is sent to.
    pub events: mpsc::Sender<PlatformEvent>,
    pub commands: Arc<dyn CommandDesk>,
    pub registrations: Arc<dyn Registrations>,
    pub identify_log: Arc<dyn IdentifyLog>,
    pub timing: Timing,
}

/// How long things may take. The defaults are for Discord; tests are in more of a hurry.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// From starting a session to READY.
    pub ready: Duration,
    /// From redialling to RESUMED or READY.
    pub redial: Duration,
    /// Without an event or an acknowledged heartbeat a session is dead: two and a half of Discord's heartbeats of 41.25 s.
    pub silence: Duration,
    /// A session that was up this long was a good one; the next pause is short again.
    pub steady: Duration,
    /// How often a session is looked at. A redial waits this long at most.
    pub look: Duration,
    /// The pauses between sessions: doubling from the first to the longest.
    pub first_pause: Duration,
    pub longest_pause: Duration,
    /// How often it is tried again when too many logins were made within an hour.
    pub budget_recheck: Duration,
    /// How long a session may take to say goodbye.
    pub farewell: Duration,
    /// Between groups of logins, as `max_concurrency` asks.
    pub login_spacing: Duration,
    /// A REST call from its beginning to the last byte, and how long one waits for its turn.
    pub call: Duration,
    /// How long a command can be followed up. Discord gives 15 minutes; the last half is kept for the calls themselves.
    pub interaction: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            ready: Duration::from_secs(30),
            redial: Duration::from_secs(10),
            silence: Duration::from_secs(103),
            steady: Duration::from_mins(2),
            look: Duration::from_millis(250),
            first_pause: Duration::from_secs(2),
            longest_pause: Duration::from_mins(10),
            budget_recheck: Duration::from_mins(1),
            farewell: Duration::from_secs(3),
            login_spacing: Duration::from_secs(5),
            call: Duration::from_secs(12),
            interaction: Duration::from_secs(14 * 60 + 30),
        }
    }
}

/// Why the team cannot be brought to Discord at all.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("no persona has a token; set DISCORD_TOKEN_<PERSONA> for the coordinator at least")]
    NoToken,
    #[error("the token of {0} holds characters that no token holds; copy it again")]
    MalformedToken(PersonaSlug),
    #[error("{0:?} is no address of an API or a gateway")]
    Malformed(String),
    #[error("{0:?} is no id of a server")]
    MalformedServer(String),
    #[error("discord.gateway_url is set and discord.api_url is not; set both, or neither for Discord itself")]
    GatewayWithoutApi,
    #[error("{base} names a gateway on another host ({gateway}); set discord.gateway_url if that is right")]
    ForeignGateway { base: String, gateway: String },
    #[error("{base} could not be reached: {reason}")]
    Unreachable { base: String, reason: String },
    #[error("the HTTP client could not be made: {0}")]
    Client(String),
}

/// The team on Discord. [`crate::chat::ChatPlatform`] is implemented in `platform.rs`.
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
    /// Brings the team online. Returns as soon as the addresses are known; each identity reports itself by [`PlatformEvent::Ready`].
    ///
    /// # Errors
    /// When the settings cannot be right, or Discord cannot be reached at all. A single identity's trouble is an event.
    pub async fn connect(options: Options) -> Result<Arc<Self>, ConnectError> {
        let Options { settings, roster, known_accounts, clock, events, commands, registrations, identify_log, timing } = options;
        let address = Address::parse(&settings)?;
        let http = address::http_client(timing.call)?;
        let gateway_url = address.find_gateway(&http, &settings).await?;
        let credentials = credentials(&settings, &roster)?;
        let (incoming, arriving) = mpsc::unbounded_channel();
        let allowed = settings.allowed_guilds.iter().map(|id| parse_server(id)).collect::<Result<_, _>>()?;
        let server = settings.guild.as_deref().map(parse_server).transpose()?.map(|server| server.to_string());
        let hub = Arc::new(Hub::new(OwnAccounts::new(Arc::clone(&roster), known_accounts), allowed, incoming.clone()));
        let rest = Arc::new(Rest::new(http, address.clone(), timing.call, incoming));
        tokio::spawn(gateway::pump(arriving, events, Arc::clone(&hub), Arc::clone(&rest), credentials.clone()));

        let group = find_login_group(&rest, &credentials, &roster).await;
        // Of its own: a connection belongs to the runtime that opened it, and those of the gateway threads go away.
        let gateway_http = address::http_client(timing.call)?;
        let discord = Self {
            hub: Arc::clone(&hub),
            rest: Arc::clone(&rest),
            webhooks: Webhooks::default(),
            identities: credentials.iter().map(|c| (c.persona.clone(), Arc::new(Identity::new(Arc::clone(c))))).collect(),
            supervisors: Mutex::default(),
            stop: CancellationToken::new(),
            roster: Arc::clone(&roster),
        };
        let mut supervisors = discord.supervisors.lock().await;
        for (index, identity) in discord.identities.values().enumerate() {
            let commands = (identity.persona == roster.coordinator().slug).then(|| {
                Arc::new(Commands::new(Arc::new(Counter {
                    desk: Arc::clone(&commands),
                    registrations: Arc::clone(&registrations),
                    rest: Arc::clone(&rest),
                    hub: Arc::clone(&hub),
                    credential: Arc::clone(&identity.credential),
                    server: server.clone(),
                    timing,
                    runtime: tokio::runtime::Handle::current(),
                })))
            });
            let token = settings.tokens[&identity.persona].expose_secret();
            // With its own rate limiter on, serenity ignores the address it is given.
            let http = HttpBuilder::new(token.trim()).client(gateway_http.clone()).proxy(address.base()).ratelimiter_disabled(true);
            let supervisor = Supervisor {
                identity: Arc::clone(identity),
                parts: SessionParts { gateway_url: gateway_url.clone(), http: Arc::new(http.build()), hub: Arc::clone(&hub), commands },
                timing,
                clock: Arc::clone(&clock),
                identify_log: Arc::clone(&identify_log),
                stop: discord.stop.clone(),
            };
            let wait = timing.login_spacing * u32::try_from(index / group).unwrap_or(u32::MAX);
            supervisors.spawn(supervisor.run(wait));
        }
        drop(supervisors);
        Ok(Arc::new(discord))
    }

    /// Closes all identities, side by side, so that their accounts show as offline.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        while self.supervisors.lock().await.join_next().await.is_some() {}
    }
}

/// The tokens of the personas on the roster. A token of nobody is told and left alone.
fn credentials(settings: &DiscordSettings, roster: &Roster) -> Result<Vec<Arc<Credential>>, ConnectError> {
    let mut credentials = Vec::new();
    for (slug, token) in &settings.tokens {
        let Some(persona) = roster.find(slug) else {
            tracing::warn!(persona = %slug, "there is a token for a persona that is not on the roster");
            continue;
        };
        let credential = Credential::new(slug.clone(), persona.name.clone(), token);
        credentials.push(Arc::new(credential.ok_or_else(|| ConnectError::MalformedToken(slug.clone()))?));
    }
    if credentials.is_empty() { Err(ConnectError::NoToken) } else { Ok(credentials) }
}

fn parse_server(id: &str) -> Result<GuildId, ConnectError> {
    id.parse().ok().filter(|id| *id != 0).map(GuildId::new).ok_or_else(|| ConnectError::MalformedServer(id.to_owned()))
}

/// How many identities may log in at once. Asked for with the coordinator's token; a refusal shows again at its login.
async fn find_login_group(rest: &Rest, credentials: &[Arc<Credential>], roster: &Roster) -> usize {
    #[derive(Deserialize)]
    struct Gateway {
        session_start_limit: Limit,
    }
    #[derive(Deserialize)]
    struct Limit {
        max_concurrency: usize,
    }
    let coordinator = credentials.iter().find(|credential| credential.persona == roster.coordinator().slug);
    let Some(asking) = coordinator.or(credentials.first()) else { return 1 };
    match rest.fetch::<Gateway>(asking, Call::get("/gateway/bot".to_owned())).await {
        Ok(gateway) => gateway.session_start_limit.max_concurrency.max(1),
        Err(failure) => {
            tracing::warn!(%failure, "how many may log in at once could not be asked; they log in one by one");
            1
        }
    }
}
