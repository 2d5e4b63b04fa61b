//! Checks the Discord accounts for `teamroom doctor`. Uses only REST and logs nobody in.

mod permissions;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serenity::model::permissions::Permissions;
use tokio::sync::mpsc;

use crate::adapters::discord::address::Address;
use crate::adapters::discord::connect::credentials;
use crate::adapters::discord::rest::{Call, Credential, Rest};
use crate::adapters::discord::settings::DiscordSettings;
use crate::adapters::discord::{ConnectError, Timing, address};
use kernel::finding::Finding;
use kernel::persona::roster::Roster;
use permissions::{NEEDED, View, WEBHOOKS};

/// The application flags `GATEWAY_MESSAGE_CONTENT` and `GATEWAY_MESSAGE_CONTENT_LIMITED`.
const CONTENT_INTENT: u64 = 1 << 18 | 1 << 19;

/// The largest clock difference, in seconds, that schedules and nonces tolerate.
const MOST_SKEW: i64 = 5;

#[derive(Deserialize)]
struct Application {
    id: String,
    flags: Option<u64>,
    bot: Option<Account>,
}

#[derive(Deserialize)]
struct Account {
    id: String,
}

#[derive(Deserialize)]
struct Server {
    id: String,
    #[serde(default)]
    name: String,
}

/// Checks each account that has a token, what it may do in each channel, and the clock. `used`: the channels that the settings name.
///
/// # Errors
/// No token is configured, or Discord cannot be reached.
pub async fn check(
    settings: &DiscordSettings,
    roster: &Arc<Roster>,
    used: &[String],
    now: DateTime<Utc>,
) -> Result<Vec<Finding>, ConnectError> {
    let timing = Timing::default();
    let address = Address::parse(settings)?;
    let http = address::http_client(timing.call)?;
    address.find_gateway(&http, settings).await?;
    let mut findings = vec![check_clock(&http, &address, now).await];
    // Events are dropped, because every problem is reported as a finding here.
    let (incoming, _dropped) = mpsc::unbounded_channel();
    let rest = Rest::new(http, address, timing.call, incoming);
    let silent: Vec<_> = roster.personas().iter().filter(|p| !settings.tokens.contains_key(&p.slug)).map(|p| p.name.as_str()).collect();
    let mut missing: Option<Vec<&str>> = None;
    for credential in credentials(settings, roster)? {
        let speaks_for_others = !silent.is_empty() && credential.persona == roster.coordinator().slug;
        let needed = if speaks_for_others { NEEDED | WEBHOOKS } else { NEEDED };
        let (found, views) = check_account(&rest, &credential, settings).await;
        findings.extend(found);
        for view in views {
            findings.extend(view.judge(&credential.name, needed, used));
            // Only channels that no account sees on any server are missing.
            let unseen = view.list_missing(used);
            missing = Some(missing.map_or(unseen.clone(), |missing| missing.into_iter().filter(|name| unseen.contains(name)).collect()));
        }
    }
    findings.extend(missing.into_iter().flatten().map(|channel| {
        Finding::warning(
            format!("channel {channel}: the settings name it, and no account finds it on the server"),
            "Make it, invite the bots into it, or correct the name in teamroom.toml.",
        )
    }));
    if !silent.is_empty() {
        findings.push(Finding::good(format!("no token, so they speak through webhooks of others: {}", silent.join(", "))));
    }
    Ok(findings)
}

async fn check_account(rest: &Rest, credential: &Credential, settings: &DiscordSettings) -> (Vec<Finding>, Vec<View>) {
    let name = &credential.name;
    let application: Application = match rest.fetch(credential, Call::get("/applications/@me".to_owned())).await {
        Ok(application) => application,
        Err(failure) => {
            let variable = DiscordSettings::token_variable(&credential.persona);
            let remedy = format!("Copy the bot's token from the developer portal into {variable}.");
            return (vec![Finding::fault(format!("{name}: {failure}"), remedy)], Vec::new());
        }
    };
    let mut findings = vec![Finding::good(format!("{name}: the token works (application {})", application.id))];
    if application.flags.unwrap_or_default() & CONTENT_INTENT == 0 {
        findings.push(Finding::fault(
            format!("{name}: the Message Content Intent is off, so it cannot read what people write"),
            "Switch it on in the developer portal: Bot, Privileged Gateway Intents.",
        ));
    }
    let servers: Vec<Server> = match rest.fetch(credential, Call::get("/users/@me/guilds".to_owned())).await {
        Ok(servers) => servers,
        Err(failure) => {
            findings.push(Finding::fault(format!("{name}: cannot list its servers: {failure}"), "Run `teamroom doctor` again."));
            return (findings, Vec::new());
        }
    };
    let is_used = |server: &&Server| settings.guild.as_ref().is_none_or(|guild| server.id == *guild);
    let used: Vec<&Server> = servers.iter().filter(is_used).collect();
    if used.is_empty() {
        let text = match &settings.guild {
            Some(guild) if !servers.is_empty() => format!("{name}: not on the server {guild}, which discord.guild names"),
            _ => format!("{name}: not on any server"),
        };
        findings.push(Finding::fault(text, format!("Open this link to invite it: {}", invite(&application))));
    }
    let mut views = Vec::new();
    for server in used {
        // The account of a bot has the id of its application, except in very old ones.
        let account = application.bot.as_ref().map_or(&application.id, |bot| &bot.id);
        match View::fetch(rest, credential, &server.id, account).await {
            Ok(view) => views.push(view),
            Err(failure) => findings.push(Finding::warning(
                format!("{name}: its permissions on the server {} cannot be read: {failure}", server.name),
                "Run `teamroom doctor` again.",
            )),
        }
    }
    (findings, views)
}

/// The link with which somebody brings the account to a server.
fn invite(application: &Application) -> String {
    let permissions = (NEEDED | WEBHOOKS | Permissions::USE_APPLICATION_COMMANDS).bits();
    let id = &application.id;
    format!("https://discord.com/oauth2/authorize?client_id={id}&scope=bot+applications.commands&permissions={permissions}")
}

/// Compares the clock with the `Date` header of an answer.
async fn check_clock(http: &reqwest::Client, address: &Address, now: DateTime<Utc>) -> Finding {
    let answer = http.get(address.api("/gateway")).send().await.ok();
    let theirs = answer.and_then(|answer| DateTime::parse_from_rfc2822(answer.headers().get("date")?.to_str().ok()?).ok());
    match theirs.map(|theirs| (now - theirs.to_utc()).num_seconds()) {
        None => Finding::warning("clock: not compared, because the server did not send its time", "Compare it yourself."),
        Some(skew) if skew.abs() <= MOST_SKEW => Finding::good("clock: correct"),
        Some(skew) => Finding::fault(format!("clock: {} s off", skew.abs()), "Set up time synchronisation (NTP) on this machine."),
    }
}
