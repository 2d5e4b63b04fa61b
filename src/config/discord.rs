use std::collections::BTreeMap;

use secrecy::SecretString;

use crate::domain::ids::PersonaSlug;

/// `[discord]`: accounts and addresses.
#[derive(Debug, Clone, Default)]
pub struct DiscordSettings {
    /// From `DISCORD_TOKEN_<PERSONA>`.
    pub tokens: BTreeMap<PersonaSlug, SecretString>,
    /// Where the REST API is, without `/api/v10`. None: Discord itself. Set: nothing else is ever called.
    pub api_url: Option<String>,
    /// Where the gateway is. None: what the API answers.
    pub gateway_url: Option<String>,
    /// Register commands on this server, at once. None: globally.
    pub guild: Option<String>,
    /// Servers that are listened to. Empty: all that the bots are in.
    pub allowed_guilds: Vec<String>,
    /// The channel, by name or id, that is told what operators should know.
    pub ops_channel: Option<String>,
}
