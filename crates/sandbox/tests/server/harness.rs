//! A sandbox in this process, with a simple REST client and a simple gateway client.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use reqwest::multipart::{Form, Part};
use reqwest::{Method, StatusCode};
use sandbox::{BotAccount, Options, RateLimits, Sandbox};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

pub(crate) use crate::support::patience::PATIENCE;

/// Guilds, messages, reactions and typing (in the guild and direct), and message content.
pub(crate) const INTENTS: u64 = 1 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15;

pub(crate) struct World {
    pub(crate) sandbox: Sandbox,
    _dir: Option<TempDir>,
}

pub(crate) fn options(dir: &TempDir) -> Options {
    let bot = |slug: &str, name: &str| BotAccount {
        slug: slug.to_owned(),
        name: name.to_owned(),
        color: Some(0xaa_55_00),
        intents_content: true,
    };
    Options { bots: vec![bot("kelly", "Kelly"), bot("vince", "Vince")], rate_limits: RateLimits::Off, ..Options::new(dir.path()) }
}

/// A sandbox with two bots and one person, without rate limits, in a folder of its own.
pub(crate) async fn start() -> World {
    start_with(|_| {}).await
}

pub(crate) async fn start_with(change: impl FnOnce(&mut Options)) -> World {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mut options = options(&dir);
    change(&mut options);
    World { sandbox: Sandbox::start(options).await.expect("the sandbox starts"), _dir: Some(dir) }
}

impl World {
    /// Uses a sandbox whose folder belongs to the test.
    pub(crate) fn of(sandbox: Sandbox) -> Self {
        Self { sandbox, _dir: None }
    }

    pub(crate) fn bot(&self, slug: &str) -> Api {
        let bot = self.sandbox.bots().into_iter().find(|bot| bot.slug == slug).expect("a known bot");
        Api::new(&self.sandbox, &bot.id, format!("Bot {}", bot.token))
    }

    pub(crate) fn person(&self) -> Api {
        let person = self.sandbox.people().remove(0);
        Api::new(&self.sandbox, &person.id, person.token)
    }

    pub(crate) fn channel(&self, name: &str) -> String {
        self.sandbox.channels().into_iter().find(|(known, _)| known == name).expect("a known channel").1
    }

    pub(crate) async fn connect(&self, api: &Api) -> Gateway {
        self.connect_with(api, INTENTS).await
    }

    pub(crate) async fn connect_with(&self, api: &Api, intents: u64) -> Gateway {
        let mut gateway = Gateway::open(&self.sandbox.gateway_url()).await;
        gateway.identify(&api.token, intents).await;
        gateway.ready().await;
        gateway
    }
}

/// An answer of the API.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) json: Value,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The JSON of a response that must be successful.
    pub(crate) fn ok(self) -> Value {
        assert!(StatusCode::from_u16(self.status).is_ok_and(|status| status.is_success()), "{self:?}");
        self.json
    }

    /// Status and error code.
    pub(crate) fn refusal(&self) -> (u16, u64) {
        (self.status, self.json["code"].as_u64().unwrap_or(u64::MAX))
    }
}

/// The REST API as one account.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) id: String,
    pub(crate) token: String,
    pub(crate) base: String,
    http: reqwest::Client,
}

impl Api {
    fn new(sandbox: &Sandbox, id: &str, token: String) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self { id: id.to_owned(), token, base: sandbox.api_url(), http }
    }

    /// The same client with an unknown token.
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self.clone() }
    }

    pub(crate) async fn try_call(&self, method: &str, path: &str, body: Option<&Value>) -> reqwest::Result<Answer> {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let request = self.http.request(method, format!("{}/api/v10{path}", self.base)).header("authorization", &self.token);
        let request = match body {
            Some(body) => request.json(body),
            None => request,
        };
        read(request.send().await?).await
    }

    pub(crate) async fn call(&self, method: &str, path: &str, body: Value) -> Answer {
        self.try_call(method, path, Some(&body).filter(|body| !body.is_null())).await.expect("an answer")
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.try_call("GET", path, None).await.expect("an answer")
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.try_call("DELETE", path, None).await.expect("an answer")
    }

    pub(crate) async fn put(&self, path: &str) -> Answer {
        self.try_call("PUT", path, None).await.expect("an answer")
    }

    pub(crate) async fn say(&self, channel: &str, content: &str) -> Value {
        self.call("POST", &format!("/channels/{channel}/messages"), json!({ "content": content })).await.ok()
    }

    /// A form with files named `files[n]`, before or after the JSON.
    pub(crate) async fn upload(&self, path: &str, json: &Value, files: &[(&str, Vec<u8>)], json_first: bool) -> Answer {
        let payload = Part::text(json.to_string());
        let mut form = if json_first { Form::new().part("payload_json", payload) } else { Form::new() };
        for (number, (name, bytes)) in files.iter().enumerate() {
            form = form.part(format!("files[{number}]"), Part::bytes(bytes.clone()).file_name((*name).to_owned()));
        }
        if !json_first {
            form = form.part("payload_json", Part::text(json.to_string()));
        }
        self.send_form(path, form).await
    }

    async fn send_form(&self, path: &str, form: Form) -> Answer {
        let request = self.http.post(format!("{}/api/v10{path}", self.base)).header("authorization", &self.token);
        read(request.multipart(form).send().await.expect("an answer")).await.expect("a body")
    }

    /// Any address, without a token.
    pub(crate) async fn fetch(&self, url: &str) -> (u16, Vec<u8>) {
        let response = self.http.get(url).send().await.expect("an answer");
        (response.status().as_u16(), response.bytes().await.expect("a body").to_vec())
    }

    /// `POST /sandbox/misbehave`.
    pub(crate) async fn misbehave(&self, switch: &Value) -> u16 {
        let request = self.http.post(format!("{}/sandbox/misbehave", self.base)).json(switch);
        request.send().await.expect("an answer").status().as_u16()
    }
}

