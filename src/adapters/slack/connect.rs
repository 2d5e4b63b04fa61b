use std::collections::HashMap;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kernel::chat::PlatformEvent;
use kernel::chat::redact::Redactor;
use kernel::commands::Registry;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;
use serde_json::Value;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::adapters::slack::Slack;
use crate::adapters::slack::accounts::{Account, App, Apps};
use crate::adapters::slack::api::{Api, Failure, Token};
use crate::adapters::slack::commands::Commands;
use crate::adapters::slack::directory::Directory;
use crate::adapters::slack::hub::{Hub, Seen};
use crate::adapters::slack::manifest::AGENT_SCOPE;
use crate::adapters::slack::posting::Pace;
use crate::adapters::slack::sessions::Sessions;
use crate::adapters::slack::settings::SlackSettings;
use crate::adapters::slack::socket::{Envelope, Envelopes, Sockets, Watcher};

/// How long a call may take.
pub(super) const CALL: Duration = Duration::from_secs(12);

/// The most envelopes that wait to be handed over.
const WAITING: usize = 1024;

/// How long to wait for the directory of channels after a start.
const DIRECTORY: Duration = Duration::from_secs(15);

/// Pauses between attempts to log in double from the first to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(5);

pub struct Options {
    pub settings: SlackSettings,
    pub roster: Arc<Roster>,
    pub clock: SharedClock,
    /// Receives all events.
    pub events: mpsc::Sender<PlatformEvent>,
    pub commands: Arc<Registry>,
    /// Takes secrets out of answers to commands. The relay does it for all other messages.
    pub redactor: Redactor,
}

/// Says when the channels are known.
pub(super) struct Ready(watch::Sender<bool>);

impl Ready {
    /// Waits until the channels are known, for a limited time.
    pub(super) async fn wait(&self) {
        let mut known = self.0.subscribe();
        let _ = tokio::time::timeout(DIRECTORY, known.wait_for(|known| *known)).await;
    }
}

impl Slack {
    /// Brings the team online. Each app reports itself later with [`PlatformEvent::Ready`], also if Slack cannot be reached yet.
    ///
    /// # Errors
    /// The settings are invalid, or no persona can have a token.
    pub fn connect(options: Options) -> anyhow::Result<Arc<Self>> {
        let Options { settings, roster, clock, events, commands, redactor } = options;
        let api = Arc::new(Api::new(settings.api_url.as_deref(), CALL)?);
        let apps = Arc::new(Apps::new(&settings, &roster));
        anyhow::ensure!(apps.all().next().is_some(), "no app has tokens. Set SLACK_BOT_TOKEN and SLACK_APP_TOKEN");
        let hub = Arc::new(Hub {
            api: api.clone(),
            apps: apps.clone(),
            roster,
            directory: Directory::default(),
            seen: Seen::default(),
            sessions: Sessions::default(),
            events,
            commands: commands.commands().iter().map(|command| command.name).collect(),
        });
        let (stop, ready) = (CancellationToken::new(), Arc::new(Ready(watch::Sender::new(false))));
        let sequence = Arc::new(Sequence { last: Mutex::default(), room: Arc::new(Semaphore::new(WAITING)) });
        let commands = Arc::new(Commands { hub: hub.clone(), registry: commands, redactor });
        let mut tasks = JoinSet::new();
        for app in apps.all() {
            let (hub, app, commands, sequence) = (hub.clone(), app.clone(), commands.clone(), sequence.clone());
            let launch = Launch { hub, app, commands, sequence, ready: ready.clone(), stop: stop.clone() };
            tasks.spawn(Arc::new(launch).run(settings.sockets));
        }
        let (of_sessions, until) = (hub.clone(), stop.clone());
        tasks.spawn(async move { of_sessions.sessions.keep(&of_sessions.api, &until).await });
        let started = clock.now();
        Ok(Arc::new(Self { api, hub, pace: Pace::default(), ready, started, tasks: tasks.into(), stop }))
    }
}

/// The order in which envelopes are handed over, for all apps together: two apps in one channel receive the same messages.
struct Sequence {
    /// The last envelope of each conversation.
    last: Mutex<HashMap<String, JoinHandle<()>>>,
    room: Arc<Semaphore>,
}

/// The components that one app needs.
struct Launch {
    hub: Arc<Hub>,
    app: Arc<App>,
    commands: Arc<Commands>,
    sequence: Arc<Sequence>,
    ready: Arc<Ready>,
    stop: CancellationToken,
}

impl Launch {
    async fn run(self: Arc<Self>, sockets: u32) {
        let logged_in = tokio::select! {
            () = self.stop.cancelled() => return,
            logged_in = self.log_in() => logged_in,
        };
        if !logged_in {
            return;
        }
        let (envelopes, arriving) = mpsc::channel(WAITING);
        let watcher = Arc::new(AppWatcher { hub: self.hub.clone(), app: self.app.clone(), runtime: tokio::runtime::Handle::current() });
        let sockets_of = Arc::new(Sockets {
            api: self.hub.api.clone(),
            listening: self.app.listening.clone(),
            envelopes: Envelopes { queue: envelopes, events: self.hub.events.clone() },
            watcher,
            stop: self.stop.clone(),
            live: AtomicUsize::new(0),
        });
        tokio::join!(sockets_of.run(sockets), self.take(arriving));
    }

