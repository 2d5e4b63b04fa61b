use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::adapters::discord::ports::{IdentifyLog, Registrations};
use crate::adapters::discord::settings::DiscordSettings;
use kernel::chat::PlatformEvent;
use kernel::chat::redact::Redactor;
use kernel::commands::Registry;
use kernel::ids::PersonaSlug;
use kernel::persona::roster::{Accounts, Roster};
use kernel::time::SharedClock;

pub struct Options {
    pub settings: DiscordSettings,
    pub roster: Arc<Roster>,
    /// Accounts of earlier runs, so that a persona that is not online yet is recognised.
    pub known_accounts: Accounts,
    pub clock: SharedClock,
    /// Receives all events.
    pub events: mpsc::Sender<PlatformEvent>,
    pub commands: Arc<Registry>,
    pub registrations: Arc<dyn Registrations>,
    pub identify_log: Arc<dyn IdentifyLog>,
    /// Takes secrets out of answers to commands. The relay does it for all other messages.
    pub redactor: Redactor,
    /// Answers to commands above this many characters go as a file.
    pub attach_over: usize,
    pub timing: Timing,
}

/// Time limits. The defaults fit Discord; tests use shorter ones.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// From IDENTIFY or RESUME to READY or RESUMED.
    pub ready: Duration,
    /// From dialling to the gateway's HELLO.
    pub redial: Duration,
    /// The longest pause before a new session after Discord refused one. The shortest is a fifth of it.
    pub new_session: Duration,
    /// Pauses between sessions double from the first to the longest.
    pub first_pause: Duration,
    pub longest_pause: Duration,
    /// The most logins of an identity in an hour. Discord resets a token after 1000 a day; more than twenty an hour indicate a fault.
    pub logins_per_hour: u32,
    /// The delay between the login and the look at the avatar. Missed messages come first.
    pub avatar: Duration,
    /// The interval between checks once the hourly limit is reached.
    pub budget_recheck: Duration,
    /// How long a session may take to shut down.
    pub shutdown: Duration,
    /// The pause between two logins with the same token.
    pub login_spacing: Duration,
    /// The time limit of a REST call, and of waiting for a rate limit.
    pub call: Duration,
    /// How long follow-ups to a command are accepted. Discord allows 15 minutes; the last part is reserved for the calls themselves.
    pub interaction: Duration,
}

impl Timing {
    /// For servers other than Discord, which reset no tokens.
    pub fn elsewhere() -> Self {
        Self { logins_per_hour: u32::MAX, ..Self::default() }
    }
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            ready: Duration::from_secs(30),
            redial: Duration::from_secs(10),
            new_session: Duration::from_secs(5),
            first_pause: Duration::from_secs(2),
            longest_pause: Duration::from_mins(10),
            logins_per_hour: 20,
            avatar: Duration::from_secs(1),
            budget_recheck: Duration::from_mins(1),
            shutdown: Duration::from_secs(3),
            login_spacing: Duration::from_secs(5),
            call: Duration::from_secs(12),
            interaction: Duration::from_secs(14 * 60 + 30),
        }
    }
}

/// Why the team cannot connect to Discord.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("no persona has a token. Set DISCORD_TOKEN_<PERSONA>, at least for the coordinator")]
    NoToken,
    #[error("the token of {0} contains invalid characters. Copy it again")]
    MalformedToken(PersonaSlug),
    #[error("{0:?} is not a valid API or gateway address")]
    Malformed(String),
    #[error("{0:?} is not a server id")]
    MalformedServer(String),
    #[error("discord.gateway_url is set, but discord.api_url is not. Set both, or neither to use Discord itself")]
    GatewayWithoutApi,
    #[error("{base} points to a gateway on another host ({gateway}). If that is right, set discord.gateway_url")]
    ForeignGateway { base: String, gateway: String },
    #[error("cannot reach {base}: {reason}")]
    Unreachable { base: String, reason: String },
    #[error("{base} takes no requests from this network address for now")]
    Limited { base: String, wait: Option<Duration> },
    #[error("cannot create the HTTP client: {0}")]
    Client(String),
}