async fn read(response: reqwest::Response) -> reqwest::Result<Answer> {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await?;
    let json = serde_json::from_str(&text).unwrap_or(if text.is_empty() { Value::Null } else { Value::String(text) });
    Ok(Answer { status, headers, json })
}

/// How a connection ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    Close(u16),
    CloseWithoutCode,
    /// The connection broke.
    Broken,
}

pub(crate) struct Gateway {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub(crate) session: String,
    pub(crate) seq: u64,
}

impl Gateway {
    /// Connects and waits for HELLO.
    pub(crate) async fn open(url: &str) -> Self {
        let mut gateway = Self::open_silently(url).await;
        assert_eq!(gateway.next().await.expect("HELLO")["op"], 10);
        gateway
    }

    pub(crate) async fn open_silently(url: &str) -> Self {
        let url = format!("{url}/?v=10&encoding=json");
        let (socket, _) = tokio_tungstenite::connect_async(url).await.expect("the gateway answers");
        Self { socket, session: String::new(), seq: 0 }
    }

    pub(crate) async fn send(&mut self, payload: &Value) {
        self.send_text(&payload.to_string()).await;
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.socket.send(Message::text(text)).await.expect("the gateway listens");
    }

    pub(crate) async fn send_bytes(&mut self, bytes: Vec<u8>) {
        self.socket.send(Message::binary(bytes)).await.expect("the gateway listens");
    }

    pub(crate) async fn identify(&mut self, token: &str, intents: u64) {
        let token = token.strip_prefix("Bot ").unwrap_or(token);
        let properties = json!({ "os": "linux", "browser": "test", "device": "test" });
        self.send(&json!({ "op": 2, "d": { "token": token, "intents": intents, "properties": properties, "compress": true } })).await;
    }

    pub(crate) async fn resume(&mut self, token: &str, session: &str, seq: u64) {
        let token = token.strip_prefix("Bot ").unwrap_or(token);
        self.send(&json!({ "op": 6, "d": { "token": token, "session_id": session, "seq": seq } })).await;
    }

    /// Waits for `READY` and `GUILD_CREATE`, in this order. Returns both.
    pub(crate) async fn ready(&mut self) -> (Value, Value) {
        let ready = self.next().await.expect("READY");
        assert_eq!(ready["t"], "READY", "{ready}");
        ready["d"]["session_id"].as_str().expect("a session").clone_into(&mut self.session);
        let guild = self.next().await.expect("GUILD_CREATE");
        assert_eq!(guild["t"], "GUILD_CREATE", "{guild}");
        (ready["d"].clone(), guild["d"].clone())
    }

    /// The next payload, or how the connection ended.
    pub(crate) async fn next(&mut self) -> Result<Value, Closed> {
        loop {
            let message = tokio::time::timeout(PATIENCE, self.socket.next()).await.expect("something arrives in time");
            match message {
                Some(Ok(Message::Text(text))) => {
                    let payload: Value = serde_json::from_str(&text).expect("JSON");
                    self.seq = payload["s"].as_u64().unwrap_or(self.seq);
                    return Ok(payload);
                }
                Some(Ok(Message::Close(Some(frame)))) => return Err(Closed::Close(frame.code.into())),
                Some(Ok(Message::Close(None))) => return Err(Closed::CloseWithoutCode),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Err(Closed::Broken),
            }
        }
    }

    /// The data of the next event with this name. Skips others.
    pub(crate) async fn event(&mut self, name: &str) -> Value {
        loop {
            let payload = self.next().await.expect("the connection stays open");
            if payload["t"] == *name {
                return payload["d"].clone();
            }
        }
    }

    /// The next payload with this operation.
    pub(crate) async fn operation(&mut self, op: u64) -> Value {
        loop {
            let payload = self.next().await.expect("the connection stays open");
            if payload["op"] == op {
                return payload;
            }
        }
    }

    pub(crate) async fn closed(&mut self) -> Closed {
        loop {
            if let Err(closed) = self.next().await {
                return closed;
            }
        }
    }

    /// Whether no frame arrives for this time.
    pub(crate) async fn is_silent_for(&mut self, time: Duration) -> bool {
        tokio::time::timeout(time, self.socket.next()).await.is_err()
    }

    /// Closes the connection with this code, or without a close frame. Returns the server's answer.
    pub(crate) async fn leave(mut self, code: Option<u16>) -> Closed {
        let Some(code) = code else { return Closed::Broken };
        let frame = tokio_tungstenite::tungstenite::protocol::CloseFrame { code: code.into(), reason: "".into() };
        self.socket.close(Some(frame)).await.expect("a close frame");
        self.closed().await
    }
}
