//! Options of a workspace.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::clock::Clock;

/// An app that is installed in the workspace, with a bot user, a bot token and an app token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AppConfig {
    /// Stable name, by which tests and faults refer to it.
    pub slug: String,
    /// The name people see.
    pub name: String,
    /// Scopes of the bot token.
    pub scopes: Vec<String>,
    /// Subscribed events, as in the app's settings: `message.channels`, `app_mention`, …
    pub events: Vec<String>,
    /// Slash commands, with the slash.
    pub commands: Vec<String>,
    #[serde(default)]
    pub shortcuts: Vec<Shortcut>,
    /// Whether the app gets clicks on buttons and selects, and submitted modals.
    pub interactivity: bool,
    pub home_tab: bool,
    /// Socket Mode is switched on.
    pub socket_mode: bool,
    pub distribution: Distribution,
    /// Names of the channels that the bot was invited to.
    pub channels: Vec<String>,
}

impl AppConfig {
    /// An internal app with all scopes and events that the sandbox knows, in `#general`, without slash commands.
    pub fn new(slug: &str, name: &str) -> Self {
        Self {
            slug: slug.to_owned(),
            name: name.to_owned(),
            scopes: SCOPES.map(str::to_owned).to_vec(),
            events: EVENTS.map(str::to_owned).to_vec(),
            commands: Vec::new(),
            shortcuts: Vec::new(),
            interactivity: true,
            home_tab: true,
            socket_mode: true,
            distribution: Distribution::Internal,
            channels: vec!["general".to_owned()],
        }
    }

    /// The app that Slack would create from this manifest, in `#general`.
    ///
    /// # Errors
    /// When a part is missing or has the wrong form.
    pub fn of_manifest(slug: &str, manifest: &Value) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Command {
            command: String,
        }
        fn part<T: DeserializeOwned>(manifest: &Value, pointer: &str) -> Result<T, serde_json::Error> {
            T::deserialize(manifest.pointer(pointer).unwrap_or(&Value::Null))
        }
        let commands: Vec<Command> = part(manifest, "/features/slash_commands")?;
        Ok(Self {
            scopes: part(manifest, "/oauth_config/scopes/bot")?,
            events: part(manifest, "/settings/event_subscriptions/bot_events")?,
            commands: commands.into_iter().map(|command| command.command).collect(),
            shortcuts: part(manifest, "/features/shortcuts")?,
            interactivity: part(manifest, "/settings/interactivity/is_enabled")?,
            home_tab: part(manifest, "/features/app_home/home_tab_enabled")?,
            socket_mode: part(manifest, "/settings/socket_mode_enabled")?,
            ..Self::new(slug, &part::<String>(manifest, "/display_information/name")?)
        })
    }
}

/// An action that an app offers in a message's menu or in the search bar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shortcut {
    pub name: String,
    pub callback_id: String,
    #[serde(rename = "type")]
    pub kind: ShortcutKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShortcutKind {
    Global,
    Message,
}

const SCOPES: [&str; 28] = [
    "app_mentions:read",
    "assistant:write",
    "channels:history",
    "channels:join",
    "channels:manage",
    "channels:read",
    "chat:write",
    "chat:write.customize",
    "commands",
    "emoji:read",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "groups:write",
    "im:history",
    "im:read",
    "im:write",
    "metadata.message:read",
    "mpim:history",
    "mpim:read",
    "mpim:write",
    "reactions:read",
    "reactions:write",
    "team:read",
    "users.profile:read",
    "users:read",
    "users:read.email",
];

const EVENTS: [&str; 21] = [
    "agent_session_stopped",
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "assistant_thread_started",
    "channel_archive",
    "channel_created",
    "channel_rename",
    "channel_unarchive",
    "file_shared",
    "member_joined_channel",
    "member_left_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "reaction_added",
    "reaction_removed",
    "team_join",
    "tokens_revoked",
    "user_change",
];

