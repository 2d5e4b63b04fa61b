//! Checks the Discord accounts for `teamroom doctor`. Uses only REST and logs nobody in.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use tokio::sync::mpsc;

use crate::adapters::discord::address::Address;
use crate::adapters::discord::connect::credentials;
use crate::adapters::discord::rest::{Call, Credential, Rest};
use crate::adapters::discord::settings::DiscordSettings;
use crate::adapters::discord::{ConnectError, Timing, address};
use kernel::persona::roster::Roster;

/// The application flags `GATEWAY_MESSAGE_CONTENT` and `GATEWAY_MESSAGE_CONTENT_LIMITED`.
const CONTENT_INTENT: u64 = 1 << 18 | 1 << 19;

/// View Channels, Send Messages, Manage Webhooks, Read Message History, Attach Files, Embed Links, Add Reactions, Use Application Commands,
/// Create Public Threads, Send Messages in Threads.
const PERMISSIONS: u64 = 1 << 10 | 1 << 11 | 1 << 29 | 1 << 16 | 1 << 15 | 1 << 14 | 1 << 6 | 1 << 31 | 1 << 35 | 1 << 38;

/// The largest clock difference, in seconds, that schedules and nonces tolerate.
const MOST_SKEW: i64 = 5;

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub good: bool,
    /// What was found. For a problem, also what to do.
    pub text: String,
}

impl Finding {
    pub fn good(text: impl Into<String>) -> Self {
        Self { good: true, text: text.into() }
    }

    pub fn bad(text: impl Into<String>) -> Self {
        Self { good: false, text: text.into() }
    }
}

#[derive(Deserialize)]
struct Application {
    id: String,
    flags: Option<u64>,
}

#[derive(Deserialize)]
struct Server {
    id: String,
}

/// Checks each account that has a token, and the clock.
///
/// # Errors
/// No token is configured, or Discord cannot be reached.
pub async fn check(settings: &DiscordSettings, roster: &Arc<Roster>, now: DateTime<Utc>) -> Result<Vec<Finding>, ConnectError> {
    let timing = Timing::default();
    let address = Address::parse(settings)?;
    let http = address::http_client(timing.call)?;
    address.find_gateway(&http, settings).await?;
    let mut findings = vec![check_clock(&http, &address, now).await];
    // Events are dropped, because every problem is reported as a finding here.
    let (incoming, _dropped) = mpsc::unbounded_channel();
    let rest = Rest::new(http, address, timing.call, incoming);
    for credential in credentials(settings, roster)? {
        findings.extend(check_account(&rest, &credential, settings).await);
    }
    let silent: Vec<_> = roster.personas().iter().filter(|p| !settings.tokens.contains_key(&p.slug)).map(|p| p.name.as_str()).collect();
    if !silent.is_empty() {
        findings.push(Finding::good(format!("no token, post through the coordinator's webhooks: {}", silent.join(", "))));
    }
    Ok(findings)
}

async fn check_account(rest: &Rest, credential: &Credential, settings: &DiscordSettings) -> Vec<Finding> {
    let name = &credential.name;
    let application: Application = match rest.fetch(credential, Call::get("/applications/@me".to_owned())).await {
        Ok(application) => application,
        Err(failure) => {
            return vec![Finding::bad(format!(
                "{name}: {failure}. Copy the bot token from the developer portal into DISCORD_TOKEN_{}",
                credential.persona.as_str().to_uppercase()
            ))];
        }
    };
    let mut findings = vec![Finding::good(format!("{name}: the token works (application {})", application.id))];
    if application.flags.unwrap_or_default() & CONTENT_INTENT == 0 {
        findings.push(Finding::bad(format!(
            "{name}: the Message Content Intent is off. Switch it on in the developer portal: Bot, Privileged Gateway Intents"
        )));
    }
    let invite = format!(
        "https://discord.com/oauth2/authorize?client_id={}&scope=bot+applications.commands&permissions={PERMISSIONS}",
        application.id
    );
    match rest.fetch::<Vec<Server>>(credential, Call::get("/users/@me/guilds".to_owned())).await {
        Ok(servers) if servers.is_empty() => findings.push(Finding::bad(format!("{name}: not on any server. Invite it: {invite}"))),
        Ok(servers) if settings.guild.as_ref().is_some_and(|guild| servers.iter().all(|server| server.id != *guild)) => {
            findings.push(Finding::bad(format!("{name}: not on the server in `discord.guild`. Invite it: {invite}")));
        }
        Ok(servers) if servers.len() == 1 => findings.push(Finding::good(format!("{name}: on 1 server"))),
        Ok(servers) => findings.push(Finding::good(format!("{name}: on {} servers", servers.len()))),
        Err(failure) => findings.push(Finding::bad(format!("{name}: cannot list its servers: {failure}"))),
    }
    findings
}

/// Compares the clock with the `Date` header of an answer.
async fn check_clock(http: &reqwest::Client, address: &Address, now: DateTime<Utc>) -> Finding {
    let answer = http.get(address.api("/gateway")).send().await.ok();
    let theirs = answer.and_then(|answer| DateTime::parse_from_rfc2822(answer.headers().get("date")?.to_str().ok()?).ok());
    match theirs.map(|theirs| (now - theirs.to_utc()).num_seconds()) {
        None => Finding::good("clock: not checked, because the server did not send its time"),
        Some(skew) if skew.abs() <= MOST_SKEW => Finding::good("clock: correct"),
        Some(skew) => Finding::bad(format!("clock: {} s off. Set up time synchronisation (NTP)", skew.abs())),
    }
}
