//! A local Slack: Web API, Socket Mode and a chat page on one loopback port, in memory or with its state in a folder.
//!
//! Slack's own clients work with it. Answers and events are checked against Slack's published descriptions.
//!
//! - [`Workspace`] runs it. [`Person`] is somebody who writes, clicks and reads there, from Rust or on the chat page
//!   ([`local_server::page`]), which uses the routes in `people`.
//! - `state`: accounts, channels, messages, files and views, with their state file. Changes queue events for apps.
//! - `web`: the Web API, response URLs and files. `socket`: Socket Mode.
//! - `server`: state, connections and timers under one lock. [`Clock`]: time, which tests set.
//! - `limits`: rate limits. `faults` and `misbehave`: fault injection by a [`Switch`]. `journal`: recorded traffic.
//! - `control`: routes for scripts on this machine.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use slack_sandbox::{AppConfig, Clock, Options, Switch, Workspace};
//!
//! let apps = vec![AppConfig::new("kelly", "Kelly")];
//! let slack = Workspace::start(Options { apps, clock: Clock::manual(), ..Options::default() }).await?;
//! // Point the client at `slack.api_url()`, with the tokens of `slack.app("kelly")`.
//! let (you, general) = (slack.person("You"), slack.channel("general"));
//! slack.misbehave(Switch::LoseAcknowledgements { app: None, times: 1 })?;
//! let asked = you.say(&general, "hello")?;
//! slack.advance(std::time::Duration::from_secs(3)); // The event comes again.
//! let answer = slack.until(|_| you.messages(&general).into_iter().find(|message| message["thread_ts"] == asked)).await;
//! # drop(answer); Ok(())
//! # }
//! ```
//!
//! Not covered, so that calls get `unknown_method`: administration, canvases, lists, calls, reminders, search, user groups, stars, scheduled
//! messages, user tokens and the installation of apps.

mod clock;
mod control;
mod faults;
mod journal;
mod limits;
mod misbehave;
mod options;
mod people;
mod server;
mod socket;
mod state;
mod timers;
mod web;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{any, get, post};
use local_server::{CutSwitch, WireListener, page, reject_foreign_requests};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use clock::Clock;
pub use faults::ApiFault;
pub use journal::{CallExchange, Exchange, FrameExchange};
pub use local_server::{About, AboutPersona, Direction, StateError};
pub use misbehave::{Cut, Switch, UnknownApp};
pub use options::{AppConfig, ChannelConfig, Distribution, Options, PersonConfig, RateLimits, Role, Shortcut, ShortcutKind, Windows};
pub use people::{Interaction, Person, Refused};
pub use socket::DisconnectReason;
pub use state::Progress;

use server::Server;

/// How long clients may take to close their connections.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// Why a workspace could not start.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("the sandbox listens on this machine only; {0} is not a loopback address")]
    NotLoopback(SocketAddr),
    #[error("could not listen on {addr}; choose another port, or 0 for any")]
    Listen { addr: SocketAddr, source: std::io::Error },
    #[error(transparent)]
    State(#[from] StateError),
}

/// An app of the workspace: its ids and tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledApp {
    pub slug: String,
    pub id: String,
    /// Its bot user, `U…`.
    pub user: String,
    /// Its bot, `B…`.
    pub bot: String,
    pub bot_token: String,
    pub app_token: String,
}

/// A running workspace. It ends with [`Workspace::stop`], or with the runtime.
pub struct Workspace {
    server: Arc<Server>,
    serving: JoinHandle<()>,
    timers: JoinHandle<()>,
}