/// Who an app is distributed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Distribution {
    /// The workspace that made it.
    Internal,
    /// To customers, outside of Slack's Marketplace. Such apps may request 15 messages of history once a minute.
    Commercial,
}

/// The role of a person in the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    Member,
    Admin,
    /// `is_restricted` in `users.info`.
    Guest,
    /// A person from another workspace, in shared channels only: `is_stranger`.
    Stranger,
}

/// A person with an account.
#[derive(Clone, Debug)]
pub struct PersonConfig {
    pub name: String,
    pub role: Role,
    pub time_zone: String,
}

impl PersonConfig {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), role: Role::Member, time_zone: "Europe/Berlin".to_owned() }
    }
}

/// A channel that exists from the start, with all people but guests and strangers in it.
#[derive(Clone, Debug)]
pub struct ChannelConfig {
    pub name: String,
    pub private: bool,
    /// Shared with another workspace by Slack Connect. Guests and strangers are in it too.
    pub shared: bool,
}

impl ChannelConfig {
    pub fn new(name: &str) -> Self {
        Self { name: name.to_owned(), private: false, shared: false }
    }
}

/// Rate limits of the Web API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimits {
    Off,
    /// By the tier of each method, and a message a second in each channel.
    Slack,
}

/// Time limits of the protocol.
#[derive(Clone, Debug)]
pub struct Windows {
    /// How long an envelope may wait for its acknowledgement: "within 3 seconds".
    pub acknowledgement: Duration,
    /// Pauses before the first, second and third retry of an event.
    pub retries: Vec<Duration>,
    /// How long a Socket Mode connection lasts; `approximate_connection_time` in `hello`.
    pub connection: Duration,
    /// How long before the end of a connection the warning comes.
    pub warning: Duration,
    /// Pause between the pings of the server.
    pub ping: Duration,
    /// How long the address of `apps.connections.open` can be used.
    pub ticket: Duration,
    /// How long a trigger opens a modal.
    pub trigger: Duration,
    /// How long a response URL can be used, at most five times.
    pub response_url: Duration,
    /// How long a message can be streamed. Appending does not extend it.
    pub stream: Duration,
}

impl Default for Windows {
    fn default() -> Self {
        Self {
            acknowledgement: Duration::from_secs(3),
            retries: vec![Duration::ZERO, Duration::from_mins(1), Duration::from_mins(5)],
            connection: Duration::from_hours(5),
            warning: Duration::from_secs(10),
            ping: Duration::from_secs(10),
            ticket: Duration::from_secs(30),
            trigger: Duration::from_secs(3),
            response_url: Duration::from_mins(30),
            stream: Duration::from_mins(5),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Options {
    /// Loopback address to listen on; port 0 takes any free one.
    pub addr: SocketAddr,
    pub team: String,
    pub apps: Vec<AppConfig>,
    pub people: Vec<PersonConfig>,
    pub channels: Vec<ChannelConfig>,
    pub rate_limits: RateLimits,
    pub windows: Windows,
    pub clock: Clock,
    /// Seed of the choice of connections.
    pub seed: u64,
    /// Keep requests, answers and frames in memory for [`super::Workspace::journal`].
    pub journal: bool,
    /// Folder for state and files, created if missing. `None` keeps everything in memory.
    pub dir: Option<PathBuf>,
    /// Delete the data of earlier runs in `dir`.
    pub reset: bool,
}

impl Default for Options {
    /// One person, `#general` and `#random`, no apps, any free port.
    fn default() -> Self {
        Self {
            addr: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            team: "Teamroom".to_owned(),
            apps: Vec::new(),
            people: vec![PersonConfig::new("You")],
            channels: ["general", "random"].map(ChannelConfig::new).to_vec(),
            rate_limits: RateLimits::Slack,
            windows: Windows::default(),
            clock: Clock::system(),
            seed: 0,
            journal: false,
            dir: None,
            reset: false,
        }
    }
}
