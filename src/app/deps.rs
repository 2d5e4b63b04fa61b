//! Builds the components of a team from the configuration.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use crate::adapters::discord;
use crate::adapters::discord::Discord;
use crate::adapters::platforms::Platforms;
use crate::adapters::slack::manifest::AppKind;
use crate::adapters::slack::{self, Slack};
use crate::app::ports::Memory;
use crate::app::sources::TeamSources;
use crate::app::tools;
use crate::config::Config;
use crate::features::schedule::action::Action;
use crate::features::{self, FEATURES, FeatureDeps, FeatureSection};
use crate::store::Store;
use kernel::agent::{Agents, Readings, Runner};
use kernel::chat::redact::Redactor;
use kernel::chat::{ChatPlatform, PlatformEvent};
use kernel::commands::{Registry, Services, permit_all};
use kernel::feeds::{Feed, FeedBuilder, FeedSources, Web};
use kernel::ids::PersonaSlug;
use kernel::llm::{Embeddings, LedgerMeter, Models, Speech, Transcription};
use kernel::memory::embedder::Meaning;
use kernel::people::{Members, People};
use kernel::persona::file::Entry;
use kernel::persona::roster::{Accounts, Roster};
use kernel::persona::{Persona, load};
use kernel::time::SharedClock;
use kernel::tools::web::WebSearch;
use kernel::tools::workspace::Workspaces;

/// The manifest of the Slack app, with the commands that features offer in menus.
pub fn slack_manifest(name: &str, kind: AppKind) -> serde_json::Value {
    let services = Services::new("There is no team here.");
    slack::manifest::manifest(name, kind, &features::registry(slack::PLATFORM, &services, permit_all()))
}

/// Lets each feature add its services.
pub fn provide(deps: &FeatureDeps<'_>, services: &Services) {
    for feature in FEATURES {
        feature.provide(deps, services);
    }
}

/// The actions of scheduled jobs.
pub(super) fn scheduled_actions(deps: &FeatureDeps<'_>, services: &Services) -> Vec<Arc<dyn Action>> {
    FEATURES.iter().flat_map(|feature| feature.actions(deps, services)).collect()
}

/// What an adapter needs to bring the team online on its platform.
pub struct Connection {
    pub config: Config,
    pub roster: Arc<Roster>,
    /// The accounts of personas known from earlier runs.
    pub known_accounts: Accounts,
    /// Receives what happens on the platform.
    pub events: mpsc::Sender<PlatformEvent>,
    /// Carries out commands and buttons.
    pub commands: Arc<Registry>,
    pub store: Store,
    pub clock: SharedClock,
}

/// Brings the team online on a platform.
pub type Connect = Box<dyn FnOnce(Connection) -> BoxFuture<'static, anyhow::Result<Arc<dyn ChatPlatform>>> + Send>;

/// Brings the team online on each platform that it has tokens for.
pub(super) async fn connect(connection: Connection) -> anyhow::Result<Arc<dyn ChatPlatform>> {
    if !connection.config.slack.is_set() {
        return connect_discord(connection).await;
    }
    // A wrong setting of Slack shows at once, before anybody is online.
    let slack = connect_slack(&connection)?;
    if connection.config.discord.tokens.is_empty() {
        return Ok(slack);
    }
    match connect_discord(connection).await {
        Ok(discord) => Ok(Arc::new(Platforms::new(vec![(discord::PLATFORM, discord), (slack::PLATFORM, slack)]))),
        Err(error) => {
            slack.shutdown().await;
            Err(error)
        }
    }
}

fn connect_slack(connection: &Connection) -> anyhow::Result<Arc<dyn ChatPlatform>> {
    let Connection { config, roster, events, commands, clock, .. } = connection;
    let slack = Slack::connect(slack::Options {
        redactor: redactor(config),
        settings: config.slack.clone(),
        roster: roster.clone(),
        clock: clock.clone(),
        events: events.clone(),
        commands: commands.clone(),
    });
    Ok(slack.context("cannot connect to Slack")?)
}

async fn connect_discord(connection: Connection) -> anyhow::Result<Arc<dyn ChatPlatform>> {
    let Connection { config, roster, known_accounts, events, commands, store, clock } = connection;
    let ports = Arc::new(Memory { store, clock: clock.clone() });
    let discord = Discord::connect(discord::Options {
        redactor: redactor(&config),
        attach_over: config.chat.attach_over,
        timing: if config.discord.api_url.is_some() { discord::Timing::elsewhere() } else { discord::Timing::default() },
        settings: config.discord,
        roster,
        known_accounts,
        clock,
        events,
        commands,
        registrations: ports.clone(),
        identify_log: ports,
    })
    .await
    .context("cannot connect to Discord")?;
    Ok(discord)
}

/// The people that the team knows: those in the configuration, and everybody who was seen.
pub fn people(config: &Config, store: &Store) -> People {
    People::new(store.database(), config.features.iter().flat_map(FeatureSection::list_people).collect())
}

