//! `teamroom doctor`: finds problems, each with its fix.

use std::sync::Arc;

use crate::adapters::discord;
use crate::adapters::discord::Finding;
use crate::app;
use crate::app::TeamAgents;
use crate::cli::{Globals, setting};
use crate::config::Config;
use crate::store::Store;
use kernel::agent::PageEntry;
use kernel::feeds::FeedQuery;
use kernel::persona::load;
use kernel::persona::roster::Roster;
use kernel::time::{Clock, SharedClock, SystemClock};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print JSON: a list of findings.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(globals: &Globals, args: Args) -> anyhow::Result<()> {
    let config = setting::read_team_config(globals)?;
    let mut findings = vec![Finding::good("configuration: valid")];
    if let Some(roster) = check_personas(&config, &mut findings) {
        let roster = Arc::new(roster);
        check_store_and_feeds(&config, &roster, &mut findings).await;
        check_discord(&config, &roster, &mut findings).await;
    }
    if args.json {
        let list: Vec<_> = findings.iter().map(|finding| serde_json::json!({"good": finding.good, "text": finding.text})).collect();
        println!("{}", serde_json::Value::from(list));
    } else {
        for finding in &findings {
            println!("{} {}", if finding.good { "ok  " } else { "MEND" }, finding.text);
        }
    }
    let bad = findings.iter().filter(|finding| !finding.good).count();
    anyhow::ensure!(bad == 0, "{bad} thing(s) to mend");
    Ok(())
}

fn check_personas(config: &Config, findings: &mut Vec<Finding>) -> Option<Roster> {
    let loaded = load::load(&config.personas);
    findings.extend(loaded.refused.iter().map(|(path, error)| Finding::bad(format!("persona {}: {error}", path.display()))));
    match loaded.roster {
        Ok(roster) => {
            findings.push(Finding::good(format!("personas: {}", roster.personas().len())));
            findings.extend(config.list_unknown_personas(&roster).into_iter().map(Finding::bad));
            Some(roster)
        }
        Err(error) => {
            findings.push(Finding::bad(format!("personas: {error}")));
            None
        }
    }
}

async fn check_store_and_feeds(config: &Config, roster: &Arc<Roster>, findings: &mut Vec<Finding>) {
    let clock: SharedClock = Arc::new(SystemClock);
    let now = clock.now();
    let store = match Store::open_shared(&config.database_url, now).await {
        Ok(store) => store,
        Err(error) => return findings.push(Finding::bad(format!("store: {error}"))),
    };
    findings.push(match store.summary().await {
        Ok(summary) if summary.damage.is_empty() => Finding::good(format!("store: {} at {}", summary.engine, summary.place)),
        Ok(summary) => Finding::bad(format!("store: damaged ({}); keep the file and restore a backup", summary.damage.join("; "))),
        Err(error) => Finding::bad(format!("store: {error}")),
    });
    match app::agents(config, roster, &store, &clock) {
        Err(error) => findings.push(Finding::bad(format!("{error:#}"))),
        Ok(TeamAgents { agents, .. }) => {
            findings.push(Finding::good(agents.describe_models()));
            let asked = FeedQuery { now, since: now - chrono::TimeDelta::days(7), until: now, limit: 1 };
            let page = agents.readings.read_page(&asked).await;
            findings.extend(page.into_iter().map(|entry| describe_feed(entry, roster)));
        }
    }
    store.close().await;
}

/// The values of a feed, so that a wrong pointer is visible.
fn describe_feed(entry: PageEntry, roster: &Roster) -> Finding {
    let owners: Vec<_> = entry.personas.iter().map(|persona| roster.name_of(persona)).collect();
    let what = format!("feed {} of {}", entry.feed, owners.join(", "));
    match entry.outcome {
        Ok(reading) => {
            let items = format!("{} item(s) this week", reading.total);
            let told: Vec<_> = std::iter::once(items).chain(reading.values.iter().map(ToString::to_string)).collect();
            let note = reading.note.map_or(String::new(), |note| format!(" ({note})"));
            Finding::good(format!("{what}: {}{note}", told.join(", ")))
        }
        Err(error) => Finding::bad(format!("{what}: {error}")),
    }
}

async fn check_discord(config: &Config, roster: &Arc<Roster>, findings: &mut Vec<Finding>) {
    if config.discord.tokens.is_empty() {
        let text =
            "Discord: no token is set, which the sandbox does not need; for Discord set DISCORD_TOKEN_<PERSONA>, the coordinator's first";
        return findings.push(Finding::good(text));
    }
    match discord::check(&config.discord, roster, SystemClock.now()).await {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(Finding::bad(format!("Discord: {error}"))),
    }
}
