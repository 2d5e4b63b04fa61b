//! A client of Discord's REST API.
//!
//! serenity's client is not used for sending. It has no timeouts, does not know what other tokens do, and retries a 429 without end. Here
//! every call has a deadline, respects the limits of its route, its token and the process, and keeps tokens out of errors. The outbox
//! retries after server errors, with the same nonce.
//!
//! Waiting uses tokio's monotonic clock and not [`kernel::time::Clock`], because a real server counts the seconds.

mod budget;
mod card;
mod credential;
mod direct;
mod failure;
pub(crate) mod files;
mod limits;
pub(crate) mod messages;
mod payload;
pub(crate) mod threads;
pub(crate) mod webhooks;

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, RETRY_AFTER};
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tracing::{Instrument as _, info_span};

pub(crate) use credential::Credential;
pub(crate) use failure::{Failure, code};
use limits::{Counted, Route};

use crate::adapters::discord::address::{Address, plain};
use crate::adapters::discord::gateway::Incoming;
use kernel::chat::PlatformEvent;
use kernel::chat::outbound::OutboundFile;
use kernel::ids::PersonaSlug;

pub(crate) struct Call<'a> {
    method: Method,
    path: String,
    body: Body<'a>,
    /// The permissions that the call needs, in Discord's words.
    needs: &'static str,
    authorized: bool,
}

enum Body<'a> {
    Empty,
    Json(serde_json::Value),
    Files { payload: serde_json::Value, files: &'a [OutboundFile] },
}

impl<'a> Call<'a> {
    pub(crate) fn get(path: String) -> Self {
        Self { method: Method::GET, path, body: Body::Empty, needs: "View Channel and Read Message History", authorized: true }
    }

    pub(crate) fn post(path: String) -> Self {
        Self { method: Method::POST, path, body: Body::Empty, needs: "Send Messages", authorized: true }
    }

    pub(crate) fn patch(path: String) -> Self {
        Self { method: Method::PATCH, path, body: Body::Empty, needs: "Send Messages", authorized: true }
    }

    pub(crate) fn delete(path: String) -> Self {
        Self { method: Method::DELETE, path, body: Body::Empty, needs: "Manage Messages", authorized: true }
    }

    pub(crate) fn put(path: String) -> Self {
        Self { method: Method::PUT, path, body: Body::Empty, needs: "the scope applications.commands", authorized: true }
    }

    /// Sets the JSON body and its files.
    pub(crate) fn body(mut self, payload: serde_json::Value, files: &'a [OutboundFile]) -> Self {
        self.body = if files.is_empty() { Body::Json(payload) } else { Body::Files { payload, files } };
        if !files.is_empty() {
            self.needs = "Send Messages and Attach Files";
        }
        self
    }

    pub(crate) fn needs(mut self, permissions: &'static str) -> Self {
        self.needs = permissions;
        self
    }

    /// The path contains the token of a webhook or an interaction. The bot's own token is not sent.
    pub(crate) fn by_path_token(mut self) -> Self {
        self.authorized = false;
        self
    }
}

/// The client, shared by all identities.
pub(crate) struct Rest {
    http: reqwest::Client,
    address: Address,
    shared: budget::SharedBudget,
    deadline: Duration,
    incoming: mpsc::UnboundedSender<Incoming>,
}

impl Rest {
    pub(crate) fn new(http: reqwest::Client, address: Address, deadline: Duration, incoming: mpsc::UnboundedSender<Incoming>) -> Self {
        Self { http, address, shared: budget::SharedBudget::default(), deadline, incoming }
    }

    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Makes a call and parses its answer.
    pub(crate) async fn fetch<T: DeserializeOwned>(&self, credential: &Credential, call: Call<'_>) -> Result<T, Failure> {
        let body = self.call(credential, call).await?;
        serde_json::from_slice(&body).map_err(|_| Failure::Unreachable("cannot read Discord's answer".to_owned()))
    }

