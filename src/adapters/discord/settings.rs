use std::collections::BTreeMap;

use secrecy::SecretString;

use kernel::config::{Section, settings};
use kernel::ids::PersonaSlug;
use kernel::llm::settings::is_web_address;

settings! {
    /// `[discord]`: accounts and addresses.
    #[derive(Debug, Clone)]
    pub struct DiscordSettings {
        /// Without `/api/v10`. None: Discord itself. If set, no other address is called.
        api_url: Option<String> = None, by read_api_url;
        /// None: the address that the API returns.
        gateway_url: Option<String> = None, by read_gateway_url;
        guild: Option<String> = None,
            "Id of the server to register slash commands on. They appear there at once. \"none\": on all servers, which can take an hour.";
        allowed_guilds: Vec<String> = Vec::new(), "Ids of the servers the team works on. Empty: every server the bots are in.";
        ops_channel: Option<String> = None, "Name or id of the channel for notices to operators.";
        /// From `DISCORD_TOKEN_<PERSONA>`.
        tokens: BTreeMap<PersonaSlug, SecretString> = BTreeMap::new(), by read_tokens;
    }
}

const TOKEN: &str = "DISCORD_TOKEN_";

impl DiscordSettings {
    /// The environment variable for a persona's token.
    pub fn token_variable(slug: &PersonaSlug) -> String {
        format!("{TOKEN}{}", slug.as_str().to_uppercase().replace('-', "_"))
    }
}

fn read_api_url(section: &mut Section<'_>) -> Option<String> {
    let about = "Address of another Discord API, such as a sandbox or a proxy, without /api/v10. \"none\": Discord itself. If set, only this address is used.";
    read_address(section, "api_url", &["http", "https"], about)
}

fn read_gateway_url(section: &mut Section<'_>) -> Option<String> {
    read_address(section, "gateway_url", &["ws", "wss"], "Address of the gateway. \"none\": ask the API for it.")
}

fn read_address(section: &mut Section<'_>, key: &str, schemes: &[&str], about: &'static str) -> Option<String> {
    let allowed = format!("an address that begins with {}://, without user and password, or \"none\"", schemes.join(":// or "));
    let fits = |address: &Option<String>| address.as_deref().is_none_or(|address| is_web_address(address, schemes));
    section.read_where(key, None, &allowed, about, fits).map(|address| address.trim_end_matches('/').to_owned())
}

/// One token per variable. Whether the persona exists is checked against the roster later.
fn read_tokens(section: &mut Section<'_>) -> BTreeMap<PersonaSlug, SecretString> {
    let variables = section.list_variables();
    let mut names: Vec<_> = variables.iter().filter(|name| name.starts_with(TOKEN)).map(|name| name.trim_end_matches("_FILE")).collect();
    names.dedup();
    let tokens = names.into_iter().filter_map(|name| {
        let about =
            "Bot tokens, one for each persona with its own Discord account. Other personas post through the coordinator's webhooks.";
        let token = section.secret(name, about)?;
        Some((PersonaSlug::new(name[TOKEN.len()..].to_lowercase().replace('_', "-")), token))
    });
    tokens.collect()
}
