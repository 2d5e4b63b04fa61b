use std::collections::BTreeMap;

use secrecy::SecretString;

use kernel::config::{Section, settings};
use kernel::ids::PersonaSlug;
use kernel::llm::settings::is_web_address;

settings! {
    /// `[discord]`: accounts and addresses.
    #[derive(Debug, Clone)]
    pub struct DiscordSettings {
        /// Without `/api/v10`. None: Discord itself. Set: nothing else is ever called.
        api_url: Option<String> = None, by read_api_url;
        /// None: what the API answers.
        gateway_url: Option<String> = None, by read_gateway_url;
        guild: Option<String> = None,
            "The id of the server that slash commands are registered on, at once. \"none\": on all, which takes Discord up to an hour.";
        allowed_guilds: Vec<String> = Vec::new(), "Ids of the servers that are listened to. Empty: all that the bots are in.";
        ops_channel: Option<String> = None, "The channel, by name or id, that is told what operators should know.";
        /// From `DISCORD_TOKEN_<PERSONA>`.
        tokens: BTreeMap<PersonaSlug, SecretString> = BTreeMap::new(), by read_tokens;
    }
}

const TOKEN: &str = "DISCORD_TOKEN_";

impl DiscordSettings {
    /// The variable that holds a persona's token.
    pub fn token_variable(slug: &PersonaSlug) -> String {
        format!("{TOKEN}{}", slug.as_str().to_uppercase().replace('-', "_"))
    }
}

fn read_api_url(section: &mut Section<'_>) -> Option<String> {
    let about =
        "Where the REST API is, without /api/v10: a sandbox or a proxy. \"none\": Discord itself. When set, nothing else is ever called.";
    read_address(section, "api_url", &["http", "https"], about)
}

fn read_gateway_url(section: &mut Section<'_>) -> Option<String> {
    read_address(section, "gateway_url", &["ws", "wss"], "Where the gateway is. \"none\": what the API answers.")
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
