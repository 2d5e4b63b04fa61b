//! The REST and gateway connections of the line client.

use std::{path::Path, time::Duration};

use anyhow::{Context, bail};
use futures_util::{SinkExt, StreamExt};
use reqwest::{Method, RequestBuilder, StatusCode, multipart};
use serde_json::{Value, json};
use tokio::{net::TcpStream, sync::mpsc, time};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message as Frame};

const REST_TIMEOUT: Duration = Duration::from_secs(30);
const EVENT_BUFFER: usize = 1024;

pub(super) struct Rest {
    http: reqwest::Client,
    base: String,
    token: String,
}

impl Rest {
    /// `api` is the server's address without a path, such as `http://127.0.0.1:8080`.
    pub(super) fn new(api: &str, token: &str) -> anyhow::Result<Self> {
        // The sandbox is on loopback, so a proxy of the environment does not apply.
        let http = reqwest::Client::builder().no_proxy().timeout(REST_TIMEOUT).build().context("creating the HTTP client")?;
        Ok(Self { http, base: format!("{}/api/v10", api.trim_end_matches('/')), token: token.to_owned() })
    }

    pub(super) async fn get(&self, path: &str) -> anyhow::Result<Value> {
        send(self.request(Method::GET, path)).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        send(self.request(Method::POST, path).json(body)).await
    }

    /// Posts a message with one file.
    pub(super) async fn upload(&self, path: &str, body: &Value, file: &Path) -> anyhow::Result<Value> {
        let bytes = tokio::fs::read(file).await.with_context(|| format!("reading {}", file.display()))?;
        let name = file.file_name().map_or_else(|| "file".to_owned(), |name| name.to_string_lossy().into_owned());
        let part = multipart::Part::bytes(bytes).file_name(name);
        let form = multipart::Form::new().text("payload_json", body.to_string()).part("files[0]", part);
        send(self.request(Method::POST, path).multipart(form)).await
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).header("Authorization", &self.token)
    }
}

/// People have no rate limit in the sandbox, so nothing is retried.
async fn send(request: RequestBuilder) -> anyhow::Result<Value> {
    let response = request.send().await.context("the sandbox does not answer")?;
    let status = response.status();
    let text = response.text().await.context("the sandbox stopped in the middle of its answer")?;
    let answer = serde_json::from_str(&text).unwrap_or(Value::Null);
    if status.is_success() { Ok(answer) } else { bail!(error_message(status, &answer)) }
}

fn error_message(status: StatusCode, answer: &Value) -> String {
    let general = || answer["message"].as_str().map_or_else(|| format!("the server answered {status}"), str::to_owned);
    find_form_error(&answer["errors"]).unwrap_or_else(general)
}

/// The first field error in the nested form errors of the API.
fn find_form_error(errors: &Value) -> Option<String> {
    let errors = errors.as_object()?;
    match errors.get("_errors") {
        Some(list) => list[0]["message"].as_str().map(str::to_owned),
        None => errors.values().find_map(find_form_error),
    }
}

/// The name and the data of a gateway event.
pub(super) type Event = (String, Value);

/// Connects to the gateway at `url` (`ws://host:port`). The last item tells why the connection ended.
///
/// The server runs in the same process, so the client does not reconnect.
pub(super) fn connect(url: String, token: String) -> mpsc::Receiver<anyhow::Result<Event>> {
    let (events, receiver) = mpsc::channel(EVENT_BUFFER);
    tokio::spawn(async move {
        if let Err(error) = run_connection(&url, &token, &events).await {
            // Fails if the session has ended already.
            let _ = events.send(Err(error)).await;
        }
    });
    receiver
}

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn run_connection(url: &str, token: &str, events: &mpsc::Sender<anyhow::Result<Event>>) -> anyhow::Result<()> {
    let (mut socket, _) = connect_async(format!("{url}/?v=10&encoding=json")).await?;
    let hello = receive(&mut socket).await?;
    let interval = hello["d"]["heartbeat_interval"].as_u64().context("the gateway sent no HELLO")?;
    let properties = json!({ "os": std::env::consts::OS, "browser": "teamroom terminal", "device": "" });
    send_payload(&mut socket, &json!({ "op": 2, "d": { "token": token, "properties": properties } })).await?;
    let mut heartbeat = time::interval(Duration::from_millis(interval.max(1)));
    let mut sequence = Value::Null;
    loop {
        tokio::select! {
            _ = heartbeat.tick() => send_payload(&mut socket, &json!({ "op": 1, "d": sequence })).await?,
            payload = receive(&mut socket) => {
                let mut payload = payload?;
                match payload["op"].as_u64() {
                    Some(0) => {
                        sequence = payload["s"].take();
                        let kind = payload["t"].as_str().unwrap_or_default().to_owned();
                        events.send(Ok((kind, payload["d"].take()))).await?;
                    }
                    Some(1) => send_payload(&mut socket, &json!({ "op": 1, "d": sequence })).await?,
                    _ => {}
                }
            }
        }
    }
}

async fn send_payload(socket: &mut Socket, payload: &Value) -> anyhow::Result<()> {
    socket.send(Frame::Text(payload.to_string())).await.context("sending to the gateway")
}

async fn receive(socket: &mut Socket) -> anyhow::Result<Value> {
    loop {
        match socket.next().await.context("the sandbox closed the connection")?? {
            Frame::Text(text) => return Ok(serde_json::from_str(&text)?),
            Frame::Close(Some(frame)) if !frame.reason.is_empty() => bail!("the sandbox closed the connection: {}", frame.reason),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_field_error_is_shown() {
        let answer = json!({ "message": "Invalid Form Body", "code": 50035, "errors": {
            "content": { "_errors": [{ "code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length." }] } } });
        assert_eq!(error_message(StatusCode::BAD_REQUEST, &answer), "Must be 2000 or fewer in length.");
        assert_eq!(error_message(StatusCode::BAD_GATEWAY, &Value::Null), "the server answered 502 Bad Gateway");
    }
}
