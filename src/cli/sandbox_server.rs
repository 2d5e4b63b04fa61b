//! The chat server of `teamroom sandbox`: a local Discord or a local Slack.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::Context;
use secrecy::SecretString;
use serde_json::Value;

use crate::adapters::slack::manifest::AppKind;
use crate::adapters::slack::settings::AppTokens;
use crate::app::slack_manifest;
use crate::config::Config;
use kernel::persona::Persona;
use kernel::persona::roster::Roster;
use sandbox::{About, BotAccount, Sandbox};
use slack_sandbox::{AppConfig, ChannelConfig, PersonConfig, Role, Workspace};

/// The app of the whole team, and its name in Slack.
const TEAM: &str = "team";
const TEAM_NAME: &str = "Teamroom";

/// How to start a server of either platform.
pub(super) struct ServerOptions {
    pub(super) slack: bool,
    pub(super) dir: PathBuf,
    pub(super) port: u16,
    pub(super) reset: bool,
    pub(super) people: Vec<String>,
    /// Empty for the usual ones.
    pub(super) channels: Vec<String>,
    pub(super) has_rate_limits: bool,
    pub(super) max_concurrency: u64,
}

pub(super) enum LocalServer {
    Discord(Sandbox),
    Slack(Workspace),
}

impl LocalServer {
    pub(super) async fn start(options: ServerOptions, roster: &Roster) -> anyhow::Result<Self> {
        if options.slack { start_slack(options).await } else { start_discord(options, roster).await }
    }

    /// Whether a server did not start because another program has its port.
    pub(super) fn lacks_port(error: &anyhow::Error) -> bool {
        matches!(error.downcast_ref(), Some(sandbox::SandboxError::Listen { .. }))
            || matches!(error.downcast_ref(), Some(slack_sandbox::SandboxError::Listen { .. }))
    }

    pub(super) fn port(&self) -> u16 {
        match self {
            Self::Discord(discord) => discord.port(),
            Self::Slack(slack) => slack.port(),
        }
    }

    pub(super) fn page_url(&self) -> String {
        match self {
            Self::Discord(discord) => discord.page_url(),
            Self::Slack(slack) => slack.page_url(),
        }
    }

    pub(super) fn set_about(&self, about: About) {
        match self {
            Self::Discord(discord) => discord.set_about(about),
            Self::Slack(slack) => slack.set_about(about),
        }
    }

    /// Brings the team's accounts up to date. On Slack all personas speak through one app.
    pub(super) fn set_team(&self, roster: &Roster) {
        if let Self::Discord(discord) = self {
            discord.set_bots(&list_bots(roster));
        }
    }

    /// Connects the team to this server only.
    pub(super) fn join(&self, config: &mut Config) {
        config.discord.tokens.clear();
        config.slack.team = None;
        config.slack.own.clear();
        match self {
            Self::Discord(discord) => {
                config.discord.api_url = Some(discord.api_url());
                config.discord.gateway_url = Some(discord.gateway_url());
                config.discord.guild = Some(discord.guild_id());
                config.discord.allowed_guilds.clear();
                config.discord.tokens = discord.bots().into_iter().map(|bot| (bot.slug.into(), SecretString::from(bot.token))).collect();
            }
            Self::Slack(slack) => {
                let app = slack.app(TEAM);
                config.slack.api_url = Some(slack.page_url().trim_end_matches('/').to_owned());
                config.slack.team = Some(AppTokens { bot: SecretString::from(app.bot_token), app: SecretString::from(app.app_token) });
            }
        }
    }

    /// The account of the person who may do everything, also in direct conversations. On Slack it is the admin.
    pub(super) fn operator(&self) -> Option<String> {
        let Self::Discord(discord) = self else { return None };
        discord.people().into_iter().next().map(|person| format!("discord:{}", person.id))
    }

    /// What `--json` prints. The server returns the team's tokens on request; they must not appear in the log of a script.
    pub(super) fn info(&self, with_tokens: bool) -> Value {
        let (mut info, tokens) = match self {
            Self::Discord(discord) => (discord.info(), "bots"),
            Self::Slack(slack) => (slack.info(), "apps"),
        };
        if let Some(fields) = info.as_object_mut() {
            fields.remove("links");
            if !with_tokens {
                fields.remove(tokens);
            }
        }
        info
    }

    /// Lets the first person take part in the terminal, until they leave.
    pub(super) async fn run_terminal(&self) -> anyhow::Result<()> {
        let Self::Discord(discord) = self else { anyhow::bail!("the terminal speaks to the local Discord only") };
        let person = discord.people().into_iter().next().context("a sandbox has at least one person")?;
        sandbox::terminal::run(discord.api_url(), person.token).await
    }

    pub(super) async fn stop(self) {
        match self {
            Self::Discord(discord) => discord.stop().await,
            Self::Slack(slack) => slack.stop().await,
        }
    }
}

async fn start_discord(options: ServerOptions, roster: &Roster) -> anyhow::Result<LocalServer> {
    let mut discord = sandbox::Options::new(options.dir);
    discord.addr = address(options.port);
    discord.reset = options.reset;
    discord.people = options.people;
    if !options.channels.is_empty() {
        discord.channels = options.channels;
    }
    discord.max_concurrency = options.max_concurrency;
    if !options.has_rate_limits {
        discord.rate_limits = sandbox::RateLimits::Off;
    }
    discord.bots = list_bots(roster);
    Ok(LocalServer::Discord(Sandbox::start(discord).await?))
}

async fn start_slack(options: ServerOptions) -> anyhow::Result<LocalServer> {
    let usual = || ["general", "daily-standup", "knowledge", "ops"].map(str::to_owned).to_vec();
    let channels = if options.channels.is_empty() { usual() } else { options.channels };
    let slack = slack_sandbox::Options {
        addr: address(options.port),
        apps: vec![team_app(&channels)?],
        // Only an admin may use all commands: the first person.
        people: options.people.iter().enumerate().map(|(index, name)| person(name, index == 0)).collect(),
        channels: channels.iter().map(|name| ChannelConfig::new(name)).collect(),
        rate_limits: if options.has_rate_limits { slack_sandbox::RateLimits::Slack } else { slack_sandbox::RateLimits::Off },
        dir: Some(options.dir),
        reset: options.reset,
        ..slack_sandbox::Options::default()
    };
    Ok(LocalServer::Slack(Workspace::start(slack).await?))
}

fn person(name: &str, is_admin: bool) -> PersonConfig {
    PersonConfig { role: if is_admin { Role::Admin } else { Role::Member }, ..PersonConfig::new(name) }
}

/// The app as the team's manifest describes it, in all channels.
fn team_app(channels: &[String]) -> anyhow::Result<AppConfig> {
    let app = AppConfig::of_manifest(TEAM, &slack_manifest(TEAM_NAME, AppKind::Agent)).context("the manifest of the app cannot be read")?;
    Ok(AppConfig { channels: channels.to_vec(), ..app })
}

fn address(port: u16) -> SocketAddr {
    SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)
}

fn list_bots(roster: &Roster) -> Vec<BotAccount> {
    let bot = |persona: &Persona| BotAccount {
        slug: persona.slug.to_string(),
        name: persona.name.clone(),
        color: Some(persona.color),
        intents_content: true,
    };
    roster.personas().iter().map(bot).collect()
}
