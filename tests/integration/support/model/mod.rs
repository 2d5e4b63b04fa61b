//! A model server on loopback with OpenAI's and Anthropic's protocols and scripted answers, including faulty ones.
//!
//! Independent of the tests, so that benchmarks can use it. Answers come from a queue, or else from a function of the request. It rejects
//! requests that the real APIs would reject.

mod anthropic;
pub(crate) mod cost;
mod embeddings;
mod openai;
#[path = "../../../../crates/local-server/tests/support/patience.rs"]
pub(crate) mod patience;
pub(crate) mod raw;
mod script;
pub(crate) mod voice;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::serve::ListenerExt;
use axum::{Json, Router};
use kernel::llm::settings::ProviderKind;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

use patience::PATIENCE;
pub(crate) use script::{Counted, Script};

/// A parsed request.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) protocol: ProviderKind,
    pub(crate) model: String,
    pub(crate) system: String,
    /// All messages but the system prompt.
    pub(crate) messages: Vec<Said>,
    /// The names of offered tools, without the schema's.
    pub(crate) tools: Vec<String>,
    pub(crate) schema: Option<Value>,
    pub(crate) stream: bool,
    /// The key in the header, if the protocol has one.
    pub(crate) key: Option<String>,
    /// The complete body.
    pub(crate) body: Value,
    /// The number of earlier requests.
    pub(crate) number: usize,
}

/// A message of a request, with tool calls and results as text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub(crate) role: String,
    pub(crate) text: String,
}

impl Asked {
    /// The last user message.
    pub(crate) fn last(&self) -> &str {
        self.messages.last().map_or("", |said| &said.text)
    }

    /// All messages as one text.
    pub(crate) fn prompt(&self) -> String {
        self.messages.iter().map(|said| said.text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// The same without what colleagues have found out lately, which is about something else.
    pub(crate) fn prompt_alone(&self) -> String {
        let prompt = self.prompt();
        let mut parts = prompt.split("| what the team has found out lately>>");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |before, part| before + part.split_once("<<end ").map_or("", |(_, after)| after))
    }

    /// The last word of the first message: tests end their questions with a word to recognise.
    pub(crate) fn last_word(&self) -> String {
        let first = self.messages.first().map_or("", |said| said.text.as_str());
        first.split_whitespace().last().unwrap_or_default().to_owned()
    }

    /// The number of tool results in this turn.
    pub(crate) fn tool_results(&self) -> usize {
        let is_result = |message: &&Value| {
            message["role"] == "tool"
                || message["content"].as_array().is_some_and(|blocks| blocks.iter().any(|block| block["type"] == "tool_result"))
        };
        list(&self.body, "messages").filter(is_result).count()
    }
}

type Behaviour = Arc<dyn Fn(&Asked) -> Script + Send + Sync>;

/// The running server. Stopped on drop.
pub(crate) struct ScriptedModel {
    address: std::net::SocketAddr,
    shared: Arc<Shared>,
    server: tokio::task::JoinHandle<()>,
}

struct Shared {
    behaviour: Mutex<Behaviour>,
    queue: Mutex<VecDeque<Script>>,
    requests: Mutex<Vec<Asked>>,
    count: watch::Sender<usize>,
    connections: AtomicUsize,
    embedding: embeddings::Embedding,
    voice: voice::Voice,
}

impl ScriptedModel {
    /// Starts a server that echoes, on a free port.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let shared = Arc::new(Shared {
            behaviour: Mutex::new(Arc::new(echo)),
            queue: Mutex::default(),
            requests: Mutex::default(),
            count: watch::Sender::new(0),
            connections: AtomicUsize::new(0),
            embedding: embeddings::Embedding::default(),
            voice: voice::Voice::default(),
        });
        let app = Router::new()
            .route("/v1/chat/completions", post(|state, request| answer(ProviderKind::OpenAi, state, request)))
            .route("/v1/messages", post(|state, request| answer(ProviderKind::Anthropic, state, request)))
            .route("/v1/embeddings", post(embeddings::answer))
            .route("/v1/audio/speech", post(voice::speak))
            .route("/v1/text-to-speech/{voice}", post(voice::speak_as))
            .route("/v1/audio/transcriptions", post(voice::transcribe))
            .layer(DefaultBodyLimit::max(32 << 20))
            .with_state(Arc::clone(&shared));
        let connections = Arc::clone(&shared);
        let listener = listener.tap_io(move |stream| {
            connections.connections.fetch_add(1, Ordering::Relaxed);
            // Without this option small events wait for acknowledgements.
            stream.set_nodelay(true).expect("loopback takes the option");
        });
        let server = tokio::spawn(async move { axum::serve(listener, app).await.expect("the server runs until it is dropped") });
        Self { address, shared, server }
    }

    /// The base URL for both protocols.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Sets the function that answers.
    pub(crate) fn on(&self, behaviour: impl Fn(&Asked) -> Script + Send + Sync + 'static) {
        *lock(&self.shared.behaviour) = Arc::new(behaviour);
    }

    /// Queues answers for the next requests.
    pub(crate) fn next(&self, scripts: impl IntoIterator<Item = Script>) {
        lock(&self.shared.queue).extend(scripts);
    }

    /// Clears the queue.
    pub(crate) fn forget_queue(&self) {
        lock(&self.shared.queue).clear();
    }

    /// All requests in order of arrival, except rejected ones.
    pub(crate) fn requests(&self) -> Vec<Asked> {
        lock(&self.shared.requests).clone()
    }

    /// The number of requests.
    pub(crate) fn count(&self) -> usize {
        *self.shared.count.borrow()
    }

    /// The number of connections.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// Waits for this number of requests.
    pub(crate) async fn wait_for(&self, count: usize) {
        let mut seen = self.shared.count.subscribe();
        let asked = tokio::time::timeout(PATIENCE, seen.wait_for(|seen| *seen >= count)).await;
        asked.expect("the model is asked").expect("the server holds the sender");
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no behaviour panics while it is read")
}

