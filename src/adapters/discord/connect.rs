use std::sync::Arc;

use secrecy::ExposeSecret;
use serde::Deserialize;
use serenity::all::HttpBuilder;
use serenity::model::id::GuildId;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::adapters::discord::Discord;
use crate::adapters::discord::accounts::OwnAccounts;
use crate::adapters::discord::address::{Address, http_client};
use crate::adapters::discord::commands::Interactions;
use crate::adapters::discord::gateway::{Hub, pump};
use crate::adapters::discord::identity::{Identity, SessionDeps, Supervisor};
use crate::adapters::discord::options::{ConnectError, Options};
use crate::adapters::discord::rest::webhooks::Webhooks;
use crate::adapters::discord::rest::{Call, Credential, Rest};
use crate::adapters::discord::settings::DiscordSettings;
use kernel::persona::roster::Roster;

impl Discord {
    /// Brings the team online. Returns once the addresses are known. Each identity reports itself later with
    /// [`kernel::chat::PlatformEvent::Ready`].
    ///
    /// # Errors
    /// The settings are invalid, or Discord cannot be reached. Problems of a single identity are reported as events.
    pub async fn connect(options: Options) -> Result<Arc<Self>, ConnectError> {
        let settings = &options.settings;
        let address = Address::parse(settings)?;
        let credentials = credentials(settings, &options.roster)?;
        let allowed = settings.allowed_guilds.iter().map(|id| parse_server(id)).collect::<Result<_, _>>()?;
        let server = settings.guild.as_deref().map(parse_server).transpose()?;
        let http = http_client(options.timing.call)?;
        let gateway_url = address.find_gateway(&http, settings).await?;

        let (incoming, arriving) = mpsc::unbounded_channel();
        let accounts = OwnAccounts::new(Arc::clone(&options.roster), options.known_accounts.clone());
        let hub = Arc::new(Hub::new(accounts, allowed, incoming.clone()));
        let rest = Arc::new(Rest::new(http, address.clone(), options.timing.call, incoming));
        tokio::spawn(pump(arriving, options.events.clone(), Arc::clone(&hub), Arc::clone(&rest), credentials.clone()));

        let group = find_login_group(&rest, &credentials, &options.roster).await;
        // A separate client: connections belong to the runtime that opened them, and the runtimes of gateway threads end.
        let gateway_http = http_client(options.timing.call)?;
        let stop = CancellationToken::new();
        let identities: Vec<_> = credentials.into_iter().map(|credential| Arc::new(Identity::new(credential))).collect();
        let launch = Launch { options: &options, address, gateway_url, gateway_http, server, hub, rest, stop };
        let mut supervisors = JoinSet::new();
        for (index, identity) in identities.iter().enumerate() {
            let wait = options.timing.login_spacing * u32::try_from(index / group).unwrap_or(u32::MAX);
            supervisors.spawn(launch.supervisor(identity).run(wait));
        }
        Ok(Arc::new(Self {
            roster: Arc::clone(&options.roster),
            hub: launch.hub,
            rest: launch.rest,
            webhooks: Webhooks::default(),
            identities: identities.into_iter().map(|identity| (identity.persona.clone(), identity)).collect(),
            supervisors: supervisors.into(),
            stop: launch.stop,
        }))
    }
}

/// Shared by all identities at their start.
struct Launch<'a> {
    options: &'a Options,
    address: Address,
    gateway_url: String,
    gateway_http: reqwest::Client,
    server: Option<GuildId>,
    hub: Arc<Hub>,
    rest: Arc<Rest>,
    stop: CancellationToken,
}

impl Launch<'_> {
    fn supervisor(&self, identity: &Arc<Identity>) -> Supervisor {
        let token = self.options.settings.tokens[&identity.persona].expose_secret().trim();
        // With its own rate limiter on, serenity ignores the configured address.
        let http = HttpBuilder::new(token).client(self.gateway_http.clone()).proxy(self.address.base()).ratelimiter_disabled(true);
        let is_coordinator = identity.persona == self.options.roster.coordinator().slug;
        let deps = SessionDeps {
            gateway_url: self.gateway_url.clone(),
            http: Arc::new(http.build()),
            hub: Arc::clone(&self.hub),
            interactions: self.interactions(&identity.credential, is_coordinator),
        };
        Supervisor {
            identity: Arc::clone(identity),
            deps,
            timing: self.options.timing,
            clock: Arc::clone(&self.options.clock),
            identify_log: Arc::clone(&self.options.identify_log),
            stop: self.stop.clone(),
        }
    }

    fn interactions(&self, credential: &Arc<Credential>, is_coordinator: bool) -> Arc<Interactions> {
        Arc::new(Interactions {
            registry: Arc::clone(&self.options.commands),
            is_coordinator,
            registrations: Arc::clone(&self.options.registrations),
            rest: Arc::clone(&self.rest),
            hub: Arc::clone(&self.hub),
            credential: Arc::clone(credential),
            server: self.server,
            timing: self.options.timing,
            runtime: tokio::runtime::Handle::current(),
        })
    }
}

/// The tokens of the personas on the roster. A token without a persona is reported and not used.
pub(super) fn credentials(settings: &DiscordSettings, roster: &Roster) -> Result<Vec<Arc<Credential>>, ConnectError> {
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

/// How many identities may log in at once. Asks with the coordinator's token. If the token is refused, its login reports that.
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
