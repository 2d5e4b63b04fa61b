//! The team in a local Slack.

use std::sync::Arc;
use std::time::Duration;

use kernel::config::Sources;
use kernel::llm::settings::ProviderKind;
use kernel::persona::roster::Roster;
use kernel::time::SystemClock;
use secrecy::SecretString;
use serde_json::Value;
use slack_sandbox::{AppConfig, ChannelConfig, Options, Person, PersonConfig, Role, Switch, Workspace};
use teamroom::adapters::slack::manifest::AppKind;
use teamroom::adapters::slack::settings::AppTokens;
use teamroom::app::slack_manifest;
use teamroom::app::{App, Setting};
use teamroom::config::Config;

use crate::support::migrated;
use crate::support::model::ScriptedModel;
use crate::support::patience::PATIENCE;
use crate::support::team::{Backing, built_in_roster, eventually, use_model};

const CHANNELS: [&str; 3] = ["general", "daily-standup", "ops"];

/// The app of the whole team.
pub(crate) const TEAM: &str = "team";

pub(crate) struct SlackTeam {
    app: Option<App>,
    pub(crate) workspace: Workspace,
    pub(crate) model: ScriptedModel,
    pub(crate) config: Config,
    roster: Roster,
    _dir: tempfile::TempDir,
}

/// A message as people see it.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) by: String,
    /// The text of the blocks and of the card.
    pub(crate) text: String,
    pub(crate) raw: Value,
}

impl SlackTeam {
    pub(crate) async fn start(backing: Backing) -> Self {
        Self::start_with(backing, |_| (), |_| ()).await
    }

    pub(crate) async fn start_with(backing: Backing, change: impl FnOnce(&mut Config), prepare: impl FnOnce(&mut Options)) -> Self {
        let mut options = options();
        prepare(&mut options);
        let workspace = Workspace::start(options).await.expect("the workspace starts");
        let dir = tempfile::tempdir().expect("a temporary directory");
        let model = ScriptedModel::start().await;
        let sources = Sources { dir: dir.path().to_owned(), ..Sources::default() };
        let mut config = teamroom::config::load(sources).expect("the defaults are valid");
        config.chat.coalesce = Duration::ZERO;
        config.chat.still_thinking_after = Duration::from_hours(1);
        config.chat.direct_messages = true;
        config.chat.operators = vec!["*".into()];
        config.server.listen = None;
        config.schedules.jobs.clear();
        join(&mut config, &workspace);
        config.database_url = migrated::on(backing, &dir.path().join(".teamroom/teamroom.db"), "Slack").await.into();
        use_model(&mut config, ProviderKind::OpenAi, &model);
        change(&mut config);
        let mut team = Self { app: None, workspace, model, config, roster: built_in_roster(), _dir: dir };
        team.start_app().await;
        team
    }

    pub(crate) async fn start_app(&mut self) {
        let setting = Setting { config: self.config.clone(), roster: self.roster.clone(), clock: Arc::new(SystemClock) };
        let app = Box::pin(App::start(setting)).await.expect("the team starts");
        app.ready(PATIENCE).await.expect("the app is online");
        self.app = Some(app);
        let sockets = self.config.slack.sockets as usize;
        eventually("all connections are open", || async { self.workspace.connections(TEAM) >= sockets }).await;
    }

    pub(crate) async fn stop_app(&mut self) {
        if let Some(app) = self.app.take() {
            app.stop().await;
        }
    }

    pub(crate) async fn stop(mut self) {
        self.stop_app().await;
        self.workspace.stop().await;
    }