impl Workspace {
    /// Listens. When this returns, clients can connect.
    ///
    /// # Errors
    /// When the address is not loopback or taken.
    pub async fn start(mut options: Options) -> Result<Self, SandboxError> {
        if !options.addr.ip().is_loopback() {
            return Err(SandboxError::NotLoopback(options.addr));
        }
        let listen_error = |source| SandboxError::Listen { addr: options.addr, source };
        let listener = TcpListener::bind(options.addr).await.map_err(listen_error)?;
        options.addr = listener.local_addr().map_err(listen_error)?;
        let server = Arc::new(Server::new(&options)?);
        let service = router(Arc::clone(&server)).into_make_service_with_connect_info::<CutSwitch>();
        let stopped = server.stop.clone().cancelled_owned();
        let serving = tokio::spawn(async move {
            let outcome = axum::serve(WireListener(listener), service).with_graceful_shutdown(stopped).await;
            if let Err(error) = outcome {
                tracing::error!(%error, "the sandbox stopped listening");
            }
        });
        let timed = Arc::clone(&server);
        let timers = tokio::spawn(async move { timed.run_timers().await });
        Ok(Self { server, serving, timers })
    }

    /// `http://127.0.0.1:PORT/api/`, in place of `https://slack.com/api/`.
    pub fn api_url(&self) -> String {
        format!("{}/api/", self.server.base)
    }

    pub fn port(&self) -> u16 {
        self.server.port
    }

    pub fn page_url(&self) -> String {
        format!("{}/", self.server.base)
    }

    /// The JSON that `teamroom sandbox --slack --json` prints, with the apps' tokens under `apps`.
    pub fn info(&self) -> Value {
        control::info(&self.server)
    }

    /// Sets the text about the team that the page shows to newcomers.
    pub fn set_about(&self, about: About) {
        self.server.core().about = about;
    }

    pub fn team_id(&self) -> String {
        self.server.core().world.team.id.clone()
    }

    /// Installs an app while the workspace runs.
    pub fn install(&self, config: &AppConfig) -> InstalledApp {
        let mut core = self.server.core();
        let id = core.world.add_app(config);
        let channels: Vec<String> = core.world.channels.keys().cloned().collect();
        core.world.invite_to_configured(&id, &channels);
        core.flush();
        drop(core);
        self.app(&config.slug)
    }

    /// # Panics
    /// When there is no app with this slug.
    pub fn app(&self, slug: &str) -> InstalledApp {
        let core = self.server.core();
        let app = core.world.find_app(slug).unwrap_or_else(|| panic!("there is no app {slug:?}"));
        InstalledApp {
            slug: slug.to_owned(),
            id: app.id.clone(),
            user: app.user.clone(),
            bot: app.bot.clone(),
            bot_token: app.bot_token.clone(),
            app_token: app.app_token.clone(),
        }
    }

    pub fn add_person(&self, config: &PersonConfig) -> Person {
        let mut core = self.server.core();
        let id = core.world.add_person(config);
        core.flush();
        Person::new(Arc::clone(&self.server), id)
    }

    /// # Panics
    /// When nobody has this name.
    pub fn person(&self, name: &str) -> Person {
        let core = self.server.core();
        let found = core.world.users.values().find(|user| user.app.is_none() && user.real_name == name);
        let id = found.unwrap_or_else(|| panic!("there is nobody named {name:?}")).id.clone();
        Person::new(Arc::clone(&self.server), id)
    }

    pub fn add_channel(&self, config: &ChannelConfig) -> String {
        let mut core = self.server.core();
        let id = core.world.add_configured_channel(config);
        core.flush();
        id
    }

    /// The id of a channel.
    ///
    /// # Panics
    /// When there is no channel with this name.
    pub fn channel(&self, name: &str) -> String {
        let core = self.server.core();
        core.world.find_channel(name).unwrap_or_else(|| panic!("there is no channel {name:?}")).id.clone()
    }

    /// The status, title and prompts that an app has set in a thread with `assistant.threads.*`.
    pub fn assistant(&self, channel: &str, thread: &str) -> Option<Value> {
        let key = (channel.to_owned(), thread.parse().ok()?);
        self.server.core().world.assistants.get(&key).cloned()
    }