    /// Makes a call. Waits for rate limits until the deadline, and retries once after a 429.
    pub(crate) async fn call(&self, credential: &Credential, call: Call<'_>) -> Result<bytes::Bytes, Failure> {
        let route = Route::of(&call.method, &call.path);
        let span = info_span!("platform_call", call = route.template(), persona = %credential.persona);
        self.make_call(credential, &route, call).instrument(span).await
    }

    async fn make_call(&self, credential: &Credential, route: &Route, call: Call<'_>) -> Result<bytes::Bytes, Failure> {
        let counted = if call.authorized { Counted::Globally } else { Counted::Alone };
        if let Some(denial) = credential.find_denial(route, call.needs, Instant::now()) {
            return Err(denial);
        }
        let latest = Instant::now() + self.deadline;
        let mut limited = false;
        loop {
            self.wait_for_turn(credential, route, counted, latest).await?;
            let (status, headers, body) = self.attempt(credential, &call).await?;
            metrics::counter!("teamroom_discord_calls_total", "status" => status.as_str().to_owned()).increment(1);
            credential.limits().learn(route, &headers, Instant::now());
            match status {
                status if status.is_success() => return Ok(body),
                StatusCode::TOO_MANY_REQUESTS => {
                    let wait = self.hold_back(credential, route, &headers, &body);
                    if std::mem::replace(&mut limited, true) {
                        return Err(Failure::RateLimited(wait));
                    }
                }
                StatusCode::UNAUTHORIZED if call.authorized => {
                    self.count_invalid(credential);
                    self.latch(credential);
                    return Err(Failure::Revoked(credential.persona.clone()));
                }
                status if status.is_client_error() => {
                    let failure = Failure::from_answer(status.as_u16(), &body, call.needs);
                    if matches!(status, StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED) {
                        self.count_invalid(credential);
                        // If one person has closed their direct messages, others may still be reachable.
                        if !failure.has_code(code::PERSON_NOT_REACHABLE) {
                            credential.record_denial(route.clone(), call.needs, failure.clone(), Instant::now());
                        }
                    }
                    return Err(failure);
                }
                status => return Err(Failure::Unreachable(format!("HTTP {}", status.as_u16()))),
            }
        }
    }

    async fn wait_for_turn(&self, credential: &Credential, route: &Route, counted: Counted, latest: Instant) -> Result<(), Failure> {
        loop {
            if credential.is_revoked() {
                return Err(Failure::Revoked(credential.persona.clone()));
            }
            let now = Instant::now();
            if let Some(wait) = self.shared.find_wait(now) {
                return Err(Failure::RateLimited(wait));
            }
            let Some(wait) = credential.limits().reserve(route, counted, now) else { return Ok(()) };
            if now + wait > latest {
                return Err(Failure::RateLimited(wait));
            }
            tokio::time::sleep(wait).await;
        }
    }

    /// Sends the request and reads the whole answer, within the client's timeout.
    async fn attempt(&self, credential: &Credential, call: &Call<'_>) -> Result<(StatusCode, HeaderMap, bytes::Bytes), Failure> {
        let mut request = self.http.request(call.method.clone(), self.address.api(&call.path));
        if call.authorized {
            request = request.header(AUTHORIZATION, credential.authorization());
        }
        request = match &call.body {
            Body::Empty if call.method == Method::GET => request,
            Body::Empty => request.header(reqwest::header::CONTENT_LENGTH, 0),
            Body::Json(payload) => request.json(payload),
            Body::Files { payload, files } => request.multipart(files::form(payload, files)),
        };
        let unreachable = |error: reqwest::Error| {
            metrics::counter!("teamroom_discord_calls_total", "status" => "none").increment(1);
            Failure::Unreachable(plain(&error))
        };
        let response = request.send().await.map_err(unreachable)?;
        let (status, headers) = (response.status(), response.headers().clone());
        Ok((status, headers, response.bytes().await.map_err(unreachable)?))
    }

