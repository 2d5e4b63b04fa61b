use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A literal answer of a model server.
#[derive(Debug, Clone)]
pub(crate) struct Raw {
    status: u16,
    kind: &'static str,
    body: String,
    /// Whether the connection stays open after the body, without more data.
    hangs: bool,
    delay: Duration,
}

impl Raw {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self { status, kind: "application/json", body: body.to_string(), hangs: false, delay: Duration::ZERO }
    }

    /// Events with these data, and `[DONE]`.
    pub(crate) fn events(data: &[Value]) -> Self {
        let events = data.iter().map(|data| format!("data: {data}\n\n")).collect::<Vec<_>>().concat();
        Self { kind: "text/event-stream", body: format!("{events}data: [DONE]\n\n"), ..Self::json(200, &Value::Null) }
    }

    /// An answer in a stream of the chat completions API, in pieces.
    pub(crate) fn say(text: &str) -> Self {
        Self::say_until("stop", text)
    }

    pub(crate) fn say_until(reason: &str, text: &str) -> Self {
        let pieces =
            text.split_inclusive(' ').map(|piece| json!({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": null}]}));
        let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]});
        Self::events(&pieces.chain([end]).collect::<Vec<_>>())
    }

    pub(crate) fn labelled(self, kind: &'static str) -> Self {
        Self { kind, ..self }
    }

    pub(crate) fn with_body(self, change: impl FnOnce(String) -> String) -> Self {
        Self { body: change(self.body), ..self }
    }

    pub(crate) fn hanging(self) -> Self {
        Self { hangs: true, ..self }
    }

    pub(crate) fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    async fn send(self) -> Response {
        tokio::time::sleep(self.delay).await;
        let first = stream::once(std::future::ready(Ok::<_, std::convert::Infallible>(Bytes::from(self.body))));
        let body = if self.hangs { Body::from_stream(first.chain(stream::pending())) } else { Body::from_stream(first) };
        let status = StatusCode::from_u16(self.status).expect("a status");
        (status, [(header::CONTENT_TYPE, self.kind)], body).into_response()
    }
}

type Behaviour = Box<dyn Fn(&Value, usize) -> Raw + Send + Sync>;

/// A model server that answers by a function of the body and the number of earlier requests. Stopped on drop.
pub(crate) struct RawServer {
    url: String,
    shared: Arc<RawShared>,
    server: tokio::task::JoinHandle<()>,
}

struct RawShared {
    behaviour: Behaviour,
    requests: Mutex<Vec<Value>>,
}

impl RawServer {
    pub(crate) async fn start(behaviour: impl Fn(&Value, usize) -> Raw + Send + Sync + 'static) -> Self {
        // Only the requests for answers are counted.
        let no_models = Router::new().route("/v1/models", get(StatusCode::NOT_FOUND));
        Self::start_with(no_models, behaviour).await
    }

    /// A server that also answers the question which models there are.
    pub(crate) async fn start_with_models(behaviour: impl Fn(&Value, usize) -> Raw + Send + Sync + 'static) -> Self {
        Self::start_with(Router::new(), behaviour).await
    }

    async fn start_with(routes: Router<Arc<RawShared>>, behaviour: impl Fn(&Value, usize) -> Raw + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let url = format!("http://{}/v1", listener.local_addr().expect("a bound listener has an address"));
        let shared = Arc::new(RawShared { behaviour: Box::new(behaviour), requests: Mutex::default() });
        let app = routes.fallback(answer).with_state(Arc::clone(&shared));
        let server = tokio::spawn(async move { axum::serve(listener, app).await.expect("the server runs until it is dropped") });
        Self { url, shared, server }
    }

    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }

    /// The bodies of all requests.
    pub(crate) fn requests(&self) -> Vec<Value> {
        self.shared.requests.lock().expect("no test panics while it holds them").clone()
    }
}

impl Drop for RawServer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn answer(State(shared): State<Arc<RawShared>>, request: Request) -> Response {
    let bytes = axum::body::to_bytes(request.into_body(), 32 << 20).await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let number = {
        let mut requests = shared.requests.lock().expect("no test panics while it holds them");
        requests.push(body.clone());
        requests.len() - 1
    };
    (shared.behaviour)(&body, number).send().await
}