    /// Adds a preview of a link to a message, as Slack does a moment after posting: by a change that does not count as an edit. Returns false if
    /// there is no such message, or if its app did not set `unfurl_links`.
    pub fn unfurl(&self, channel: &str, ts: &str, url: &str, title: &str) -> bool {
        let mut core = self.server.core();
        let Ok(ts) = ts.parse() else { return false };
        if !core.world.find_message(channel, ts).is_some_and(|message| message.unfurls) {
            return false;
        }
        let shown = json!({ "id": 1, "from_url": url, "original_url": url, "title": title, "title_link": url, "fallback": title });
        core.world.edit(channel, ts, None, |message| message.attachments.push(shown));
        core.flush();
        true
    }

    /// Moves the time of a manual clock.
    pub fn advance(&self, by: Duration) {
        self.server.clock.advance(by);
    }

    /// Sets one fault.
    ///
    /// # Errors
    /// When the switch names an unknown app.
    pub fn misbehave(&self, switch: Switch) -> Result<(), UnknownApp> {
        let mut core = self.server.core();
        let outcome = core.misbehave(switch);
        core.flush();
        outcome
    }

    /// Requests, answers and frames since the start, oldest first; empty unless `Options::journal` is set.
    pub fn journal(&self) -> Vec<Exchange> {
        self.server.journal.list()
    }

    /// The number of an app's connections that got `hello` and were not asked to disconnect.
    pub fn connections(&self, slug: &str) -> usize {
        let core = self.server.core();
        let id = core.world.find_app(slug).map(|app| app.id.clone());
        core.sockets.values().filter(|socket| socket.ready && Some(&socket.app) == id.as_ref()).count()
    }

    /// Envelopes of an app that wait for their acknowledgement or for a retry.
    pub fn unacknowledged(&self, slug: &str) -> usize {
        let core = self.server.core();
        let id = core.world.find_app(slug).map(|app| app.id.clone()).unwrap_or_default();
        core.pending.values().filter(|pending| pending.delivery.app == id).count() + core.timers.count_retries(&id)
    }

    /// The time from sending an envelope to its acknowledgement, for the first 100,000 acknowledgements in order.
    pub fn acknowledgements(&self) -> Vec<Duration> {
        self.server.core().acknowledgements.clone()
    }

    /// Calls `find` after each change of the state until it finds something.
    pub async fn until<T>(&self, find: impl Fn(&Self) -> Option<T>) -> T {
        let mut changes = self.server.core().changes.subscribe();
        loop {
            if let Some(found) = find(self) {
                return found;
            }
            if changes.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    /// The methods of the Web API that are built.
    pub fn methods() -> Vec<&'static str> {
        web::method_names()
    }

    /// Closes all connections with 1001 and waits until they are closed. The state is already on disk.
    pub async fn stop(mut self) {
        self.server.stop.cancel();
        let closed = async {
            self.server.connections.closed().await;
            (&mut self.serving).await
        };
        if tokio::time::timeout(STOP_TIMEOUT, closed).await.is_err() {
            tracing::debug!("a client did not close its connection in time");
            self.serving.abort();
        }
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.server.stop.cancel();
        self.timers.abort();
        // A `Person` may keep the server alive after this, so the folder is released here.
        self.server.core().close_storage();
    }
}

fn router(server: Arc<Server>) -> Router {
    let own = control::router().merge(people::router()).merge(page::router()).layer(middleware::from_fn(reject_foreign_requests));
    Router::new()
        .route("/sign-in", get(web::sign_in))
        .route("/api/{method}", any(web::serve))
        .route("/link/", get(socket::link))
        .route("/upload/v1/{token}", post(web::upload))
        .route("/files-pri/{id}/{*rest}", get(web::download))
        .route("/actions/{team}/{token}", post(web::respond))
        // The API and uploads have their own limits.
        .layer(DefaultBodyLimit::disable())
        .merge(own)
        .with_state(server)
}
