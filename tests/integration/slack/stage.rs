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
use teamroom::adapters::slack::manifest::manifest;
use teamroom::adapters::slack::settings::AppTokens;
use teamroom::app::{App, Setting};
use teamroom::config::Config;

use crate::support::migrated;
use crate::support::model::ScriptedModel;
use crate::support::team::{Backing, built_in_roster, eventually, use_model};

/// For what is expected. A passing test never waits this long.
const PATIENCE: Duration = Duration::from_mins(2);

/// The app of the whole team.
pub(super) const TEAM: &str = "team";

pub(super) struct SlackTeam {
    app: Option<App>,
    pub(super) workspace: Workspace,
    pub(super) model: ScriptedModel,
    pub(super) config: Config,
    roster: Roster,
    _dir: tempfile::TempDir,
}

/// A message as people see it.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) by: String,
    /// Of the blocks and the card.
    pub(super) text: String,
    pub(super) raw: Value,
}

impl SlackTeam {
    pub(super) async fn start(backing: Backing) -> Self {
        Self::start_with(backing, |_| (), |_| ()).await
    }

    pub(super) async fn start_with(backing: Backing, change: impl FnOnce(&mut Config), prepare: impl FnOnce(&mut Options)) -> Self {
        let mut options = Options { apps: vec![app_of(TEAM, "Teamroom")], ..Options::default() };
        options.people = vec![PersonConfig { role: Role::Admin, ..PersonConfig::new("Ann") }, PersonConfig::new("Bob")];
        options.channels = ["general", "daily-standup", "ops"].map(ChannelConfig::new).to_vec();
        options.rate_limits = slack_sandbox::RateLimits::Off;
        // Slack itself waits for three seconds, a minute, and five.
        options.windows.acknowledgement = Duration::from_secs(1);
        options.windows.retries = vec![Duration::ZERO, Duration::from_millis(200), Duration::from_secs(1)];
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
        config.slack.api_url = Some(workspace.api_url().trim_end_matches("/api/").to_owned());
        config.slack.team = Some(tokens_of(&workspace, TEAM));
        config.database_url = match backing {
            Backing::Sqlite => migrated::sqlite(&dir.path().join(".teamroom/teamroom.db")),
            Backing::Postgres => migrated::postgres().await.expect("a database"),
        }
        .into();
        use_model(&mut config, ProviderKind::OpenAi, &model);
        change(&mut config);
        let mut team = Self { app: None, workspace, model, config, roster: built_in_roster(), _dir: dir };
        team.start_app().await;
        team
    }

    pub(super) async fn start_app(&mut self) {
        let setting = Setting { config: self.config.clone(), roster: self.roster.clone(), clock: Arc::new(SystemClock) };
        let app = Box::pin(App::start(setting)).await.expect("the team starts");
        app.ready(PATIENCE).await.expect("the app is online");
        self.app = Some(app);
        eventually("all connections are open", || async { self.workspace.connections(TEAM) == 2 }).await;
    }

    pub(super) async fn stop_app(&mut self) {
        if let Some(app) = self.app.take() {
            app.stop().await;
        }
    }

    pub(super) async fn stop(mut self) {
        self.stop_app().await;
        self.workspace.stop().await;
    }

    pub(super) fn channel(&self, name: &str) -> String {
        self.workspace.channel(name)
    }

    pub(super) fn person(&self, name: &str) -> Person {
        self.workspace.person(name)
    }

    pub(super) fn ann(&self) -> Person {
        self.person("Ann")
    }

    /// Ann says something in a channel. Returns its time stamp.
    pub(super) fn say(&self, channel: &str, text: &str) -> String {
        self.ann().say(&self.channel(channel), text).expect("it is said")
    }

    pub(super) fn misbehave(&self, switch: Switch) {
        self.workspace.misbehave(switch).expect("the app is there");
    }

    /// What the team has said in a channel, given by its id.
    pub(super) fn said_in(&self, channel: &str) -> Vec<Said> {
        let messages = self.ann().messages(channel);
        messages.into_iter().filter(|message| !message["bot_id"].is_null()).map(Said::of).collect()
    }

    pub(super) fn said(&self, channel: &str) -> Vec<Said> {
        self.said_in(&self.channel(channel))
    }

    /// Waits for a message of the team.
    pub(super) async fn hears(&self, channel: &str, is_it: impl Fn(&Said) -> bool) -> Said {
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
    pub(super) async fn settle(&self) {
        eventually("what was reported is acknowledged", || async { self.workspace.unacknowledged(TEAM) == 0 }).await;
        let app = self.app.as_ref().expect("the team runs");
        eventually("the team comes to rest", || async { app.is_idle().await.expect("the store answers") }).await;
    }
}

impl Said {
    fn of(raw: Value) -> Self {
        let mut text = Vec::new();
        collect_texts(&raw["blocks"], &mut text);
        collect_texts(&raw["attachments"], &mut text);
        let by = raw["username"].as_str().or(raw["bot_profile"]["name"].as_str()).unwrap_or_default().to_owned();
        Self { by, text: text.join("\n"), raw }
    }

    pub(super) fn ts(&self) -> &str {
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

/// An app as our manifest makes it, in all channels of the test.
pub(super) fn app_of(slug: &str, name: &str) -> AppConfig {
    let manifest = manifest(name);
    let list = |pointer: &str| {
        let words = manifest.pointer(pointer).and_then(Value::as_array).expect("a list").iter();
        words.map(|word| word.as_str().expect("a word").to_owned()).collect::<Vec<_>>()
    };
    AppConfig {
        scopes: list("/oauth_config/scopes/bot"),
        events: list("/settings/event_subscriptions/bot_events"),
        commands: vec!["/team".to_owned()],
        channels: ["general", "daily-standup", "ops"].map(str::to_owned).to_vec(),
        ..AppConfig::new(slug, name)
    }
}

pub(super) fn tokens_of(workspace: &Workspace, slug: &str) -> AppTokens {
    let app = workspace.app(slug);
    AppTokens { bot: SecretString::from(app.bot_token), app: SecretString::from(app.app_token) }
}
