//! A workspace in this process, with a simple client of the Web API and a simple one of Socket Mode.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use slack_sandbox::{AppConfig, ChannelConfig, Clock, InstalledApp, Options, Person, PersonConfig, RateLimits, Switch, Workspace};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

pub(crate) use crate::support::patience::PATIENCE;

/// Waits for something that must happen within the time limit.
pub(crate) async fn within<T>(awaited: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, awaited).await.expect("it happens in time")
}

/// How long a test watches that nothing is sent. A faulty sandbox would send at once.
const SILENCE: Duration = Duration::from_millis(100);

pub(crate) struct World {
    pub(crate) slack: Workspace,
    pub(crate) general: String,
    http: reqwest::Client,
}

/// A workspace with the apps of Kelly and Vince, and with Ann and Ben, without rate limits. Its clock stands still.
pub(crate) async fn start() -> World {
    start_with(|_| {}).await
}

pub(crate) async fn start_with(change: impl FnOnce(&mut Options)) -> World {
    let app = |slug: &str, name: &str| AppConfig { commands: vec![format!("/{slug}")], ..AppConfig::new(slug, name) };
    let mut options = Options {
        apps: vec![app("kelly", "Kelly"), app("vince", "Vince")],
        people: ["Ann", "Ben"].map(PersonConfig::new).to_vec(),
        channels: ["general", "random"].map(ChannelConfig::new).to_vec(),
        rate_limits: RateLimits::Off,
        clock: Clock::manual(),
        ..Options::default()
    };
    change(&mut options);
    let slack = Workspace::start(options).await.expect("the workspace starts");
    let general = slack.channel("general");
    World { general, slack, http: reqwest::Client::builder().no_proxy().timeout(PATIENCE).build().expect("a client") }
}

impl World {
    pub(crate) fn ann(&self) -> Person {
        self.slack.person("Ann")
    }

    /// The Web API with the bot token of an app.
    pub(crate) fn bot(&self, slug: &str) -> Api {
        self.api(&self.slack.app(slug).bot_token)
    }

    pub(crate) fn kelly(&self) -> Api {
        self.bot("kelly")
    }

    pub(crate) fn api(&self, token: &str) -> Api {
        Api { token: token.to_owned(), base: self.slack.api_url(), http: self.http.clone() }
    }

    /// A new connection of an app, after its `hello`.
    pub(crate) async fn connect(&self, slug: &str) -> Socket {
        let mut socket = self.dial(&self.open(slug).await).await;
        socket.message("hello").await;
        socket
    }

    /// A new address for a connection.
    pub(crate) async fn open(&self, slug: &str) -> String {
        let InstalledApp { app_token, .. } = self.slack.app(slug);
        let answer = self.api(&app_token).call("apps.connections.open", json!({})).await.ok();
        answer["url"].as_str().expect("an address").to_owned()
    }

    pub(crate) async fn dial(&self, url: &str) -> Socket {
        // Boxed, because it is large.
        let (stream, _) = within(Box::pin(tokio_tungstenite::connect_async(url))).await.expect("a connection");
        Socket { stream }
    }

    /// Waits until `find` finds something in the workspace.
    pub(crate) async fn until<T>(&self, find: impl Fn(&Workspace) -> Option<T>) -> T {
        within(self.slack.until(find)).await
    }

    pub(crate) fn set(&self, switch: Switch) {
        self.slack.misbehave(switch).expect("the app exists");
    }
}

/// An answer of the Web API.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) json: Value,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The JSON of a call that must succeed.
    pub(crate) fn ok(self) -> Value {
        assert_eq!(self.json["ok"], true, "{self:?}");
        self.json
    }

    pub(crate) fn error(&self) -> &str {
        assert_eq!(self.json["ok"], false, "{self:?}");
        self.json["error"].as_str().expect("an error")
    }

    /// The first complaint about the arguments.
    pub(crate) fn complaint(&self) -> &str {
        self.json["response_metadata"]["messages"][0].as_str().unwrap_or_default()
    }
}

/// The Web API with one token.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) token: String,
    base: String,
    pub(crate) http: reqwest::Client,
}

impl Api {
    pub(crate) async fn try_call(&self, method: &str, arguments: &Value) -> reqwest::Result<Answer> {
        // Sends a form, because methods that only read accept nothing else.
        let fields: Vec<(String, String)> = arguments
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, value)| (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
            .collect();
        let body = fields.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect::<Vec<_>>().join("&");
        self.send(method, "application/x-www-form-urlencoded", body).await
    }

