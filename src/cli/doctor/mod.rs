//! `teamroom doctor`: tries everything that the team needs, and says how to fix what does not work.

mod place;
mod programs;

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use crate::adapters::{discord, slack};
use crate::app::{self, TeamAgents};
use crate::cli::{Globals, setting};
use crate::config::Config;
use crate::store::Store;
use kernel::agent::{Agents, PageEntry};
use kernel::commands::Services;
use kernel::db::{StoreError, check_exists};
use kernel::feeds::FeedQuery;
use kernel::finding::{Finding, Grade};
use kernel::persona::roster::Roster;
use kernel::persona::{expert, load, skill};
use kernel::print_line;
use kernel::time::{Clock, SharedClock, SystemClock};
use kernel::tools::settings::SearchSettings;
use kernel::tools::web::WebSearch;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print JSON: a list of findings, each with grade (ok, warn or fail), text and remedy.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(globals: &Globals, args: Args) -> anyhow::Result<()> {
    let findings = match setting::read_config(globals) {
        Ok(config) => examine(&config).await,
        Err(error) => vec![Finding::fault(format!("configuration: {error:#}"), "Correct the keys that are named here.")],
    };
    if args.json {
        print_line!("{}", serde_json::json!(findings));
    } else {
        for finding in &findings {
            print_line!("{finding}");
        }
    }
    let count = |grade| findings.iter().filter(|finding| finding.grade == grade).count();
    let (faults, warnings) = (count(Grade::Fail), count(Grade::Warn));
    anyhow::ensure!(faults == 0, "{faults} of {} checks failed", findings.len());
    if !args.json {
        match warnings {
            0 => print_line!("Everything works."),
            1 => print_line!("Everything that the team needs works. There is 1 warning."),
            _ => print_line!("Everything that the team needs works. There are {warnings} warnings."),
        }
    }
    Ok(())
}

async fn examine(config: &Config) -> Vec<Finding> {
    let mut findings = vec![Finding::good("configuration: valid")];
    findings.extend(place::check_disk(&config.data));
    findings.extend(kernel::network::describe());
    if let Some(roster) = check_personas(config, &mut findings) {
        let roster = Arc::new(roster);
        check_store_and_agents(config, &roster, &mut findings).await;
        if let Some(search) = &config.tools.search {
            findings.push(check_search(search).await);
        }
        findings.extend(programs::check(config, &roster).await);
        check_platform(config, &roster, &mut findings).await;
    }
    findings
}

/// The personas with their skills, and the experts.
fn check_personas(config: &Config, findings: &mut Vec<Finding>) -> Option<Roster> {
    let loaded = load::load(&config.personas);
    let refused = loaded.refused.iter().chain(&loaded.in_part);
    findings.extend(refused.map(|(path, error)| Finding::fault(format!("persona {}: {error}", path.display()), "Correct this file.")));
    let skills = skill::load::load(&config.skills);
    let refused = skills.refused.iter();
    findings.extend(refused.map(|(path, error)| Finding::fault(format!("skill {}: {error}", path.display()), "Correct this file.")));
    match loaded.roster {
        Ok(roster) => {
            findings.push(Finding::good(format!("personas: {}", roster.personas().len())));
            findings.push(Finding::good(format!("skills: {}", skills.skills.len())));
            let experts = expert::load(&config.experts, &roster);
            let refused = experts.refused.iter().chain(&experts.without_picture);
            findings
                .extend(refused.map(|(path, error)| Finding::fault(format!("expert {}: {error}", path.display()), "Correct this file.")));
            if !experts.experts.is_empty() {
                findings.push(Finding::good(format!("experts: {}", experts.experts.len())));
            }
            let roster = roster.with_skills(skills.skills).with_experts(experts.experts);
            let unknown = config.list_unknown_personas(&roster).into_iter();
            findings.extend(unknown.map(|unknown| Finding::fault(unknown, "Correct the name, or add the persona's file.")));
            Some(roster)
        }
        Err(error) => {
            findings.push(Finding::fault(format!("personas: {error}"), "Correct the persona files. `teamroom init` writes working ones."));
            None
        }
    }
}