    /// Handles a 429 of the route, the token, or the proxy in front of the API. Returns how long to wait.
    fn hold_back(&self, credential: &Credential, route: &Route, headers: &HeaderMap, body: &[u8]) -> Duration {
        #[derive(Deserialize)]
        struct Limited {
            retry_after: f64,
            #[serde(default)]
            global: bool,
        }
        let now = Instant::now();
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        // A shared limit that others used up does not count against us.
        if text("x-ratelimit-scope") != Some("shared") {
            self.count_invalid(credential);
        }
        let asked = text(RETRY_AFTER.as_str());
        // The API sets a header and a body field. Discord's proxy sends a page instead, or only one of the two.
        let (Some(_), Ok(Limited { retry_after, global })) = (asked, serde_json::from_slice(body)) else {
            return self.shut(credential, asked.and_then(read_wait));
        };
        let wait = wait_of(retry_after).unwrap_or(Duration::from_secs(5)).max(Duration::from_millis(50));
        if global || text("x-ratelimit-global") == Some("true") {
            credential.limits().block_all(wait, now);
        } else {
            credential.limits().block(route, wait, now);
        }
        wait
    }

    /// Stops all calls and logins, because Discord blocks the network address. Returns for how long.
    pub(crate) fn shut(&self, credential: &Credential, asked: Option<Duration>) -> Duration {
        let now = Instant::now();
        let is_new = self.shared.find_block(now).is_none();
        let wait = self.shared.shut(asked, now);
        if is_new {
            let text = format!("Discord blocks requests from this network address. Sending is paused for {} seconds.", wait.as_secs());
            self.trouble(credential, text);
        }
        wait
    }

    /// How long Discord still blocks the network address, if it does.
    pub(crate) fn find_block(&self) -> Option<Duration> {
        self.shared.find_block(Instant::now())
    }

    /// Whether no calls are made because too many were refused. Logins do not count towards that.
    pub(crate) fn has_spent_budget(&self) -> bool {
        self.find_block().is_none() && self.shared.find_wait(Instant::now()).is_some()
    }

    fn count_invalid(&self, credential: &Credential) {
        metrics::counter!("teamroom_discord_invalid_requests_total").increment(1);
        if self.shared.record_invalid(Instant::now()) {
            let text = "Discord refused too many requests within ten minutes. Nothing is sent until they are older, so that it does not shut out \
                        this address; look at the log for what was refused.";
            self.trouble(credential, text.to_owned());
        }
    }

    fn latch(&self, credential: &Credential) {
        if credential.revoke() {
            self.trouble(credential, token_trouble(&credential.name, &credential.persona));
        }
    }

    fn trouble(&self, credential: &Credential, text: String) {
        tracing::error!(persona = %credential.persona, "{text}");
        // The receiver is dropped only at shutdown.
        let _ = self.incoming.send(Incoming::Event(PlatformEvent::Trouble { persona: credential.persona.clone(), text }));
    }
}

/// A number of seconds as headers give it.
pub(crate) fn read_wait(seconds: &str) -> Option<Duration> {
    wait_of(seconds.parse().ok()?)
}

fn wait_of(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok().filter(|wait| *wait <= Duration::from_hours(24))
}

/// Whether such a call was refused a short while ago.
fn was_denied(credential: &Credential, call: &Call<'_>) -> bool {
    credential.find_denial(&Route::of(&call.method, &call.path), call.needs, Instant::now()).is_some()
}

/// The message for people about an invalid token.
pub(crate) fn token_trouble(name: &str, persona: &PersonaSlug) -> String {
    let variable = persona.as_str().to_uppercase().replace('-', "_");
    format!(
        "Discord does not accept the token of {name}. Make a new one in the developer portal (the application, Bot, Reset Token), \
         put it into DISCORD_TOKEN_{variable} and restart."
    )
}
