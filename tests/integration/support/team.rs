//! The whole team with a sandbox, a real store, and a scripted model over HTTP.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kernel::config::Sources;
use kernel::ids::{ChannelId, MessageId, UserId};
use kernel::llm::settings::{ModelRef, ProviderKind, ProviderSettings, SpeechSetting};
use kernel::persona::roster::Roster;
use kernel::persona::{Persona, Tier, file, load};
use kernel::time::{ManualClock, SharedClock, SystemClock};
use sandbox::{BotAccount, Options, RateLimits, Sandbox};
use secrecy::SecretString;
use serde_json::{Value, json};
use teamroom::app::{App, Setting};
use teamroom::config::Config;
use teamroom::features::schedule::model::JobAction;

use super::database::{Connected, count};
use super::migrated;
use super::model::ScriptedModel;
use super::patience::PATIENCE;
pub(crate) use super::stores::{Backing, on_both_stores, on_one_store};

type Configure = Box<dyn Fn(&mut Config) + Send>;
type Cast = Box<dyn Fn(&mut Vec<Persona>) + Send>;

/// The settings of a test's team.
pub(crate) struct Wanted {
    backing: Backing,
    clock: SharedClock,
    configure: Vec<Configure>,
    sandbox: Box<dyn Fn(&mut Options) + Send>,
    model: Option<ProviderKind>,
    tokens: Box<dyn Fn(&str) -> bool + Send>,
    extra: Vec<(&'static str, &'static str)>,
    cast: Cast,
    strangers: Vec<(&'static str, &'static str)>,
    app: bool,
}

impl Wanted {
    pub(crate) fn on(backing: Backing) -> Self {
        Self {
            backing,
            clock: Arc::new(SystemClock),
            configure: Vec::new(),
            sandbox: Box::new(|_| {}),
            model: None,
            tokens: Box::new(|_| true),
            extra: Vec::new(),
            cast: Box::new(|_| {}),
            strangers: Vec::new(),
            app: true,
        }
    }

    /// Adds a persona.
    pub(crate) fn persona(mut self, slug: &'static str, name: &'static str) -> Self {
        self.extra.push((slug, name));
        self
    }

    /// Changes the personas.
    pub(crate) fn personas(mut self, change: impl Fn(&mut Vec<Persona>) + Send + 'static) -> Self {
        self.cast = Box::new(change);
        self
    }

    /// Adds another bot to the server.
    pub(crate) fn bot(mut self, slug: &'static str, name: &'static str) -> Self {
        self.strangers.push((slug, name));
        self
    }

    /// Leaves out the team, which runs in a separate process.
    pub(crate) fn without_app(mut self) -> Self {
        self.app = false;
        self
    }

    /// Adds a scripted model with this protocol. Without one the team is offline.
    pub(crate) fn model(mut self, kind: ProviderKind) -> Self {
        self.model = Some(kind);
        self
    }