    pub(crate) async fn send(&self, method: &str, content_type: &str, body: String) -> reqwest::Result<Answer> {
        let request = self.http.request(Method::POST, format!("{}{method}", self.base));
        let request = if self.token.is_empty() { request } else { request.bearer_auth(&self.token) };
        let request = if content_type.is_empty() { request } else { request.header("content-type", content_type) };
        let response = request.body(body).send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let json = serde_json::from_slice(&response.bytes().await?).unwrap_or_default();
        Ok(Answer { status, headers, json })
    }

    pub(crate) async fn call(&self, method: &str, arguments: Value) -> Answer {
        self.try_call(method, &arguments).await.expect("an answer")
    }

    /// Calls a method with JSON.
    pub(crate) async fn json(&self, method: &str, arguments: &Value) -> Answer {
        self.send(method, "application/json; charset=utf-8", arguments.to_string()).await.expect("an answer")
    }

    /// Posts a text, and returns its timestamp.
    pub(crate) async fn say(&self, channel: &str, text: &str) -> String {
        let answer = self.call("chat.postMessage", json!({ "channel": channel, "text": text })).await.ok();
        answer["ts"].as_str().expect("a timestamp").to_owned()
    }

    /// The texts of a channel, the newest first.
    pub(crate) async fn history(&self, channel: &str) -> Vec<String> {
        let answer = self.call("conversations.history", json!({ "channel": channel })).await.ok();
        let messages = answer["messages"].as_array().expect("messages");
        messages.iter().map(|message| message["text"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

/// Percent-encoding of everything but letters and digits.
fn encode(text: &str) -> String {
    let letter = |byte: &u8| if byte.is_ascii_alphanumeric() { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
    text.as_bytes().iter().map(letter).collect()
}

/// How a connection ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    Code(u16),
    /// The connection ended without a close frame.
    Broken,
}

pub(crate) struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Socket {
    /// The next text frame.
    pub(crate) async fn next(&mut self) -> Result<Value, Closed> {
        loop {
            match within(self.stream.next()).await {
                Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text).expect("JSON")),
                Some(Ok(Message::Close(frame))) => return Err(frame.map_or(Closed::Broken, |frame| Closed::Code(frame.code.into()))),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(Closed::Broken),
            }
        }
    }

    /// The next text frame, which must be of this type.
    pub(crate) async fn message(&mut self, kind: &str) -> Value {
        let message = self.next().await.expect("a message");
        assert_eq!(message["type"], kind, "{message}");
        message
    }

    /// The next envelope, which is acknowledged.
    pub(crate) async fn envelope(&mut self, kind: &str) -> Value {
        let envelope = self.message(kind).await;
        self.acknowledge(&envelope, Value::Null).await;
        envelope
    }

    /// The next event of this type. Others are acknowledged and skipped.
    pub(crate) async fn event(&mut self, kind: &str) -> Value {
        loop {
            let envelope = self.envelope("events_api").await;
            if envelope["payload"]["event"]["type"] == kind {
                return envelope["payload"]["event"].clone();
            }
        }
    }

    pub(crate) async fn acknowledge(&mut self, envelope: &Value, payload: Value) {
        let mut answer = json!({ "envelope_id": envelope["envelope_id"] });
        if !payload.is_null() {
            answer["payload"] = payload;
        }
        self.send(&answer.to_string()).await;
    }

    pub(crate) async fn send(&mut self, text: &str) {
        self.stream.send(Message::text(text)).await.expect("an open connection");
    }

    /// The end of the connection. What comes before is skipped.
    pub(crate) async fn closed(&mut self) -> Closed {
        loop {
            if let Err(closed) = self.next().await {
                return closed;
            }
        }
    }

    pub(crate) async fn is_silent(&mut self) -> bool {
        loop {
            match tokio::time::timeout(SILENCE, self.stream.next()).await {
                Err(_) => return true,
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => {}
                Ok(_) => return false,
            }
        }
    }

    /// Whether the server sends a ping before anything else.
    pub(crate) async fn is_pinged(&mut self) -> bool {
        matches!(within(self.stream.next()).await, Some(Ok(Message::Ping(_))))
    }

    /// Sends a ping and waits for its pong. What was sent before has then been read.
    pub(crate) async fn ping(&mut self) {
        self.send_ping().await;
        assert!(matches!(within(self.stream.next()).await, Some(Ok(Message::Pong(_)))));
    }

    /// Whether a ping gets no pong and nothing else arrives.
    pub(crate) async fn is_unanswered(&mut self) -> bool {
        self.send_ping().await;
        tokio::time::timeout(SILENCE, self.stream.next()).await.is_err()
    }

    async fn send_ping(&mut self) {
        self.stream.send(Message::Ping(b"x".to_vec().into())).await.expect("an open connection");
    }

    pub(crate) async fn leave(mut self) {
        self.stream.close(None).await.expect("an open connection");
        while let Some(Ok(_)) = self.stream.next().await {}
    }
}