    /// Asks Slack who the app is and which channels it can see, until Slack answers. False if the token is not valid.
    async fn log_in(&self) -> bool {
        let mut pause = FIRST_PAUSE;
        loop {
            let failure = match self.introduce().await {
                Ok(()) => return true,
                Err(failure) => failure,
            };
            let is_final = matches!(failure, Failure::Revoked { .. });
            report(&self.hub, &self.app, &failure, is_final).await;
            if is_final {
                return false;
            }
            let wait = if let Failure::RateLimited(wait) = failure { wait } else { pause };
            tokio::time::sleep(wait).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn introduce(&self) -> Result<(), Failure> {
        let (answer, scopes) = self.hub.api.introduce(&self.app.speaking).await?;
        let text = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        self.hub.directory.note_workspace(&text("team_id"));
        self.app.set_account(Account { user: text("user_id"), bot: text("bot_id") });
        self.app.set_agent(scopes.iter().any(|scope| scope == AGENT_SCOPE));
        self.hub.directory.read_channels(&self.hub.api, &self.app.speaking).await?;
        self.ready.0.send_replace(true);
        Ok(())
    }

    /// Hands over what arrives, in its order within a conversation. One in which something is looked up slowly does not hold up the others.
    async fn take(self: &Arc<Self>, mut arriving: mpsc::Receiver<Envelope>) {
        loop {
            let (envelope, place) = tokio::select! {
                () = self.stop.cancelled() => return,
                Some(envelope) = arriving.recv() => (envelope, self.sequence.room.clone().acquire_owned().await),
                else => return,
            };
            let mut last = self.sequence.last.lock().expect("no code panics while it holds the tasks");
            last.retain(|_, task| !task.is_finished());
            let conversation = conversation_of(&envelope.payload).to_owned();
            let (launch, before) = (self.clone(), last.remove(&conversation));
            let task = tokio::spawn(async move {
                let _place = place;
                if let Some(before) = before {
                    // If it panicked, the log has it.
                    let _ = before.await;
                }
                launch.hand_over(envelope).await;
            });
            last.insert(conversation, task);
        }
    }

    async fn hand_over(&self, envelope: Envelope) {
        let Envelope { kind, payload, retry } = envelope;
        if retry > 0 {
            tracing::debug!(kind, retry, "Slack sent something again");
        }
        match kind.as_str() {
            "events_api" if payload.pointer("/event/type").and_then(Value::as_str) == Some("app_home_opened") => {
                let text = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                let (commands, app) = (self.commands.clone(), self.app.clone());
                let (user, channel) = (text("/event/user").to_owned(), text("/event/channel").to_owned());
                // Nothing said there waits for it.
                tokio::spawn(async move { commands.show_home(&app, &user, &channel).await });
            }
            "events_api" => self.hub.take_event(&self.app, &payload).await,
            "slash_commands" | "interactive" if !self.hub.seen.is_new(trigger_of(&payload)) => {}
            "slash_commands" => self.commands.take_command(&self.app, &payload).await,
            "interactive" => self.commands.take_interaction(&self.app, &payload).await,
            _ => {}
        }
    }
}

/// The channel that something is about; empty if it is about none.
fn conversation_of(payload: &Value) -> &str {
    let pointers = ["/event/channel", "/event/channel/id", "/event/item/channel", "/channel/id", "/channel_id", "/container/channel_id"];
    pointers.iter().find_map(|pointer| payload.pointer(pointer).and_then(Value::as_str)).unwrap_or_default()
}

/// Identifies a command or a button press. Slack may send the same one again in another envelope.
fn trigger_of(payload: &Value) -> String {
    let text = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    format!("trigger {} {}", text("/trigger_id"), text("/actions/0/action_ts"))
}

/// Tells operators about a problem of an app, once for each problem.
pub(super) async fn report(hub: &Hub, app: &App, failure: &Failure, is_final: bool) {
    let persona = hub.roster.name_of(&app.persona);
    let text = match failure {
        Failure::Revoked { token: Token::Bot, error, .. } => {
            format!("Slack does not accept the bot token of {persona}'s app ({error}). Copy it again from \"OAuth & Permissions\".")
        }
        Failure::Revoked { token: Token::App, error, .. } => format!(
            "Slack does not accept the app token of {persona}'s app ({error}). Copy it again from \"App-Level Tokens\" under \"Basic Information\"."
        ),
        failure => format!("{persona}'s app cannot connect to Slack: {failure}."),
    };
    if app.note_trouble(&text, is_final) {
        tracing::warn!(persona = %app.persona, "{text}");
        hub.announce(PlatformEvent::Trouble { persona: app.persona.clone(), text }).await;
    }
}

struct AppWatcher {
    hub: Arc<Hub>,
    app: Arc<App>,
    runtime: tokio::runtime::Handle,
}

impl Watcher for AppWatcher {
    fn went_online(&self) {
        self.app.set_online();
        let Some(account) = self.app.account() else { return };
        let (hub, app) = (self.hub.clone(), self.app.clone());
        self.runtime.spawn(async move {
            // Somebody may have invited the app or written to it meanwhile.
            if let Err(failure) = hub.directory.read_channels(&hub.api, &app.speaking).await {
                tracing::warn!(persona = %app.persona, %failure, "the channels could not be read again");
            }
            hub.announce(PlatformEvent::Ready { persona: app.persona.clone(), account: account.id() }).await;
        });
    }

    fn went_offline(&self) {
        self.app.set_offline();
    }

    fn is_in_trouble(&self, failure: &Failure) {
        let (hub, app, failure) = (self.hub.clone(), self.app.clone(), failure.clone());
        self.runtime.spawn(async move { report(&hub, &app, &failure, false).await });
    }
}
