use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{Stream, StreamExt, pending, unfold};
use kernel::llm::settings::ProviderKind;
use serde_json::Value;
use tokio::sync::watch;

use super::{Asked, anthropic, error, openai};

/// The answer to one request.
#[derive(Debug, Clone)]
pub(crate) enum Script {
    Say(String),
    /// Answers with these token counts.
    SayCounted(String, Counted),
    /// Answers word by word, with a pause before each.
    SaySlowly {
        text: String,
        pause: Duration,
    },
    /// Answers after a delay.
    SayAfter(Duration, String),
    /// Answers once the value is true.
    When(watch::Receiver<bool>, Box<Self>),
    /// Answers with a single JSON response, even if a stream was requested.
    SayWhole(String),
    /// Calls a tool.
    Call {
        tool: String,
        arguments: Value,
    },
    /// Gives a structured answer.
    Json(Value),
    Status {
        code: u16,
        body: String,
        headers: Vec<(&'static str, String)>,
    },
    /// Sends part of the answer and then nothing.
    SayAndHang(String),
    /// Never answers.
    Hang,
    /// Sends this many bytes and then nothing.
    HangAfter(usize),
    /// Sends one byte of the answer at a time.
    Drip(Duration),
    /// Status 200 and a web page.
    Garbage,
    /// Status 200 and events of another format.
    GarbageEvents,
    /// An empty answer.
    Empty,
    /// Stops at the token limit.
    Truncated(String),
    /// Closes the connection in the middle.
    CutOff,
    /// Blocked by the content filter.
    Filtered,
    /// Status 200, then an error of this type.
    ErrorAfter200 {
        kind: String,
        message: String,
    },
    /// Sends this many bytes.
    Flood(usize),
}

/// Token counts to report.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counted {
    /// The whole prompt.
    pub(crate) input: u64,
    pub(crate) cached: u64,
    /// Written to the cache; Anthropic only.
    pub(crate) cache_written: u64,
    pub(crate) output: u64,
}

/// An answer, independent of the protocol.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) pieces: Vec<String>,
    pub(super) call: Option<(String, Value)>,
    pub(super) json: Option<Value>,
    pub(super) stop: Stop,
    pub(super) counted: Counted,
}

#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub(super) enum Stop {
    #[default]
    Done,
    Length,
    Filtered,
}

impl Script {
    pub(crate) fn say(text: impl Into<String>) -> Self {
        Self::Say(text.into())
    }

