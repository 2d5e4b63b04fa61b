//! A local Discord: gateway and REST API on one loopback port, with its own state in a folder.
//!
//! It is Discord to everything but its own code, so nothing here imports anything of the team, and clients that this
//! project did not write can log in. What it says is checked against Discord's published descriptions.
//!
//! - `state` knows accounts, channels and messages, and writes them to an event file.
//! - `rest` answers requests and thereby changes the state.
//! - `gateway` tells sessions what has changed.
//! - `limits` counts requests, `faults` and [`misbehave`](Misbehaviour) break things on purpose, `journal` remembers.
//! - `control` is for scripts on this machine, `cdn` serves attachments.
//! - `page` and [`terminal`] are how people take part; both are clients like any other.
//!
//! It does not know voice, roles beyond one per bot, moderation, or how the real Discord's limits change from day to
//! day: it proves the protocol, not the platform.

mod cdn;
mod control;
mod faults;
mod gateway;
mod journal;
mod limits;
mod misbehave;
mod options;
mod page;
mod rest;
mod server;
mod snowflake;
mod state;
pub mod terminal;
mod wire;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use journal::{Direction, Exchange, FrameExchange, RestExchange};
pub use misbehave::{Cut, Misbehaviour, RestFault, Switch, SwitchError};
pub use options::{BotAccount, Options, RateLimits, Windows};
pub use state::StateError;

use server::Server;
use state::{ChannelKind, World};
use wire::{ResetSwitch, WireListener};

/// How long clients get to say goodbye.
const STOP_PATIENCE: Duration = Duration::from_secs(3);

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

/// A running sandbox. It ends with [`Sandbox::stop`], or less politely with the runtime.
pub struct Sandbox {
    server: Arc<Server>,
    serving: JoinHandle<()>,
}

impl Sandbox {
    /// Opens the state and begins to listen; when this returns, clients can connect.
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
        let links = cdn::Links::new(format!("http://{}", options.addr), options.windows.attachment_url);
        let world = World::open(&options, links)?;
        let server = Arc::new(Server::new(options, world));
        let service = server::router(Arc::clone(&server)).into_make_service_with_connect_info::<ResetSwitch>();
        let stopped = server.stop.clone().cancelled_owned();
        let serving = tokio::spawn(async move {
            let outcome = axum::serve(WireListener(listener), service).with_graceful_shutdown(stopped).await;
            if let Err(error) = outcome {
                tracing::error!(%error, "the sandbox stopped listening");
            }
        });
        Ok(Self { server, serving })
    }

    pub fn page_url(&self) -> String {
        format!("{}/", self.server.api_url())
    }

    /// `http://127.0.0.1:PORT`; the API lies under `/api/v10`.
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

    /// What `teamroom sandbox --json` prints, with the bots' tokens beside it under `bots`.
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

    /// The ids of the users whom a message pinged; nothing if there is no such message.
    pub fn pings(&self, message: &str) -> Option<Vec<String>> {
        let pinged = self.server.core().world.find_pings(message.parse().ok()?)?;
        Some(pinged.iter().map(ToString::to_string).collect())
    }

    /// Answers of 401, 403 and 429 in the past ten minutes.
    pub fn invalid_requests(&self) -> usize {
        self.server.limits().invalid_requests()
    }

    /// Closes all connections with 1001 and waits until they are gone. The state is already on disk.
    pub async fn stop(mut self) {
        self.server.stop.cancel();
        let gone = async {
            self.server.connections.closed().await;
            (&mut self.serving).await
        };
        if tokio::time::timeout(STOP_PATIENCE, gone).await.is_err() {
            tracing::debug!("a client did not hang up in time");
            self.serving.abort();
        }
    }
}
