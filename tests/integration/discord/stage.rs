//! A sandbox with a team, its events, and a person.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(super) use crate::support::patience::PATIENCE;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use kernel::chat::message::InboundMessage;
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::chat::redact::Redactor;
use kernel::chat::{ChatPlatform, IdentityState, IdentityStatus, PlatformEvent};
use kernel::commands::{CommandCall, CommandHandler, CommandReply, Registry, Services, Suggestion, permit_all};
use kernel::ids::{ChannelId, PersonaSlug, complete};
use kernel::persona::roster::{Accounts, Roster};
use kernel::persona::{Persona, StandupRole, Tier, Voice};
use kernel::time::SystemClock;
use sandbox::{BotAccount, Misbehaviour, Options as SandboxOptions, RateLimits, Sandbox, Switch};
use serde_json::{Value, json};
use teamroom::adapters::discord::settings::DiscordSettings;
use teamroom::adapters::discord::{ConnectError, Discord, IdentifyLog, Options, Registrations, Timing};
use tokio::sync::mpsc;

pub(super) const TEAM: [&str; 7] = ["kelly", "echo", "eliza", "oracle", "sentinel", "solus", "vince"];

/// The settings of a test.
pub(super) struct Setting {
    pub(super) sandbox: SandboxOptions,
    pub(super) timing: Timing,
    /// Personas without a token.
    pub(super) mute: Vec<&'static str>,
    /// Changes the settings after the sandbox has started.
    pub(super) adapt: Box<dyn Fn(&mut DiscordSettings)>,
    _dir: tempfile::TempDir,
}

