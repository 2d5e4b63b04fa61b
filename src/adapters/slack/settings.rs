use std::collections::BTreeMap;

use kernel::config::{Section, settings};
use kernel::ids::PersonaSlug;
use kernel::llm::settings::is_web_address;
use secrecy::SecretString;

settings! {
    /// `[slack]`: accounts and addresses.
    #[derive(Debug, Clone)]
    pub struct SlackSettings {
        /// None: Slack itself. If set, no other address is called.
        api_url: Option<String> = None, by read_api_url;
        sockets: u32 = 2, in 2..=10, "Connections of each app. Slack renews each every few hours; meanwhile the others receive.";
        ops_channel: Option<String> = None, "Name or id of the channel for notices to operators.";
        /// The app that all personas without one of their own speak through. From `SLACK_BOT_TOKEN` and `SLACK_APP_TOKEN`.
        team: Option<AppTokens> = None, by read_team;
        /// From `SLACK_BOT_TOKEN_<PERSONA>` and `SLACK_APP_TOKEN_<PERSONA>`.
        own: BTreeMap<PersonaSlug, AppTokens> = BTreeMap::new(), by read_own;
    }
}

/// The tokens of one app.
#[derive(Debug, Clone)]
pub struct AppTokens {
    /// `xoxb-…`, for calls.
    pub bot: SecretString,
    /// `xapp-…`, for the connection.
    pub app: SecretString,
}

const BOT: &str = "SLACK_BOT_TOKEN";
const APP: &str = "SLACK_APP_TOKEN";

impl SlackSettings {
    /// Whether the team is on Slack.
    pub fn is_set(&self) -> bool {
        self.team.is_some() || !self.own.is_empty()
    }

    /// The environment variables of a persona's own app.
    pub fn token_variables(slug: &PersonaSlug) -> [String; 2] {
        [BOT, APP].map(|name| format!("{name}_{}", slug.as_str().to_uppercase().replace('-', "_")))
    }

    pub fn list_secrets(&self) -> impl Iterator<Item = &SecretString> {
        self.team.iter().chain(self.own.values()).flat_map(|tokens| [&tokens.bot, &tokens.app])
    }
}

fn read_api_url(section: &mut Section<'_>) -> Option<String> {
    let about = "Address of another Slack API, such as a sandbox, without /api. \"none\": Slack itself. If set, only this address is used.";
    let allowed = "an address that begins with http:// or https://, without user and password, or \"none\"";
    let fits = |address: &Option<String>| address.as_deref().is_none_or(|address| is_web_address(address, &["http", "https"]));
    section.read_where("api_url", None, allowed, about, fits).map(|address| address.trim_end_matches('/').to_owned())
}

fn read_team(section: &mut Section<'_>) -> Option<AppTokens> {
    read_app(section, [BOT.to_owned(), APP.to_owned()])
}

/// Whether the persona exists is checked against the roster later.
fn read_own(section: &mut Section<'_>) -> BTreeMap<PersonaSlug, AppTokens> {
    let variables = section.list_variables();
    let personas = variables.iter().filter_map(|name| {
        let name = name.strip_suffix("_FILE").unwrap_or(name);
        let persona = name.strip_prefix(BOT).or_else(|| name.strip_prefix(APP))?.strip_prefix('_')?;
        Some(PersonaSlug::new(persona.to_lowercase().replace('_', "-")))
    });
    let mut personas: Vec<PersonaSlug> = personas.collect();
    personas.sort();
    personas.dedup();
    personas.into_iter().filter_map(|slug| Some((slug.clone(), read_app(section, SlackSettings::token_variables(&slug))?))).collect()
}

/// An app needs both: one token to speak, the other to listen.
fn read_app(section: &mut Section<'_>, [bot, app]: [String; 2]) -> Option<AppTokens> {
    let speak = section.secret(&bot, "Bot token of the Slack app (xoxb-...), from \"OAuth & Permissions\". Add the name of a persona, as in SLACK_BOT_TOKEN_KELLY, for one with an app of its own.");
    let listen =
        section.secret(&app, "App token of the Slack app (xapp-...), from \"Basic Information\", with the scope connections:write.");
    match (speak, listen) {
        (Some(bot), Some(app)) => Some(AppTokens { bot, app }),
        (None, None) => None,
        (Some(_), None) => refuse(section, &app, &bot),
        (None, Some(_)) => refuse(section, &bot, &app),
    }
}

fn refuse(section: &mut Section<'_>, missing: &str, given: &str) -> Option<AppTokens> {
    section.refuse("team", format!("{given} is set, but {missing} is not. An app on Slack needs both"));
    None
}