    /// A status with an error in the usual format.
    pub(crate) fn status(code: u16) -> Self {
        Self::Status { code, body: format!(r#"{{"error":{{"message":"scripted {code}"}}}}"#), headers: Vec::new() }
    }

    pub(crate) fn call(tool: &str, arguments: Value) -> Self {
        Self::Call { tool: tool.to_owned(), arguments }
    }

    /// Delays the answer until the value is true.
    pub(crate) fn when(self, may: &watch::Receiver<bool>) -> Self {
        Self::When(may.clone(), Box::new(self))
    }

    pub(super) async fn perform(self, asked: &Asked) -> Response {
        let answer = self.answer(asked);
        match self {
            Self::Status { code, body, headers } => status(code, body, headers),
            Self::Hang => std::future::pending().await,
            Self::SayAfter(pause, _) => {
                tokio::time::sleep(pause).await;
                stream(chunks(frames(asked, &answer)))
            }
            Self::When(mut may, script) => {
                may.wait_for(|may| *may).await.expect("the test goes on");
                Box::pin(script.perform(asked)).await
            }
            Self::Garbage => ([(header::CONTENT_TYPE, "text/html")], "<html><body>Bad gateway</body></html>").into_response(),
            Self::GarbageEvents => stream(chunks(vec!["data: {\"hello\": \n\ndata: <html>\n\n".to_owned()])),
            Self::SayWhole(_) => whole(asked, &answer),
            _ if !asked.stream => whole(asked, &answer),
            Self::SaySlowly { pause, .. } => stream(slowly(frames(asked, &answer), pause)),
            Self::Drip(pause) => stream(slowly(frames(asked, &answer).concat().chars().map(String::from).collect(), pause)),
            Self::SayAndHang(_) => stream(chunks(without_end(frames(asked, &answer))).chain(pending())),
            Self::HangAfter(bytes) => stream(chunks(vec![first_bytes(&frames(asked, &answer).concat(), bytes)]).chain(pending())),
            Self::CutOff => stream(chunks(first_half(frames(asked, &answer)))),
            Self::ErrorAfter200 { kind, message } => {
                let mut frames = first_half(frames(asked, &answer));
                frames.push(format!("event: error\ndata: {}\n\n", error(asked.protocol, &kind, &message).0));
                stream(chunks(frames))
            }
            _ => stream(chunks(frames(asked, &answer))),
        }
    }

    fn answer(&self, asked: &Asked) -> Answer {
        let mut answer = Answer::default();
        match self {
            Self::Say(text)
            | Self::SayWhole(text)
            | Self::SayAndHang(text)
            | Self::SaySlowly { text, .. }
            | Self::SayAfter(_, text)
            | Self::SayCounted(text, _) => {
                answer.pieces = words(text);
            }
            Self::Truncated(text) => {
                answer.pieces = words(text);
                answer.stop = Stop::Length;
            }
            Self::Filtered => answer.stop = Stop::Filtered,
            Self::Call { tool, arguments } => answer.call = Some((tool.clone(), arguments.clone())),
            Self::Json(value) => answer.json = Some(value.clone()),
            Self::Flood(bytes) => answer.pieces = vec!["x".repeat(16 << 10); bytes.div_ceil(16 << 10)],
            Self::HangAfter(_) | Self::Drip(_) | Self::CutOff | Self::ErrorAfter200 { .. } => {
                answer.pieces = words("This will not be finished.");
            }
            Self::Empty | Self::Status { .. } | Self::When(..) | Self::Hang | Self::Garbage | Self::GarbageEvents => {}
        }
        let output = answer.pieces.iter().map(String::len).sum::<usize>().div_ceil(4) as u64;
        let input = asked.body["messages"].to_string().len().div_ceil(4) as u64;
        answer.counted = if let Self::SayCounted(_, counted) = self { *counted } else { Counted { input, output, ..Counted::default() } };
        answer
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_inclusive(' ').map(str::to_owned).collect()
}

fn frames(asked: &Asked, answer: &Answer) -> Vec<String> {
    match asked.protocol {
        ProviderKind::OpenAi | ProviderKind::ElevenLabs => openai::frames(asked, answer),
        ProviderKind::Anthropic => anthropic::frames(asked, answer),
    }
}

fn whole(asked: &Asked, answer: &Answer) -> Response {
    axum::Json(match asked.protocol {
        ProviderKind::OpenAi | ProviderKind::ElevenLabs => openai::whole(asked, answer),
        ProviderKind::Anthropic => anthropic::whole(asked, answer),
    })
    .into_response()
}

fn status(code: u16, body: String, headers: Vec<(&'static str, String)>) -> Response {
    let mut response = (StatusCode::from_u16(code).expect("a status"), body).into_response();
    for (name, value) in headers {
        response.headers_mut().insert(name, value.parse().expect("a header value"));
    }
    response
}

fn first_half(mut frames: Vec<String>) -> Vec<String> {
    frames.truncate(frames.len() / 2);
    frames
}

/// The frames before the stop event.
fn without_end(frames: Vec<String>) -> Vec<String> {
    let ends = |frame: &String| ["\"finish_reason\":\"", "content_block_stop"].iter().any(|mark| frame.contains(mark));
    frames.into_iter().take_while(|frame| !ends(frame)).collect()
}

fn first_bytes(text: &str, bytes: usize) -> String {
    text[..text.floor_char_boundary(bytes)].to_owned()
}

fn chunks(frames: Vec<String>) -> impl Stream<Item = String> {
    futures_util::stream::iter(frames)
}

fn slowly(frames: Vec<String>, pause: Duration) -> impl Stream<Item = String> {
    unfold(frames.into_iter(), move |mut frames| async move {
        let frame = frames.next()?;
        tokio::time::sleep(pause).await;
        Some((frame, frames))
    })
}

fn stream(frames: impl Stream<Item = String> + Send + 'static) -> Response {
    let body = Body::from_stream(frames.map(|frame| Ok::<_, std::convert::Infallible>(Bytes::from(frame))));
    ([(header::CONTENT_TYPE, "text/event-stream; charset=utf-8")], body).into_response()
}
