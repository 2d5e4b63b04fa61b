use std::collections::HashMap;
use std::sync::Arc;

use secrecy::ExposeSecret;
use serenity::model::id::GuildId;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::adapters::discord::Discord;
use crate::adapters::discord::accounts::OwnAccounts;
use crate::adapters::discord::address::{Address, GatewayAddress, http_client};
use crate::adapters::discord::avatars::{AccountAvatar, Change, Emojis};
use crate::adapters::discord::commands::{CommandDuty, Interactions};
use crate::adapters::discord::gateway::{Gateway, Hub, pump};
use crate::adapters::discord::identity::{Identity, Logins, Supervisor};
use crate::adapters::discord::options::{ConnectError, Options};
use crate::adapters::discord::rest::webhooks::Webhooks;
use crate::adapters::discord::rest::{Credential, Rest};
use crate::adapters::discord::settings::DiscordSettings;
use kernel::ids::PersonaSlug;
use kernel::persona::roster::Roster;

impl Discord {
    /// Brings the team online. Each identity reports itself later with [`kernel::chat::PlatformEvent::Ready`], also if Discord cannot be reached yet.
    ///
    /// # Errors
    /// The settings are invalid. Problems of a single identity are reported as events.
    pub async fn connect(options: Options) -> Result<Arc<Self>, ConnectError> {
        let settings = &options.settings;
        let address = Address::parse(settings)?;
        let credentials = credentials(settings, &options.roster)?;
        let allowed = settings.allowed_guilds.iter().map(|id| parse_server(id)).collect::<Result<_, _>>()?;
        let server = settings.guild.as_deref().map(parse_server).transpose()?;
        let http = http_client(options.timing.call)?;
        let gateway = GatewayAddress::new(address.clone(), http.clone(), settings.clone());
        match gateway.get().await {
            // Each identity tries again. A server that comes up later is enough.
            Err(error @ (ConnectError::Unreachable { .. } | ConnectError::Limited { .. })) => tracing::warn!(%error, "trying again"),
            found => drop(found?),
        }

        let (incoming, arriving) = mpsc::unbounded_channel();
        let accounts = OwnAccounts::new(Arc::clone(&options.roster), options.known_accounts.clone());
        let hub = Arc::new(Hub::new(accounts, allowed, incoming.clone()));
        let rest = Arc::new(Rest::new(http, address, options.timing.call, incoming));
        tokio::spawn(pump(arriving, options.events.clone(), Arc::clone(&hub), Arc::clone(&rest), credentials.clone()));

        let stop = CancellationToken::new();
        let identities: Vec<_> = credentials.into_iter().map(|credential| Arc::new(Identity::new(credential))).collect();
        let duty = Arc::new(CommandDuty::new(in_order(&identities, &options.roster)));
        let launch = Launch { options: &options, duty, gateway: Arc::new(gateway), server, hub, rest, stop };
        let mut supervisors = JoinSet::new();
        let mut by_token: HashMap<String, Arc<Logins>> = HashMap::new();
        for identity in &identities {
            let token = options.settings.tokens[&identity.persona].expose_secret().trim();
            let logins = by_token.entry(token.to_owned()).or_default();
            supervisors.spawn(launch.supervisor(identity, Arc::clone(logins)).run());
        }
        Ok(Arc::new(Self {
            roster: Arc::clone(&options.roster),
            hub: launch.hub,
            rest: launch.rest,
            webhooks: Webhooks::default(),
            emojis: Emojis::default(),
            identities: identities.into_iter().map(|identity| (identity.persona.clone(), identity)).collect(),
            supervisors: supervisors.into(),
            stop: launch.stop,
        }))
    }
}

/// Shared by all identities at their start.
struct Launch<'a> {
    options: &'a Options,
    duty: Arc<CommandDuty>,
    gateway: Arc<GatewayAddress>,
    server: Option<GuildId>,
    hub: Arc<Hub>,
    rest: Arc<Rest>,
    stop: CancellationToken,
}

impl Launch<'_> {
    fn supervisor(&self, identity: &Arc<Identity>, logins: Arc<Logins>) -> Supervisor {
        let token = self.options.settings.tokens[&identity.persona].clone();
        Supervisor {
            identity: Arc::clone(identity),
            gateway: Gateway {
                identity: Arc::clone(identity),
                hub: Arc::clone(&self.hub),
                interactions: self.interactions(&identity.credential),
                avatar: self.avatar(&identity.credential),
            },
            address: Arc::clone(&self.gateway),
            rest: Arc::clone(&self.rest),
            token,
            logins,
            timing: self.options.timing,
            clock: Arc::clone(&self.options.clock),
            identify_log: Arc::clone(&self.options.identify_log),
            stop: self.stop.clone(),
        }
    }

    fn avatar(&self, credential: &Arc<Credential>) -> Option<AccountAvatar> {
        Some(AccountAvatar::new(Change {
            persona: self.options.roster.find(&credential.persona)?.clone(),
            credential: Arc::clone(credential),
            rest: Arc::clone(&self.rest),
            registrations: Arc::clone(&self.options.registrations),
            wait: self.options.timing.avatar,
            stop: self.stop.clone(),
        }))
    }

    fn interactions(&self, credential: &Arc<Credential>) -> Arc<Interactions> {
        Arc::new(Interactions {
            registry: Arc::clone(&self.options.commands),
            duty: Arc::clone(&self.duty),
            registering: tokio::sync::Mutex::default(),
            registrations: Arc::clone(&self.options.registrations),
            rest: Arc::clone(&self.rest),
            hub: Arc::clone(&self.hub),
            credential: Arc::clone(credential),
            server: self.server,
            timing: self.options.timing,
            runtime: tokio::runtime::Handle::current(),
            stop: self.stop.clone(),
            redactor: self.options.redactor.clone(),
            attach_over: self.options.attach_over,
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

/// The accounts in the order in which they act for the team: the coordinator's first.
fn in_order(identities: &[Arc<Identity>], roster: &Roster) -> Vec<PersonaSlug> {
    let mut order: Vec<_> = identities.iter().map(|identity| identity.persona.clone()).collect();
    order.sort_by_key(|persona| *persona != roster.coordinator().slug);
    order
}

fn parse_server(id: &str) -> Result<GuildId, ConnectError> {
    id.parse().ok().filter(|id| *id != 0).map(GuildId::new).ok_or_else(|| ConnectError::MalformedServer(id.to_owned()))
}
