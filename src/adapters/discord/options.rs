use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::adapters::discord::ports::{IdentifyLog, Registrations};
use crate::adapters::discord::settings::DiscordSettings;
use kernel::chat::PlatformEvent;
use kernel::commands::Registry;
use kernel::ids::PersonaSlug;
use kernel::persona::roster::{Accounts, Roster};
use kernel::time::SharedClock;

/// What the adapter is made from.
pub struct Options {
    pub settings: DiscordSettings,
    pub roster: Arc<Roster>,
    /// Accounts from earlier runs, so that a persona that is not online yet is known all the same.
    pub known_accounts: Accounts,
    pub clock: SharedClock,
    /// Where everything that happens is sent to.
    pub events: mpsc::Sender<PlatformEvent>,
    pub commands: Arc<Registry>,
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
    /// The most logins of an identity within an hour. Discord resets a token after 1000 a day, and more than twenty an hour mean that
    /// something is broken.
    pub logins_per_hour: u32,
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

impl Timing {
    /// For a server that is not Discord and resets no tokens.
    pub fn elsewhere() -> Self {
        Self { logins_per_hour: u32::MAX, ..Self::default() }
    }
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
            logins_per_hour: 20,
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
