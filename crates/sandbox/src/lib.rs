//! A local Discord: gateway and REST API on one loopback port, with its own state in a folder.
//!
//! Any Discord client can log in. Responses and events are checked against Discord's published descriptions.
//!
//! - `state`: accounts, channels and messages, with their event file.
//! - `server`: state and gateway sessions under one lock, with limits, faults and the journal.
//! - `rest` and `gateway`: Discord's APIs.
//! - `limits`: rate limits. `faults` and [`misbehave`](Misbehaviour): fault injection. `journal`: recorded traffic.
//! - `control`: routes for scripts on this machine. `cdn`: downloads of attachments and pictures.
//! - [`local_server::page`] and [`terminal`]: clients for people.
//!
//! Not covered: voice, roles beyond one per bot, moderation, and changes of Discord's rate limits.

mod cdn;
mod control;
mod faults;
mod gateway;
mod journal;
mod limits;
mod misbehave;
mod options;
mod rest;
mod server;
mod snowflake;
mod state;
pub mod terminal;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{any, get};
use local_server::{CutSwitch, WireListener, page, reject_foreign_requests};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use faults::RestFault;
pub use journal::{Exchange, FrameExchange, RestExchange};
pub use local_server::{About, AboutPersona, Direction, StateError};
pub use misbehave::{Cut, Misbehaviour, Switch, SwitchError};
pub use options::{BotAccount, Options, RateLimits, Windows};

use server::Server;
use state::{ChannelKind, Links, World};

/// How long clients may take to close their connections.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// Why a sandbox could not start.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("the sandbox listens on this machine only; {0} is not a loopback address")]
    NotLoopback(SocketAddr),
    #[error("could not listen on {addr}; choose another port, or 0 for any")]
    Listen { addr: SocketAddr, source: std::io::Error },
    #[error(transparent)]
    State(#[from] StateError),
}

/// A person who can take part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub name: String,
    pub id: String,
    pub token: String,
}

/// The bot user of a persona.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bot {
    pub slug: String,
    pub id: String,
    pub token: String,
}

/// A running sandbox. It ends with [`Sandbox::stop`], or with the runtime.
pub struct Sandbox {
    server: Arc<Server>,
    serving: JoinHandle<()>,
}

impl Sandbox {
    /// Opens the state and listens. When this returns, clients can connect.
    ///
    /// # Errors
    /// When the address is not loopback or taken, another sandbox uses the folder, or its state cannot be read.
    pub async fn start(mut options: Options) -> Result<Self, SandboxError> {
        if !options.addr.ip().is_loopback() {
            return Err(SandboxError::NotLoopback(options.addr));
        }
        let listen_error = |source| SandboxError::Listen { addr: options.addr, source };
        let listener = TcpListener::bind(options.addr).await.map_err(listen_error)?;
        options.addr = listener.local_addr().map_err(listen_error)?;
        let links = Links::new(format!("http://{}", options.addr), options.windows.attachment_url);
        let world = World::open(&options, links)?;
        let server = Arc::new(Server::new(options, world));
        let service = router(Arc::clone(&server)).into_make_service_with_connect_info::<CutSwitch>();
        let stopped = server.stop.clone().cancelled_owned();
        let serving = tokio::spawn(async move {
            let outcome = axum::serve(WireListener(listener), service).with_graceful_shutdown(stopped).await;
            if let Err(error) = outcome {
                tracing::error!(%error, "the sandbox stopped listening");
            }
        });
        Ok(Self { server, serving })
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.server.options.addr.port()
    }

    pub fn page_url(&self) -> String {
        format!("{}/", self.server.api_url())
    }

    /// `http://127.0.0.1:PORT`. The API is under `/api/v10`.
    pub fn api_url(&self) -> String {
        self.server.api_url()
    }

    /// `ws://127.0.0.1:PORT`.
    pub fn gateway_url(&self) -> String {
        self.server.gateway_url()
    }

    pub fn guild_id(&self) -> String {
        self.server.core().world.guild.id.to_string()
    }

    /// Names and ids of the text channels.
    pub fn channels(&self) -> Vec<(String, String)> {
        let core = self.server.core();
        let text = core.world.channels.values().filter(|channel| channel.kind == ChannelKind::Text);
        text.map(|channel| (channel.name.clone(), channel.id.to_string())).collect()
    }

    pub fn people(&self) -> Vec<Person> {
        let core = self.server.core();
        let people = core.world.accounts.members().filter(|account| !account.is_bot());
        people.map(|a| Person { name: a.name.clone(), id: a.id.to_string(), token: a.token.clone() }).collect()
    }

    pub fn bots(&self) -> Vec<Bot> {
        let core = self.server.core();
        let bots = core.world.accounts.members().filter_map(|account| Some((account, account.slug.clone()?)));
        bots.map(|(account, slug)| Bot { slug, id: account.id.to_string(), token: account.token.clone() }).collect()
    }

    /// Replaces the bots of the server, while clients are connected. Bots that stay keep their ids and tokens.
    pub fn set_bots(&self, bots: &[BotAccount]) {
        let mut core = self.server.core();
        core.world.set_bots(bots);
        core.flush();
    }

    /// Sets the text about the team that the page shows to newcomers.
    pub fn set_about(&self, about: About) {
        self.server.core().about = about;
    }

    /// The JSON that `teamroom sandbox --json` prints, with the tokens under `bots`.
    pub fn info(&self) -> serde_json::Value {
        control::info(&self.server)
    }

    pub fn misbehaviour(&self) -> Misbehaviour {
        Misbehaviour::new(Arc::clone(&self.server))
    }

    /// Requests, answers and frames since the start, oldest first; empty unless `Options::journal` is set.
    pub fn journal(&self) -> Vec<Exchange> {
        self.server.journal.list()
    }

    /// The ids of the users whom a message pinged, or `None` if there is no such message.
    pub fn pings(&self, message: &str) -> Option<Vec<String>> {
        let pinged = self.server.core().world.find_pings(message.parse().ok()?)?;
        Some(pinged.iter().map(ToString::to_string).collect())
    }

    /// Adds a preview of a link to a message, as Discord does a moment after posting: by an update that does not count as an edit.
    /// Returns false if there is no such message.
    pub fn unfurl(&self, channel: &str, message: &str, url: &str, title: &str) -> bool {
        let mut core = self.server.core();
        let (Ok(channel), Ok(message)) = (channel.parse(), message.parse()) else { return false };
        let Some(mut found) = core.world.messages.get(channel, message).cloned() else { return false };
        found.embeds.push(serde_json::json!({ "type": "link", "url": url, "title": title }));
        core.world.put_changed(found);
        core.flush();
        true
    }

    /// Responses with 401, 403 and 429 in the past ten minutes.
    pub fn invalid_requests(&self) -> usize {
        self.server.limits().invalid_requests()
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

/// All routes: API, gateway, downloads, control and the page.
fn router(server: Arc<Server>) -> Router {
    let own = control::router().merge(page::router()).layer(middleware::from_fn(reject_foreign_requests));
    Router::new()
        .merge(own)
        .route("/attachments/{channel}/{id}/{filename}", get(cdn::download))
        .route("/avatars/{account}/{picture}", get(cdn::avatar))
        .route("/emojis/{picture}", get(cdn::emoji))
        .route("/api/{*path}", any(rest::serve))
        // The API has its own limits.
        .layer(DefaultBodyLimit::disable())
        .layer(middleware::from_fn_with_state(Arc::clone(&server), gateway::intercept))
        .with_state(server)
}