    pub(crate) fn clock(mut self, clock: impl kernel::time::Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    pub(crate) fn configure(mut self, change: impl Fn(&mut Config) + Send + 'static) -> Self {
        self.configure.push(Box::new(change));
        self
    }

    pub(crate) fn sandbox(mut self, change: impl Fn(&mut Options) + Send + 'static) -> Self {
        self.sandbox = Box::new(change);
        self
    }

    /// Selects the personas with tokens. The others use webhooks.
    pub(crate) fn tokens(mut self, has: impl Fn(&str) -> bool + Send + 'static) -> Self {
        self.tokens = Box::new(has);
        self
    }

    pub(crate) async fn start(self) -> TestTeam {
        // On the heap, because the future is large.
        Box::pin(self.set_up()).await
    }

    async fn set_up(self) -> TestTeam {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let roster = roster(&self.extra, &self.cast);
        let mut options = Options::new(dir.path().join("sandbox"));
        options.rate_limits = RateLimits::Off;
        // Bots without a picture would make each start draw one for every persona.
        options.have_pictures = true;
        options.bots = roster
            .personas()
            .iter()
            .map(|persona| BotAccount {
                slug: persona.slug.to_string(),
                name: persona.name.clone(),
                color: Some(persona.color),
                intents_content: true,
            })
            .collect();
        options.bots.extend(self.strangers.iter().map(|(slug, name)| BotAccount {
            slug: (*slug).into(),
            name: (*name).into(),
            color: None,
            intents_content: true,
        }));
        (self.sandbox)(&mut options);
        let sandbox = Sandbox::start(options).await.expect("the sandbox starts");
        let model = ScriptedModel::start().await;
        let mut config =
            teamroom::config::load(Sources { dir: dir.path().to_owned(), ..Sources::default() }).expect("the defaults are valid");
        config.chat.coalesce = Duration::ZERO;
        // On a busy machine an answer may take longer than the usual eight seconds, and a message about that would be posted.
        config.chat.still_thinking_after = Duration::from_hours(1);
        config.chat.operators = vec!["*".into()];
        config.server.listen = None;
        // Whether this machine has a speech program must not change what is posted.
        config.models.speech = SpeechSetting::Off;
        // The standup would begin in any test that runs at nine o'clock, or that moves its clock past it.
        config.schedules.jobs.retain(|job| job.action != JobAction::named("standup"));
        config.discord.api_url = Some(sandbox.api_url());
        config.discord.gateway_url = Some(sandbox.gateway_url());
        config.discord.guild = Some(sandbox.guild_id());
        config.discord.tokens = sandbox
            .bots()
            .into_iter()
            .filter(|bot| (self.tokens)(&bot.slug))
            .map(|bot| (bot.slug.as_str().into(), SecretString::from(bot.token)))
            .collect();
        config.database_url = migrated::on(self.backing, &dir.path().join(".teamroom/teamroom.db"), "Discord").await.into();
        if let Some(kind) = self.model {
            use_model(&mut config, kind, &model);
        }
        for change in &self.configure {
            change(&mut config);
        }
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        let mut team = TestTeam {
            app: None,
            sandbox: Some(sandbox),
            model,
            config,
            roster,
            clock: self.clock,
            http,
            last_sent: Mutex::default(),
            connected: tokio::sync::Mutex::default(),
            dir,
        };
        if self.app {
            team.start_app().await;
        }
        team
    }
}

/// The built-in team.
pub(crate) fn built_in_roster() -> Roster {
    let unchanged: Cast = Box::new(|_| {});
    roster(&[], &unchanged)
}

/// The built-in team with additional personas.
fn roster(extra: &[(&str, &str)], change: &Cast) -> Roster {
    let built_in = load::BUILT_IN.iter().map(|(name, text)| (name.trim_end_matches(".md"), (*text).to_owned()));
    let more = extra.iter().map(|(slug, name)| {
        (
            *slug,
            format!("---\nname: {name}\nrole: extra\ncolor: \"#336699\"\nstandup:\n  role: Report.\n  cap: 600\n---\nYou are {name}.\n"),
        )
    });
    let mut personas = built_in.chain(more).map(|(slug, text)| file::parse(slug, text.as_bytes()).expect("a persona")).collect();
    change(&mut personas);
    Roster::new(personas).expect("a roster")
}

/// Uses the scripted model for all tiers.
pub(crate) fn use_model(config: &mut Config, kind: ProviderKind, model: &ScriptedModel) {
    config.models.providers = vec![ProviderSettings {
        name: "scripted".into(),
        kind,
        base_url: model.base_url(),
        key: Some(SecretString::from("sk-scripted-0123456789abcdef")),
        parallel: 64,
    }];
    let every = vec![ModelRef { provider: "scripted".into(), model: "scripted-1".into() }];
    config.models.tiers = [Tier::T1, Tier::T2, Tier::T3].into_iter().map(|tier| (tier, every.clone())).collect();
}

/// A running team, its sandbox and a person.
pub(crate) struct TestTeam {
    app: Option<App>,
    sandbox: Option<Sandbox>,
    pub(crate) model: ScriptedModel,
    pub(crate) config: Config,
    pub(crate) roster: Roster,
    pub(crate) clock: SharedClock,
    http: reqwest::Client,
    /// The last message of the first person.
    last_sent: Mutex<Option<MessageId>>,
    pub(super) connected: tokio::sync::Mutex<Option<Connected>>,
    pub(crate) dir: tempfile::TempDir,
}

/// A message as shown by the sandbox.
#[derive(Debug, Clone)]
pub(crate) struct Shown {
    pub(crate) author: String,
    pub(crate) is_bot: bool,
    pub(crate) text: String,
    pub(crate) raw: Value,
}

impl Shown {
    pub(crate) fn of(raw: Value) -> Self {
        Self {
            author: raw["author"]["global_name"].as_str().or(raw["author"]["username"].as_str()).unwrap_or_default().to_owned(),
            is_bot: raw["author"]["bot"].as_bool().unwrap_or_default() || raw.get("webhook_id").is_some(),
            text: raw["content"].as_str().unwrap_or_default().to_owned(),
            raw,
        }
    }
}

impl TestTeam {
    pub(crate) fn sandbox(&self) -> &Sandbox {
        self.sandbox.as_ref().expect("the sandbox runs")
    }

