//! Options of a sandbox.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// A bot account for a persona.
#[derive(Clone, Debug)]
pub struct BotAccount {
    /// Stable name. A bot with the same slug keeps its id and token across restarts.
    pub slug: String,
    /// The name people see.
    pub name: String,
    /// Colour of the name, `0xRRGGBB`.
    pub color: Option<u32>,
    /// The message-content intent in the developer portal.
    pub intents_content: bool,
}

/// Rate limits of bots. People have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateLimits {
    /// No limits and no rate-limit headers.
    Off,
    /// Five messages in five seconds per channel and bot, 50 requests a second per bot, and so on.
    #[default]
    Discord,
    /// Like `Discord`, with other limits for messages and for all requests.
    Custom {
        /// Messages that one bot may post to one channel in five seconds.
        messages_per_5s: u32,
        /// Requests that one bot may make in a second.
        global_per_second: u32,
    },
}

/// Time limits of the protocol. Tests use short ones.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// How long `enforce_nonce` remembers a nonce; Discord says "the past few minutes".
    pub nonce: Duration,
    /// Time limit for the first response to an interaction.
    pub interaction_ack: Duration,
    /// How long an interaction token is valid for follow-ups.
    pub interaction_token: Duration,
    /// The time between two logins of one group of shards; see [`Options::max_concurrency`].
    pub identify: Duration,
    /// The heartbeat interval in HELLO.
    pub heartbeat: Duration,
    /// How long a session can be resumed after its connection ended.
    pub resume: Duration,
    /// How long the address of an attachment is valid.
    pub attachment_url: Duration,
}

impl Default for Windows {
    fn default() -> Self {
        Self {
            nonce: Duration::from_mins(3),
            interaction_ack: Duration::from_secs(3),
            interaction_token: Duration::from_mins(15),
            identify: Duration::from_secs(5),
            heartbeat: Duration::from_millis(41_250),
            resume: Duration::from_mins(5),
            attachment_url: Duration::from_hours(24),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Options {
    /// Folder for state and files. Created if missing.
    pub dir: PathBuf,
    /// Loopback address to listen on; port 0 takes any free one.
    pub addr: SocketAddr,
    pub bots: Vec<BotAccount>,
    /// All bots have a picture, as if somebody had chosen one in the developer portal.
    pub have_pictures: bool,
    /// Names of the people with an account. The first owns the server.
    pub people: Vec<String>,
    /// Text channels that exist from the start.
    pub channels: Vec<String>,
    pub rate_limits: RateLimits,
    /// How many shards of one bot may log in at once: the `max_concurrency` of `GET /gateway/bot`. Most bots have 1.
    pub max_concurrency: u64,
    pub windows: Windows,
    /// Delete the data of earlier runs in `dir`.
    pub reset: bool,
    /// Keep requests, answers and frames in memory for [`super::Sandbox::journal`].
    pub journal: bool,
}

impl Options {
    /// The default channels, one person, no bots, any free port.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self {
            dir: dir.into(),
            addr: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            bots: Vec::new(),
            have_pictures: false,
            people: vec!["You".to_owned()],
            channels: ["general", "daily-standup", "knowledge", "ops"].map(str::to_owned).to_vec(),
            rate_limits: RateLimits::default(),
            max_concurrency: 1,
            windows: Windows::default(),
            reset: false,
            journal: false,
        }
    }
}