/// The same, with the members of the servers who have never written anything, once the team is connected.
pub(super) fn people_and_members(config: &Config, store: &Store, services: &Services) -> People {
    people(config, store).with_members(services.late::<Members>())
}

/// The agents of the personas, and what belongs to them.
pub struct TeamAgents {
    pub agents: Agents,
    /// Receives a message when the day's budget runs low.
    pub budget_low: mpsc::Receiver<String>,
    /// The workspaces that the tools write to.
    pub workspaces: Workspaces,
    /// Entries of persona files that cannot be used: each with the file, the line and the reason. Their personas work without them.
    pub faults: Vec<String>,
}

/// # Errors
/// The settings of a model or a tool are invalid.
pub fn agents(
    config: &Config,
    roster: &Arc<Roster>,
    store: &Store,
    clock: &SharedClock,
    commands: &Services,
) -> anyhow::Result<TeamAgents> {
    let sources = Arc::new(TeamSources { store: store.clone(), roster: roster.clone() });
    let (activity, backlog, ledger) = (sources.clone(), sources.clone(), sources);
    let web = Web::new().context("cannot make an HTTP client for feeds")?;
    let search = config.tools.search.as_ref().map(WebSearch::new).transpose()?.map(Arc::new);
    let services = kernel::feeds::Services::new(&config.feeds, search);
    let (work, zone) = (config.work.clone(), config.schedules.zone);
    let mut builder = FeedBuilder::new(FeedSources { work, clock: clock.clone(), zone, web, activity, backlog, ledger, services });
    let mut feeds: HashMap<PersonaSlug, Vec<Feed>> = HashMap::new();
    let mut faults = Vec::new();
    for persona in roster.personas() {
        for spec in &persona.feeds {
            match builder.build(spec) {
                Ok(feed) => feeds.entry(persona.slug.clone()).or_default().push(feed),
                Err(error) => faults.push(left_out(config, persona, Entry::Feed(spec), &error.to_string())),
            }
        }
    }
    let (meter, budget_low) = LedgerMeter::new(store.database(), config.effective_budgets(), clock.clone());
    let http = kernel::network::client()
        .connect_timeout(config.models.connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .context("cannot make an HTTP client")?;
    use_sentence_model(config, store, &http, &meter, clock)?;
    let speech = Speech::new(&config.models, &http, meter.clone(), clock.clone())?.map(Arc::new).filter(|_| cfg!(feature = "sound"));
    let transcription = Transcription::new(&config.models, &http, meter.clone(), clock.clone())?;
    let models = Models::new(&config.models, &http, meter, clock.clone())?;
    let readings = Readings::new(feeds, clock.clone());
    let workspaces = workspaces(config);
    let tools = tools::toolbox(config, roster, store, &readings, &workspaces, clock, commands)?;
    for persona in roster.personas() {
        for tool in &persona.tools {
            let unknown = tools.check_listed(std::slice::from_ref(tool)).err();
            faults.extend(unknown.map(|unknown| left_out(config, persona, Entry::Tool(tool), &unknown)));
        }
    }
    let runner = Runner { models, tools, redactor: redactor(config), clock: clock.clone() };
    let (team, max_output_tokens) = (config.team.clone(), config.models.max_output_tokens);
    let (roster, store) = (roster.clone(), store.database());
    let agents = Agents { runner, roster, team, store, readings, speech, transcription, max_output_tokens };
    Ok(TeamAgents { agents, budget_low, workspaces, faults })
}

/// "personas/vince.md, line 12: there is no feed kind "gti". Vince works without it".
fn left_out(config: &Config, persona: &Persona, entry: Entry<'_>, problem: &str) -> String {
    let place = load::locate(&config.personas, &persona.slug, entry);
    format!("{place}: {problem}; {} works without it", persona.name)
}

/// The folders in which items are worked on.
pub fn workspaces(config: &Config) -> Workspaces {
    Workspaces::new(config.data.join("workspaces"))
}

/// Lets the memory be searched by meaning, if a model for that is configured.
fn use_sentence_model(
    config: &Config,
    store: &Store,
    http: &reqwest::Client,
    meter: &Arc<LedgerMeter>,
    clock: &SharedClock,
) -> anyhow::Result<()> {
    #[cfg(feature = "sentence-model")]
    if let Some(folder) = &config.models.embedding_folder {
        let model = kernel::memory::local_model::LocalModel::read(folder).context("models.embedding_folder cannot be used")?;
        store.use_sentence_model(Arc::new(Meaning::new(Arc::new(model))));
    }
    if let Some(model) = Embeddings::new(&config.models, http, meter.clone(), clock.clone())? {
        store.use_sentence_model(Arc::new(Meaning::new(Arc::new(model))));
    }
    Ok(())
}

/// The redactor of every secret that this process was given.
pub(crate) fn redactor(config: &Config) -> Redactor {
    let secrets: Vec<_> = config.list_secrets().into_iter().cloned().collect();
    Redactor::new(&secrets)
}