    /// Whether somebody on the team has this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.roster.personas().iter().any(|persona| persona.name == name)
    }

    pub(crate) fn channel(&self, name: &str) -> String {
        self.workspace.channel(name)
    }

    pub(crate) fn person(&self, name: &str) -> Person {
        self.workspace.person(name)
    }

    pub(crate) fn ann(&self) -> Person {
        self.person("Ann")
    }

    /// Ann says something in a channel. Returns its time stamp.
    pub(crate) fn say(&self, channel: &str, text: &str) -> String {
        self.ann().say(&self.channel(channel), text).expect("it is said")
    }

    pub(crate) fn misbehave(&self, switch: Switch) {
        self.workspace.misbehave(switch).expect("the app is there");
    }

    /// What the team has said in a channel, given by its id.
    pub(crate) fn said_in(&self, channel: &str) -> Vec<Said> {
        let messages = self.ann().messages(channel);
        messages.into_iter().filter(|message| !message["bot_id"].is_null()).map(Said::of).collect()
    }

    pub(crate) fn said(&self, channel: &str) -> Vec<Said> {
        self.said_in(&self.channel(channel))
    }

    /// Ann uses a slash command. Returns its answer.
    pub(crate) async fn run(&self, channel: &str, line: &str) -> String {
        let channel = self.channel(channel);
        let answers = || {
            let shown = self.ann().messages(&channel).into_iter();
            shown.filter(|message| message["is_ephemeral"] == true || !message["bot_id"].is_null()).map(Said::of).collect::<Vec<_>>()
        };
        let before: Vec<String> = answers().iter().map(|said| said.ts().to_owned()).collect();
        let call = self.ann().command(&channel, line).expect("Slack knows the command");
        call.ended().await;
        // Messages with buttons are not the answer: the command may post them too.
        let is_new = |said: &Said| said.buttons().is_empty() && !before.iter().any(|ts| ts == said.ts());
        let find = || answers().into_iter().find(is_new);
        eventually("the command is answered", || async { find().is_some() }).await;
        find().expect("an answer").text
    }

    /// Ann presses a button of a message.
    pub(crate) async fn press(&self, channel: &str, said: &Said, label: &str) {
        let buttons = said.buttons();
        let (_, action) = buttons.iter().find(|(known, _)| known == label).unwrap_or_else(|| panic!("no {label}: {said:#?}"));
        self.ann().press(&self.channel(channel), said.ts(), action).expect("it can be pressed").ended().await;
    }

    /// Waits for a message of the team.
    pub(crate) async fn hears(&self, channel: &str, is_it: impl Fn(&Said) -> bool) -> Said {
        let channel = if channel.starts_with('D') { channel.to_owned() } else { self.channel(channel) };
        let found = || self.said_in(&channel).into_iter().find(|said| is_it(said));
        let started = std::time::Instant::now();
        loop {
            if let Some(said) = found() {
                return said;
            }
            assert!(started.elapsed() < PATIENCE, "{:#?}", self.said_in(&channel));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until everything is answered and posted.
    pub(crate) async fn settle(&self) {
        eventually("what was reported is acknowledged", || async { self.workspace.unacknowledged(TEAM) == 0 }).await;
        let app = self.app.as_ref().expect("the team runs");
        eventually("the team comes to rest", || async { app.is_idle().await.expect("the store answers") }).await;
    }
}

impl Said {
    pub(crate) fn of(raw: Value) -> Self {
        let mut text = Vec::new();
        collect_texts(&raw["blocks"], &mut text);
        collect_texts(&raw["attachments"], &mut text);
        let by = raw["username"].as_str().or(raw["bot_profile"]["name"].as_str()).unwrap_or_default().to_owned();
        Self { by, text: text.join("\n"), raw }
    }

    /// Labels and actions.
    pub(crate) fn buttons(&self) -> Vec<(String, String)> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let in_cards = list(&self.raw["attachments"]).into_iter().flat_map(|card| list(&card["blocks"]));
        let blocks = list(&self.raw["blocks"]).into_iter().chain(in_cards).filter(|block| block["type"] == "actions");
        let elements = blocks.flat_map(|block| list(&block["elements"]));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        elements.map(|element| (text(&element["text"]["text"]), text(&element["action_id"]))).collect()
    }

    /// The names of the files that a message of an app links to.
    pub(crate) fn files(&self) -> Vec<String> {
        let links = self.text.split('<').filter_map(|link| link.split_once('>')?.0.split_once('|'));
        links.filter(|(address, _)| address.contains("/files")).map(|(_, name)| name.to_owned()).collect()
    }

    pub(crate) fn ts(&self) -> &str {
        self.raw["ts"].as_str().expect("a time stamp")
    }
}

/// All texts below a value, in order.
fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|inner| collect_texts(inner, texts)),
        Value::Object(fields) => {
            for (name, inner) in fields {
                match inner {
                    Value::String(text) if name == "text" => texts.push(text.clone()),
                    inner => collect_texts(inner, texts),
                }
            }
        }
        _ => {}
    }
}

/// A workspace with the team's app, Ann, who is an admin, and Bob.
pub(crate) fn options() -> Options {
    let mut options = Options { apps: vec![app_of(TEAM, "Teamroom")], ..Options::default() };
    options.people = vec![PersonConfig { role: Role::Admin, ..PersonConfig::new("Ann") }, PersonConfig::new("Bob")];
    options.channels = CHANNELS.map(ChannelConfig::new).to_vec();
    options.rate_limits = slack_sandbox::RateLimits::Off;
    // Shorter than Slack's own times, which are three seconds, a minute, and five minutes.
    options.windows.acknowledgement = Duration::from_secs(1);
    options.windows.retries = vec![Duration::ZERO, Duration::from_millis(200), Duration::from_secs(1)];
    options
}

/// Configures the team to use its app of the workspace.
pub(crate) fn join(config: &mut Config, workspace: &Workspace) {
    config.slack.api_url = Some(workspace.api_url().trim_end_matches("/api/").to_owned());
    config.slack.team = Some(tokens_of(workspace, TEAM));
}

/// An app as our manifest makes it, in all channels of the test.
pub(crate) fn app_of(slug: &str, name: &str) -> AppConfig {
    app_of_kind(slug, name, AppKind::Plain)
}

pub(crate) fn app_of_kind(slug: &str, name: &str, kind: AppKind) -> AppConfig {
    let app = AppConfig::of_manifest(slug, &slack_manifest(name, kind)).expect("the manifest is complete");
    AppConfig { channels: CHANNELS.map(str::to_owned).to_vec(), ..app }
}

pub(crate) fn tokens_of(workspace: &Workspace, slug: &str) -> AppTokens {
    let app = workspace.app(slug);
    AppTokens { bot: SecretString::from(app.bot_token), app: SecretString::from(app.app_token) }
}