    pub(crate) fn app(&self) -> &App {
        self.app.as_ref().expect("the team runs")
    }

    pub(crate) async fn start_app(&mut self) {
        let mut config = self.config.clone();
        // Ids get their platform, as when the settings are read from a file: tests write ids as the sandbox knows them.
        config.complete_ids();
        let setting = Setting { config, roster: self.roster.clone(), clock: self.clock.clone() };
        let app = Box::pin(App::start(setting)).await.expect("the team starts");
        app.ready(PATIENCE).await.expect("every identity is online");
        // Nobody waits for messages from before the start, because the team may never read them.
        *self.last_sent.lock().expect("no test panics here") = None;
        self.app = Some(app);
    }

    /// Stops the team like an operator.
    pub(crate) async fn stop_app(&mut self) {
        if let Some(app) = self.app.take() {
            app.stop().await;
        }
    }

    pub(crate) fn channel(&self, name: &str) -> String {
        self.sandbox().channels().into_iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("no channel {name}")).1
    }

    /// A channel, as the team has it.
    pub(crate) fn channel_id(&self, name: &str) -> ChannelId {
        ChannelId::on("discord", self.channel(name))
    }

    /// A person's account, as the team has it.
    pub(crate) fn person_id(&self, person: usize) -> UserId {
        UserId::on("discord", &self.sandbox().people()[person].id)
    }

    /// A persona's account, for mentions.
    pub(crate) fn account(&self, slug: &str) -> String {
        self.sandbox().bots().into_iter().find(|bot| bot.slug == slug).unwrap_or_else(|| panic!("no bot {slug}")).id
    }

    /// A REST request by the person.
    pub(crate) async fn call(&self, method: reqwest::Method, path: &str, body: Option<Value>) -> Value {
        self.call_as(0, method, path, body).await
    }

    /// A REST request by a person other than the first.
    pub(crate) async fn call_as(&self, person: usize, method: reqwest::Method, path: &str, body: Option<Value>) -> Value {
        self.try_call_as(person, method, path, body).await.unwrap_or_else(|refused| panic!("{refused}"))
    }