async fn check_store_and_agents(config: &Config, roster: &Arc<Roster>, findings: &mut Vec<Finding>) {
    let clock: SharedClock = Arc::new(SystemClock);
    // A look makes no database, because all other commands would use it from then on. Models and feeds are tried with one that is thrown away.
    let scratch = match check_exists(&config.database_url) {
        Err(error @ StoreError::Missing { .. }) => {
            findings.push(Finding::good(format!("database: {error}")));
            match place::Scratch::make() {
                Ok(scratch) => Some(scratch),
                Err(error) => return findings.push(Finding::fault(format!("temporary files: {error}"), "Make TMPDIR writable.")),
            }
        }
        _ => None,
    };
    let url = scratch.as_ref().map(place::Scratch::url);
    let store = match Store::open_shared(url.as_ref().unwrap_or(&config.database_url), clock.now()).await {
        Ok(store) => store,
        Err(error) => {
            return findings.push(Finding::fault(format!("database: {error}"), "Correct DATABASE_URL or the rights of the file."));
        }
    };
    if scratch.is_none() {
        findings.push(place::check_database(&store).await);
    }
    match app::agents(config, roster, &store, &clock, &Services::new("There is no chat here.")) {
        Err(error) => findings.push(Finding::fault(format!("{error:#}"), "Correct this in teamroom.toml or in the persona's file.")),
        Ok(TeamAgents { agents, faults, .. }) => {
            findings.extend(
                faults.into_iter().map(|fault| Finding::fault(fault, "Correct this line. docs/feeds.md describes each kind of feed.")),
            );
            check_models(&agents, &store, findings).await;
            check_feeds(config, &agents, roster, clock.now(), findings).await;
        }
    }
    store.close().await;
}

async fn check_models(agents: &Agents, store: &Store, findings: &mut Vec<Finding>) {
    if agents.is_offline() {
        findings.push(Finding::warning(
            "models: none is connected, so answers come from feeds and files only",
            "Set TEAMROOM_MODEL_URL and TEAMROOM_MODEL, or a provider's key, in .env.",
        ));
    }
    findings.extend(agents.runner.models.try_each().await);
    let unpriced = agents.describe_unpriced();
    findings.extend(unpriced.map(|unpriced| Finding::warning("prices: not all are known", unpriced)));
    findings.push(match &agents.speech {
        Some(speech) => speech.try_once().await,
        None => Finding::good("speech: nothing speaks. To listen to meetings install espeak-ng, or set models.speech"),
    });
    if let Some(transcription) = &agents.transcription {
        findings.push(transcription.try_once().await);
    }
    if let Some(model) = store.sentence_model() {
        findings.push(match model.try_once().await {
            Ok(()) => Finding::good(format!("embeddings {}: answer", model.name())),
            Err(error) => Finding::fault(format!("embeddings {}: {error}", model.name()), "Correct models.embeddings, or remove it."),
        });
    }
}

async fn check_feeds(config: &Config, agents: &Agents, roster: &Roster, now: DateTime<Utc>, findings: &mut Vec<Finding>) {
    let asked = FeedQuery { now, since: now - TimeDelta::days(7), until: now, limit: 1 };
    let page = agents.readings.read_page(&asked).await;
    findings.extend(page.iter().map(|entry| describe_feed(entry, roster)));
    findings.extend(config.features.iter().flat_map(|section| section.check(&page)));
}

async fn check_search(settings: &SearchSettings) -> Finding {
    let found = match WebSearch::new(settings) {
        Ok(search) => search.find("teamroom").await.map_err(|error| error.to_string()),
        Err(error) => Err(format!("{error:#}")),
    };
    match found {
        Ok(hits) => Finding::good(format!("web search: {} result(s)", hits.len())),
        Err(error) => Finding::fault(format!("web search: {error}"), "Correct tools.search in teamroom.toml, or its key in .env."),
    }
}

/// The values of a feed, so that a wrong pointer is visible.
fn describe_feed(entry: &PageEntry, roster: &Roster) -> Finding {
    let owners: Vec<_> = entry.personas.iter().map(|persona| roster.name_of(persona)).collect();
    let what = format!("feed {} of {}", entry.feed, owners.join(", "));
    match &entry.outcome {
        Ok(reading) => {
            let items = format!("{} item(s) this week", reading.total);
            let told: Vec<_> = std::iter::once(items).chain(reading.values.iter().map(ToString::to_string)).collect();
            let note = reading.note.as_ref().map_or(String::new(), |note| format!(" ({note})"));
            Finding::good(format!("{what}: {}{note}", told.join(", ")))
        }
        Err(error) => {
            Finding::fault(format!("{what}: {error}"), "Correct the feed in the persona's file. docs/feeds.md describes each kind.")
        }
    }
}

async fn check_platform(config: &Config, roster: &Arc<Roster>, findings: &mut Vec<Finding>) {
    if config.slack.is_set() {
        match slack::check(&config.slack, roster).await {
            Ok(found) => findings.extend(found),
            Err(error) => findings.push(Finding::fault(format!("Slack: {error}"), "Correct slack.api_url.")),
        }
    }
    if config.discord.tokens.is_empty() {
        if config.slack.is_set() {
            return;
        }
        return findings.push(Finding::warning(
            "Discord: no token is set. The sandbox needs none",
            "To go live set DISCORD_TOKEN_<PERSONA>, the coordinator's first. docs/discord.md shows how.",
        ));
    }
    match discord::check(&config.discord, roster, &config.list_channels(), SystemClock.now()).await {
        Ok(found) => findings.extend(found),
        Err(error) => findings.push(Finding::fault(format!("Discord: {error}"), "Check this machine's connection to discord.com.")),
    }
}
