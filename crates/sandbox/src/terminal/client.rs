//! The REST and gateway connections of the line client.

use std::{path::Path, time::Duration};

use anyhow::{Context, bail};
use futures_util::{SinkExt, StreamExt};
use reqwest::{
    RequestBuilder,
    header::{AUTHORIZATION, HeaderMap},
    multipart,
};
use serde_json::{Value, json};
use tokio::{
    net::TcpStream,
    time::{Interval, interval},
};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message as Frame};

const REST_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct Rest {
    http: reqwest::Client,
    base: String,
}

impl Rest {
    /// `api` is the server's address without a path, such as `http://127.0.0.1:8080`.
    pub(super) fn new(api: &str, token: &str) -> anyhow::Result<Self> {
        let headers = HeaderMap::from_iter([(AUTHORIZATION, token.parse().context("the token is not valid")?)]);
        // The sandbox is on loopback, so a proxy of the environment does not apply.
        let http = reqwest::Client::builder().no_proxy().timeout(REST_TIMEOUT).default_headers(headers).build()?;
        Ok(Self { http, base: format!("{}/api/v10", api.trim_end_matches('/')) })
    }

    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        send(self.http.get(format!("{}{path}", self.base))).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        send(self.http.post(format!("{}{path}", self.base)).json(body)).await
    }

    /// Posts a message with one file.
    pub(super) async fn upload(&self, path: &str, body: &Value, file: &Path) -> anyhow::Result<Value> {
        let bytes = tokio::fs::read(file).await.with_context(|| format!("reading {}", file.display()))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let part = multipart::Part::bytes(bytes).file_name(name);
        let form = multipart::Form::new().text("payload_json", body.to_string()).part("files[0]", part);
        send(self.http.post(format!("{}{path}", self.base)).multipart(form)).await
    }
}

/// People have no rate limit in the sandbox, so nothing is retried.
async fn send(request: RequestBuilder) -> anyhow::Result<Value> {
    let response = request.send().await.context("the sandbox does not answer")?;
    let status = response.status();
    let answer: Value = response.json().await.unwrap_or_default();
    if status.is_success() {
        return Ok(answer);
    }
    match find_form_error(&answer["errors"]).or(answer["message"].as_str()) {
        Some(problem) => bail!("{problem}"),
        None => bail!("the server answered {status}"),
    }
}

/// The first field error in the nested errors of the API.
fn find_form_error(errors: &Value) -> Option<&str> {
    match errors.get("_errors") {
        Some(list) => list[0]["message"].as_str(),
        None => errors.as_object()?.values().find_map(find_form_error),
    }
}

/// The server runs in the same process, so the client does not reconnect.
pub(super) struct Gateway {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    heartbeat: Interval,
    sequence: Value,
}

impl Gateway {
    /// Connects to the gateway at `url` (`ws://host:port`).
    pub(super) async fn connect(url: &str, token: &str) -> anyhow::Result<Self> {
        let (mut socket, _) = connect_async(format!("{url}/?v=10&encoding=json")).await?;
        let hello: Value = serde_json::from_str(socket.next().await.context("the gateway sent no HELLO")??.to_text()?)?;
        let heartbeat = interval(Duration::from_millis(hello["d"]["heartbeat_interval"].as_u64().context("HELLO has no interval")?));
        let properties = json!({ "os": std::env::consts::OS, "browser": "teamroom terminal", "device": "" });
        let identify = json!({ "op": 2, "d": { "token": token, "properties": properties } });
        socket.send(Frame::text(identify.to_string())).await?;
        Ok(Self { socket, heartbeat, sequence: Value::Null })
    }

    /// The name and the data of the next event. The error tells why the connection ended.
    pub(super) async fn next(&mut self) -> anyhow::Result<(String, Value)> {
        loop {
            tokio::select! {
                _ = self.heartbeat.tick() => self.socket.send(Frame::text(json!({ "op": 1, "d": self.sequence }).to_string())).await?,
                frame = self.socket.next() => match frame.context("the sandbox closed the connection")?? {
                    Frame::Text(text) => {
                        let mut payload: Value = serde_json::from_str(&text)?;
                        if payload["op"] == 0 {
                            self.sequence = payload["s"].take();
                            return Ok((payload["t"].as_str().unwrap_or_default().to_owned(), payload["d"].take()));
                        }
                    }
                    Frame::Close(Some(frame)) => bail!("the sandbox closed the connection: {}", frame.reason),
                    _ => {}
                },
            }
        }
    }
}