impl Setting {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut sandbox = SandboxOptions::new(dir.path());
        sandbox.rate_limits = RateLimits::Off;
        sandbox.journal = true;
        sandbox.bots =
            TEAM.map(|slug| BotAccount { slug: slug.to_owned(), name: title(slug), color: None, intents_content: true }).to_vec();
        Self { sandbox, timing: hurried(), mute: vec![], adapt: Box::new(|_| {}), _dir: dir }
    }

    /// Starts the sandbox alone. Tries again, because a process that another test is starting may hold the old sandbox's lock for a moment.
    pub(super) async fn sandbox(&self) -> Sandbox {
        let started = Instant::now();
        loop {
            match Sandbox::start(self.sandbox.clone()).await {
                Ok(sandbox) => return sandbox,
                Err(error) => assert!(
                    error.to_string().contains("another sandbox is using") && started.elapsed() < Duration::from_secs(10),
                    "{error:?}"
                ),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub(super) async fn open(self) -> Stage {
        let sandbox = self.sandbox().await;
        self.open_on(sandbox).await
    }

    /// Opens with another team.
    pub(super) async fn open_with(self, roster: Arc<Roster>) -> Stage {
        let sandbox = self.sandbox().await;
        self.open_team(roster, sandbox).await
    }

    pub(super) async fn open_on(self, sandbox: Sandbox) -> Stage {
        self.open_team(roster(), sandbox).await
    }

    async fn open_team(self, roster: Arc<Roster>, sandbox: Sandbox) -> Stage {
        let mut settings = settings(&sandbox);
        settings.tokens.retain(|slug, _| !self.mute.contains(&slug.as_str()));
        (self.adapt)(&mut settings);
        let memory = Arc::new(Memory::default());
        let (discord, events) = connect_team(roster, settings.clone(), self.timing, &memory).await;
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Stage { sandbox, discord: discord.unwrap(), events, memory, settings, setting: self, http }
    }
}

/// Time limits short enough for tests, and long enough for a busy machine.
pub(super) fn hurried() -> Timing {
    Timing {
        ready: Duration::from_secs(10),
        redial: Duration::from_secs(3),
        new_session: Duration::from_millis(100),
        login_spacing: Duration::from_millis(100),
        first_pause: Duration::from_millis(100),
        longest_pause: Duration::from_secs(1),
        call: Duration::from_secs(8),
        ..Timing::default()
    }
}

pub(super) fn settings(sandbox: &Sandbox) -> DiscordSettings {
    DiscordSettings {
        tokens: sandbox.bots().into_iter().map(|bot| (bot.slug.as_str().into(), bot.token.into())).collect(),
        api_url: Some(sandbox.api_url()),
        ..DiscordSettings::default()
    }
}

pub(super) async fn connect(
    settings: DiscordSettings,
    timing: Timing,
    memory: &Arc<Memory>,
) -> (Result<Arc<Discord>, ConnectError>, Events) {
    connect_team(roster(), settings, timing, memory).await
}

/// Like [`connect`], with other personas.
pub(super) async fn connect_team(
    roster: Arc<Roster>,
    settings: DiscordSettings,
    timing: Timing,
    memory: &Arc<Memory>,
) -> (Result<Arc<Discord>, ConnectError>, Events) {
    let (events, receiver) = mpsc::channel(10_000);
    let discord = Discord::connect(Options {
        settings,
        roster,
        known_accounts: Accounts::default(),
        clock: Arc::new(SystemClock),
        events,
        commands: memory.registry(),
        registrations: Arc::clone(memory) as Arc<dyn Registrations>,
        identify_log: Arc::clone(memory) as Arc<dyn IdentifyLog>,
        redactor: Redactor::new(&["correct-horse-battery".to_owned().into()]),
        attach_over: 6000,
        timing,
    });
    (discord.await, Events { receiver, seen: vec![] })
}

fn title(slug: &str) -> String {
    slug[..1].to_uppercase() + &slug[1..]
}

pub(super) fn roster() -> Arc<Roster> {
    roster_of(&TEAM)
}

pub(super) fn roster_of(team: &[impl AsRef<str>]) -> Arc<Roster> {
    let persona = |slug: &str| Persona {
        slug: slug.into(),
        name: title(slug),
        aliases: vec![],
        role: "tests".to_owned(),
        expertise: vec![],
        color: 0,
        avatar: None,
        tier: Tier::T1,
        coordinator: slug == "kelly",
        tools: vec![],
        feeds: vec![],
        channels: BTreeMap::new(),
        standup: StandupRole { role: String::new(), cap: 800, duty: None },
        voice: Voice::of(slug),
        prompt: String::new(),
    };
    Arc::new(Roster::new(team.iter().map(|slug| persona(slug.as_ref())).collect()).unwrap())
}

/// A running sandbox with the team connected to it.
pub(super) struct Stage {
    pub(super) sandbox: Sandbox,
    pub(super) discord: Arc<Discord>,
    pub(super) events: Events,
    pub(super) memory: Arc<Memory>,
    pub(super) settings: DiscordSettings,
    setting: Setting,
    http: reqwest::Client,
}

impl Stage {
    /// Starts the whole team.
    pub(super) async fn ready() -> Self {
        let mut stage = Setting::new().open().await;
        stage.all_ready().await;
        stage
    }

    pub(super) async fn all_ready(&mut self) {
        let expected = self.settings.tokens.len();
        for _ in 0..expected {
            self.events.next(|event| matches!(event, PlatformEvent::Ready { .. })).await;
        }
    }

    pub(super) fn misbehave(&self, switch: Switch) {
        let misbehaviour: Misbehaviour = self.sandbox.misbehaviour();
        misbehaviour.set(switch).unwrap();
    }

    pub(super) fn channel(&self, name: &str) -> String {
        self.sandbox.channels().into_iter().find(|(known, _)| known == name).unwrap().1
    }

    pub(super) fn bot_id(&self, slug: &str) -> String {
        self.sandbox.bots().into_iter().find(|bot| bot.slug == slug).unwrap().id
    }

    pub(super) fn status(&self, slug: &str) -> IdentityStatus {
        self.discord.identities().into_iter().find(|status| status.persona.as_str() == slug).unwrap()
    }

    pub(super) async fn until_state(&self, slug: &str, state: IdentityState) {
        until(|| self.status(slug).state == state, || format!("{slug} is {:?}", self.status(slug))).await;
    }

    /// A REST request by the person.
    pub(super) async fn person(&self, method: &str, path: &str, body: Value) -> Value {
        let person = &self.sandbox.people()[0];
        let url = format!("{}/api/v10{path}", self.sandbox.api_url());
        let mut request = self.http.request(method.parse().unwrap(), url).header("authorization", &person.token);
        if !body.is_null() {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let status = response.status();
        let text = response.text().await.unwrap();
        assert!(status.is_success(), "{method} {path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }

    /// The person's direct channel with a persona.
    pub(super) async fn direct(&self, slug: &str) -> String {
        let channel = self.person("POST", "/users/@me/channels", json!({ "recipient_id": self.bot_id(slug) })).await;
        channel["id"].as_str().unwrap().to_owned()
    }

    /// Waits until a persona has received all earlier events, by sending it a direct message.
    pub(super) async fn until_heard(&mut self, slug: &str) {
        let direct = self.direct(slug).await;
        self.say(&direct, "Still there?").await;
        self.events.next(|event| matches!(event, PlatformEvent::Message(message) if message.text == "Still there?")).await;
    }

    /// The person posts in a channel. Returns the message's id.
    pub(super) async fn say(&self, channel: &str, text: &str) -> String {
        let message = self.person("POST", &format!("/channels/{channel}/messages"), json!({ "content": text })).await;
        message["id"].as_str().unwrap().to_owned()
    }

    /// The messages of a channel, newest first.
    pub(super) async fn history(&self, channel: &str) -> Vec<Value> {
        let messages = self.person("GET", &format!("/channels/{channel}/messages?limit=100"), Value::Null).await;
        messages.as_array().unwrap().clone()
    }

    /// Restarts the sandbox at the same address.
    pub(super) async fn reopen(&mut self, addr: std::net::SocketAddr) {
        self.setting.sandbox.addr = addr;
        self.sandbox = self.setting.sandbox().await;
    }

    pub(super) async fn close(self) {
        self.discord.close().await;
        self.sandbox.stop().await;
        drop(self.setting);
    }
}

/// An outbox row.
pub(super) fn row(persona: &str, channel: &str, text: &str) -> OutboundMessage {
    OutboundMessage::new(&persona.into(), &ChannelId::new(complete("discord", channel)), OutboundKind::Answer, text)
}

/// An id of the sandbox, as the team has it.
pub(super) fn ours<T: From<String>>(id: &str) -> T {
    format!("discord:{id}").into()
}

/// Events from the platform.
pub(super) struct Events {
    receiver: mpsc::Receiver<PlatformEvent>,
    pub(super) seen: Vec<PlatformEvent>,
}

impl Events {
    /// The next matching event. Others are kept in `seen`.
    pub(super) async fn next(&mut self, wanted: impl Fn(&PlatformEvent) -> bool) -> PlatformEvent {
        let arrival = async {
            loop {
                let event = self.receiver.recv().await.expect("the adapter runs");
                if wanted(&event) {
                    return event;
                }
                self.seen.push(event);
            }
        };
        tokio::time::timeout(PATIENCE, arrival).await.expect("the event comes")
    }

    pub(super) async fn message(&mut self) -> InboundMessage {
        match self.next(|event| matches!(event, PlatformEvent::Message(_))).await {
            PlatformEvent::Message(message) => *message,
            _ => unreachable!("only messages were asked for"),
        }
    }

    pub(super) async fn trouble(&mut self) -> (PersonaSlug, String) {
        match self.next(|event| matches!(event, PlatformEvent::Trouble { .. })).await {
            PlatformEvent::Trouble { persona, text } => (persona, text),
            _ => unreachable!("only troubles were asked for"),
        }
    }

    /// All events so far, including those skipped.
    pub(super) fn drain(&mut self) -> Vec<PlatformEvent> {
        while let Ok(event) = self.receiver.try_recv() {
            self.seen.push(event);
        }
        std::mem::take(&mut self.seen)
    }
}

/// Waits for a condition without an event.
pub(super) async fn until(mut done: impl FnMut() -> bool, otherwise: impl Fn() -> String) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !done() {
        assert!(tokio::time::Instant::now() < deadline, "{}", otherwise());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A fake store and team.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) registered: Mutex<HashMap<String, String>>,
    /// The scopes that were looked up.
    pub(super) looked_up: Mutex<Vec<String>>,
    pub(super) identifies: Mutex<Vec<(PersonaSlug, DateTime<Utc>)>>,
    pub(super) calls: Mutex<Vec<CommandCall>>,
    /// The answer to the next commands. Default: the command's name and arguments.
    pub(super) reply: Mutex<Option<CommandReply>>,
}

#[async_trait]
impl Registrations for Memory {
    async fn find(&self, scope: &str) -> anyhow::Result<Option<String>> {
        self.looked_up.lock().unwrap().push(scope.to_owned());
        Ok(self.registered.lock().unwrap().get(scope).cloned())
    }

    async fn record(&self, scope: &str, digest: &str) -> anyhow::Result<()> {
        self.registered.lock().unwrap().insert(scope.to_owned(), digest.to_owned());
        Ok(())
    }
}

#[async_trait]
impl IdentifyLog for Memory {
    async fn record(&self, persona: &PersonaSlug, at: DateTime<Utc>) -> anyhow::Result<()> {
        self.identifies.lock().unwrap().push((persona.clone(), at));
        Ok(())
    }

    async fn count_since(&self, persona: &PersonaSlug, since: DateTime<Utc>) -> anyhow::Result<u32> {
        let identifies = self.identifies.lock().unwrap();
        Ok(u32::try_from(identifies.iter().filter(|(slug, at)| slug == persona && *at >= since).count())?)
    }
}

#[async_trait]
impl CommandHandler for Memory {
    async fn run(&self, call: &CommandCall) -> anyhow::Result<CommandReply> {
        let given = ["persona", "question"].into_iter().filter_map(|name| call.arguments.find_text(name));
        let text = std::iter::once(call.name.as_str()).chain(given).collect::<Vec<_>>().join(" ");
        self.calls.lock().unwrap().push(call.clone());
        let reply = self.reply.lock().unwrap().clone();
        Ok(reply.unwrap_or(CommandReply::public(text)))
    }
}

impl Memory {
    /// The team's commands, all answered by this fake.
    fn registry(self: &Arc<Self>) -> Arc<Registry> {
        let everybody = permit_all();
        let services = Services::new("The team is just starting.");
        services.provide(Arc::clone(self));
        let (late, handler) = (services.late::<Self>(), Arc::clone(self) as Arc<dyn CommandHandler>);
        let mut registry = Registry::new("discord", Arc::clone(&everybody));
        for spec in teamroom::features::registry("discord", &Services::new("nowhere"), everybody).commands() {
            registry.command_with(spec.clone(), &handler);
        }
        registry.button("work", &late, |memory, call| memory.run(call));
        registry.completion("persona", &late, |_, typed| {
            let found = TEAM.iter().filter(|slug| slug.starts_with(&typed.to_lowercase()));
            let found = found.map(|slug| Suggestion::name(title(slug))).collect();
            Box::pin(std::future::ready(found))
        });
        registry.completion("job", &late, |_, typed| {
            let found = ["standup", "health"].into_iter().filter(|name| name.starts_with(typed)).map(Suggestion::name).collect();
            Box::pin(std::future::ready(found))
        });
        Arc::new(registry)
    }
}