/// The default answer: the persona and the last message.
fn echo(asked: &Asked) -> Script {
    let who = asked.system.lines().find(|line| !line.trim().is_empty()).unwrap_or("nobody");
    Script::say(format!("[{who}] {}", asked.last()))
}

async fn answer(protocol: ProviderKind, State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let bytes = axum::body::to_bytes(body, 32 << 20).await.unwrap_or_default();
    let asked = serde_json::from_slice(&bytes).map_err(|error| error.to_string()).and_then(|body| match protocol {
        ProviderKind::OpenAi | ProviderKind::ElevenLabs => openai::read_request(&parts.headers, body),
        ProviderKind::Anthropic => anthropic::read_request(&parts.headers, body),
    });
    let mut asked = match asked {
        Ok(asked) => asked,
        Err(message) => return (axum::http::StatusCode::BAD_REQUEST, error(protocol, "invalid_request_error", &message)).into_response(),
    };
    {
        cost::note(&asked);
        let mut requests = lock(&shared.requests);
        asked.number = requests.len();
        requests.push(asked.clone());
    }
    let queued = lock(&shared.queue).pop_front();
    let script = queued.unwrap_or_else(|| {
        let behaviour = Arc::clone(&lock(&shared.behaviour));
        behaviour(&asked)
    });
    shared.count.send_modify(|count| *count += 1);
    script.perform(&asked).await
}

/// An error body in the protocol's format.
fn error(protocol: ProviderKind, kind: &str, message: &str) -> Json<Value> {
    Json(match protocol {
        ProviderKind::OpenAi | ProviderKind::ElevenLabs => {
            json!({"error": {"type": kind, "message": message, "param": null, "code": null}})
        }
        ProviderKind::Anthropic => json!({"type": "error", "error": {"type": kind, "message": message}}),
    })
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}
