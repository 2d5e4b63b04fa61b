use std::collections::BTreeMap;

use secrecy::SecretString;

use super::models::is_web_address;
use super::reader::Section;
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

const TOKEN: &str = "DISCORD_TOKEN_";

impl DiscordSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let api_url = read_address(
            section,
            "api_url",
            &["http", "https"],
            "Where the REST API is, without /api/v10: a sandbox or a proxy. \"none\": Discord itself. When set, nothing else is ever called.",
        );
        let gateway_url = read_address(section, "gateway_url", &["ws", "wss"], "Where the gateway is. \"none\": what the API answers.");
        Self {
            tokens: read_tokens(section),
            api_url,
            gateway_url,
            guild: section.read(
                "guild",
                None,
                "The id of the server that slash commands are registered on, at once. \"none\": on all, which takes Discord up to an hour.",
            ),
            allowed_guilds: section.read(
                "allowed_guilds",
                Vec::new(),
                "Ids of the servers that are listened to. Empty: all that the bots are in.",
            ),
            ops_channel: section.read("ops_channel", None, "The channel, by name or id, that is told what operators should know."),
        }
    }

    /// The variable that holds a persona's token.
    pub fn token_variable(slug: &PersonaSlug) -> String {
        format!("{TOKEN}{}", slug.as_str().to_uppercase().replace('-', "_"))
    }
}

fn read_address(section: &mut Section<'_>, key: &str, schemes: &[&str], about: &'static str) -> Option<String> {
    let allowed = format!("an address that begins with {}://, without user and password, or \"none\"", schemes.join(":// or "));
    let fits = |address: &Option<String>| address.as_deref().is_none_or(|address| is_web_address(address, schemes));
    section.read_where(key, None, &allowed, about, fits).map(|address| address.trim_end_matches('/').to_owned())
}

/// A token for each variable there is. Whether such a persona exists is for the roster to say.
fn read_tokens(section: &mut Section<'_>) -> BTreeMap<PersonaSlug, SecretString> {
    let variables = section.list_variables();
    let mut names: Vec<_> = variables.iter().filter(|name| name.starts_with(TOKEN)).map(|name| name.trim_end_matches("_FILE")).collect();
    names.dedup();
    let tokens = names.into_iter().filter_map(|name| {
        let about = "Tokens of the bots, one for each persona that has an account of its own; the others speak through a webhook of the coordinator.";
        let token = section.secret(name, about)?;
        Some((PersonaSlug::new(name[TOKEN.len()..].to_lowercase().replace('_', "-")), token))
    });
    tokens.collect()
}