    /// Like `call_as`, returning the sandbox's error.
    pub(crate) async fn try_call_as(
        &self,
        person: usize,
        method: reqwest::Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value, String> {
        let person = &self.sandbox().people()[person];
        let mut request =
            self.http.request(method, format!("{}/api/v10{path}", self.sandbox().api_url())).header("authorization", &person.token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.expect("the sandbox answers");
        let status = response.status();
        let text = response.text().await.expect("a body");
        if !status.is_success() {
            return Err(format!("{path}: {status} {text}"));
        }
        Ok(if text.is_empty() { Value::Null } else { serde_json::from_str(&text).expect("JSON") })
    }

    /// A person posts. Returns the message's id.
    pub(crate) async fn say(&self, channel: &str, text: &str) -> String {
        let path = format!("/channels/{}/messages", self.channel(channel));
        let sent = self.call(reqwest::Method::POST, &path, Some(json!({"content": text}))).await;
        let id = sent["id"].as_str().expect("an id").to_owned();
        self.note_sent(&id);
        id
    }

    fn note_sent(&self, id: &str) {
        *self.last_sent.lock().expect("no test panics here") = Some(MessageId::on("discord", id));
    }

    /// A person other than the first posts.
    pub(crate) async fn say_as(&self, person: usize, channel: &str, text: &str) {
        let url = format!("{}/api/v10/channels/{}/messages", self.sandbox().api_url(), self.channel(channel));
        let request = self.http.post(url).header("authorization", &self.sandbox().people()[person].token);
        assert!(request.json(&json!({"content": text})).send().await.expect("the sandbox answers").status().is_success());
    }

    /// Another bot posts.
    pub(crate) async fn say_as_bot(&self, channel: &str, token: &str, text: &str) {
        let url = format!("{}/api/v10/channels/{}/messages", self.sandbox().api_url(), self.channel(channel));
        let request = self.http.post(url).header("authorization", format!("Bot {token}")).json(&json!({"content": text}));
        assert!(request.send().await.expect("the sandbox answers").status().is_success());
    }

    /// A bot deletes a message of its own.
    pub(crate) async fn delete_as_bot(&self, channel: &str, token: &str, message: &str) {
        let url = format!("{}/api/v10/channels/{}/messages/{message}", self.sandbox().api_url(), self.channel(channel));
        let request = self.http.delete(url).header("authorization", format!("Bot {token}"));
        assert!(request.send().await.expect("the sandbox answers").status().is_success());
    }

    /// A person posts a file with a text.
    pub(crate) async fn drop_file(&self, channel: &str, name: &str, bytes: Vec<u8>, text: &str) -> String {
        self.try_drop_file(channel, name, bytes, text).await.unwrap_or_else(|error| panic!("not sent: {error}"))
    }

    /// Like `drop_file`, returning the platform's error.
    pub(crate) async fn try_drop_file(&self, channel: &str, name: &str, bytes: Vec<u8>, text: &str) -> Result<String, Value> {
        self.try_drop_files(channel, &[(name, bytes)], text).await
    }

    /// A person other than the first posts a file with a text.
    pub(crate) async fn drop_file_as(&self, person: usize, channel: &str, name: &str, bytes: Vec<u8>, text: &str) -> String {
        let sent = self.drop_files_as(person, channel, &[(name, bytes)], text).await;
        sent["id"].as_str().unwrap_or_else(|| panic!("not sent: {sent}")).to_owned()
    }

    /// A person posts several files with a text.
    pub(crate) async fn drop_files(&self, channel: &str, files: &[(&str, Vec<u8>)], text: &str) -> String {
        self.try_drop_files(channel, files, text).await.unwrap_or_else(|error| panic!("not sent: {error}"))
    }

    async fn try_drop_files(&self, channel: &str, files: &[(&str, Vec<u8>)], text: &str) -> Result<String, Value> {
        let sent = self.drop_files_as(0, channel, files, text).await;
        let id = sent["id"].as_str().map(str::to_owned).ok_or(sent)?;
        self.note_sent(&id);
        Ok(id)
    }

    async fn drop_files_as(&self, person: usize, channel: &str, files: &[(&str, Vec<u8>)], text: &str) -> Value {
        let person = &self.sandbox().people()[person];
        let listed: Vec<Value> = files.iter().enumerate().map(|(id, (name, _))| json!({"id": id, "filename": name})).collect();
        let mut form = reqwest::multipart::Form::new().text("payload_json", json!({"content": text, "attachments": listed}).to_string());
        for (id, (name, bytes)) in files.iter().enumerate() {
            form = form.part(format!("files[{id}]"), reqwest::multipart::Part::bytes(bytes.clone()).file_name((*name).to_owned()));
        }
        let url = format!("{}/api/v10/channels/{}/messages", self.sandbox().api_url(), self.channel(channel));
        let response =
            self.http.post(url).header("authorization", &person.token).multipart(form).send().await.expect("the sandbox answers");
        response.json().await.expect("JSON")
    }

    /// All messages in a channel, oldest first.
    pub(crate) async fn history(&self, channel: &str) -> Vec<Shown> {
        let id = self.channel(channel);
        let mut shown = Vec::new();
        let mut before = String::new();
        loop {
            let page = self.call(reqwest::Method::GET, &format!("/channels/{id}/messages?limit=100{before}"), None).await;
            let page = page.as_array().expect("a list").clone();
            let Some(oldest) = page.last() else { break };
            before = format!("&before={}", oldest["id"].as_str().expect("an id"));
            let full = page.len() == 100;
            shown.extend(page.into_iter().map(Shown::of));
            if !full {
                break;
            }
        }
        shown.reverse();
        shown
    }

    /// The newest hundred messages in a channel, oldest first.
    pub(crate) async fn newest(&self, channel: &str) -> Vec<Shown> {
        let page = self.call(reqwest::Method::GET, &format!("/channels/{}/messages?limit=100", self.channel(channel)), None).await;
        page.as_array().expect("a list").iter().rev().cloned().map(Shown::of).collect()
    }

    /// The team's messages in a channel, oldest first.
    pub(crate) async fn answers(&self, channel: &str) -> Vec<Shown> {
        self.history(channel).await.into_iter().filter(|shown| shown.is_bot).collect()
    }

    /// The team's messages after this one, oldest first, among the next hundred of the channel.
    pub(crate) async fn answers_after(&self, channel: &str, message: &str) -> Vec<Shown> {
        let path = format!("/channels/{}/messages?limit=100&after={message}", self.channel(channel));
        let page = self.call(reqwest::Method::GET, &path, None).await;
        page.as_array().expect("a list").iter().rev().cloned().map(Shown::of).filter(|shown| shown.is_bot).collect()
    }

    /// Waits for `count` messages of the team, and a little longer for duplicates.
    pub(crate) async fn wait_for_answers(&self, channel: &str, count: usize) -> Vec<Shown> {
        let started = Instant::now();
        loop {
            let looked = Instant::now();
            let answers = self.answers(channel).await;
            if answers.len() >= count {
                self.settle().await;
                let answers = self.answers(channel).await;
                assert_eq!(answers.len(), count, "one too many: {answers:#?}");
                return answers;
            }
            assert!(started.elapsed() < PATIENCE, "{} of {count} answers in {channel}: {answers:#?}", answers.len());
            pause(looked).await;
        }
    }

    /// Advances time in small steps until the team has posted `count` messages.
    pub(crate) async fn wait_while_moving(&self, channel: &str, count: usize, clock: &ManualClock) -> Vec<Shown> {
        let started = Instant::now();
        loop {
            let answers = self.answers(channel).await;
            if answers.len() >= count {
                return answers;
            }
            assert!(started.elapsed() < PATIENCE, "{} of {count} answers in {channel}: {answers:#?}", answers.len());
            clock.advance(Duration::from_millis(100));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until the last message has reached the team, no turn is open, all messages are decided, and the outbox is empty.
    pub(crate) async fn settle(&self) {
        let last = self.last_sent.lock().expect("no test panics here").take();
        if let Some(last) = last {
            self.wait_until_known(&last, "TRUE").await;
        }
        eventually("the team comes to rest", || async { self.app().is_idle().await.expect("the store answers") }).await;
    }

    /// A person deletes a message. Returns when the team knows.
    pub(crate) async fn delete(&self, channel: &str, message: &str) {
        self.call(reqwest::Method::DELETE, &format!("/channels/{}/messages/{message}", self.channel(channel)), None).await;
        self.wait_until_known(&MessageId::on("discord", message), "deleted_at IS NOT NULL").await;
    }

    async fn wait_until_known(&self, message: &MessageId, when: &str) {
        let sql = format!("SELECT COUNT(*) FROM inbox WHERE id = '{message}' AND {when}");
        eventually("the team knows it", || async { count(self, &sql).await == 1 }).await;
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// Waits for a condition. `what` describes it in the failure.
pub(crate) async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let (started, mut looked) = (Instant::now(), Instant::now());
    while !holds().await {
        assert!(started.elapsed() < PATIENCE, "it never came true: {what}");
        pause(looked).await;
        looked = Instant::now();
    }
}

/// Pauses before the next check. The pause is longer if the last check took long, so that the machine has time for the awaited work.
pub(crate) async fn pause(looked: Instant) {
    let pause = (looked.elapsed() * 4).clamp(Duration::from_millis(15), Duration::from_millis(300));
    tokio::time::sleep(pause).await;
}
