//! Language models: providers, retry, circuit breaker, structured answers. Also speech and transcription.
//!
//! [`Models`] returns an answer for a tier, or why there is none. Only `agent::run` calls it. `provider` makes one attempt over HTTP;
//! `retry`, `limiter` and `breaker` handle failures; `price` computes costs. This module knows no personas and no store; costs go through
//! [`Meter`].

mod breaker;
pub mod budget;
pub(crate) mod cause;
mod embeddings;
mod endpoint;
mod espeak;
mod limiter;
mod meter;
mod models;
pub mod nearby;
mod pace;
mod price;
mod provider;
mod retry;
pub mod settings;
mod shape;
mod sound;
mod speech;
mod spoken;
pub mod store;
pub mod structured;
mod transcription;
mod trial;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::llm::settings::ModelRef;
use crate::money::{Allowance, Refused, Reservation, Settlement, TokenUsage};

pub use breaker::BreakerState;
pub use cause::Cause;
pub use embeddings::Embeddings;
pub use limiter::ProviderStatus;
pub use meter::LedgerMeter;
pub use models::{Call, Models, UnknownProvider};
pub use price::Prices;
pub use sound::Sound;
pub use speech::{Speech, Utterance};
pub use structured::Structured;
pub use transcription::Transcription;

/// One model of one provider.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// Makes one attempt within `limit`. [`Models`] handles retry, fallback and costs.
    async fn complete(&self, request: &ModelRequest, limit: Duration, cancel: &CancellationToken) -> Result<ModelReply, FailedAttempt>;

    /// The most tokens to allow for an answer of this length. A model that thinks aloud needs room for that.
    fn room_for(&self, answer: u32) -> u32 {
        answer
    }

    /// Whether prompts are written to a cache, at a higher price.
    fn writes_cache(&self) -> bool {
        false
    }

    /// The features that the endpoint was found to lack, in words.
    fn lacks(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// The context window in tokens, if the endpoint has named it.
    fn window(&self) -> Option<usize> {
        None
    }

    /// Asks the endpoint for the context window.
    async fn learn_window(&self) {}
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelRequest {
    /// The constant part comes first, so that providers can cache it.
    pub system: String,
    pub messages: Vec<ModelMessage>,
    /// The pictures belong to the first message. A model that does not see is told that they were left out.
    pub pictures: Vec<Picture>,
    pub tools: Vec<ToolSpec>,
    /// Tools that the model knows by name only, and may call, too. They are not sent.
    pub named_tools: Vec<ToolSpec>,
    /// The answer must be JSON of this schema.
    pub schema: Option<AnswerSchema>,
    pub max_output_tokens: u32,
}

impl ModelRequest {
    /// Estimates the prompt's tokens at four characters each, which fits European prose. Used if the provider does not count.
    pub fn estimate_tokens(&self) -> u64 {
        let messages: usize = self.messages.iter().map(ModelMessage::chars).sum();
        let tools: usize = self.tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.parameters.to_string().len()).sum();
        let schema = self.schema.as_ref().map_or(0, |schema| schema.schema.to_string().len());
        tokens_of(self.system.chars().count() + messages + tools + schema) + self.pictures.len() as u64 * PICTURE_TOKENS
    }

    /// The request without some of its pictures. It says to the model that they were left out.
    fn without_pictures(&self, is_left_out: impl Fn(&Picture) -> bool) -> Self {
        let mut rest = self.clone();
        rest.pictures.retain(|picture| !is_left_out(picture));
        if let Some(ModelMessage::User(text)) = rest.messages.first_mut() {
            text.push_str("\n\n");
            text.push_str(if rest.pictures.is_empty() { UNSEEN } else { PARTLY_SEEN });
        }
        rest
    }
}

/// A wait from which on a provider that asks for it is not busy, but used up. No call waits as long.
const LONG_WAIT: Duration = Duration::from_mins(5);

/// What providers charge for a picture, roughly.
const PICTURE_TOKENS: u64 = 1600;

/// A picture as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// For people.
    pub name: String,
    /// `image/png`
    pub media_type: &'static str,
    pub bytes: Arc<Vec<u8>>,
    /// The question came with it, replies to it, or names it.
    pub is_meant: bool,
}

impl Picture {
    fn base64(&self) -> String {
        BASE64_STANDARD.encode(&*self.bytes)
    }
}

/// Instead of pictures, for a model that does not see.
const UNSEEN: &str = "(The pictures of this message cannot be shown to you. Say so if they matter.)";

/// The same if some of them are shown.
const PARTLY_SEEN: &str = "(Some pictures of this message cannot be shown to you. Say so if they matter.)";

/// Instead of tools, for a model that cannot call any.
const TOOLLESS: &str = "(You cannot call tools here. Answer from what stands above, and say so where that is not enough.)";

/// Estimates tokens as [`ModelRequest::estimate_tokens`] does.
fn tokens_of(chars: usize) -> u64 {
    chars.div_ceil(4) as u64
}

#[derive(Debug, Clone, PartialEq)]
pub enum ModelMessage {
    User(String),
    Assistant { text: String, calls: Vec<ToolCall> },
    ToolResult { call: String, text: String },
}

impl ModelMessage {
    fn chars(&self) -> usize {
        match self {
            Self::User(text) | Self::ToolResult { text, .. } => text.chars().count(),
            Self::Assistant { text, calls } => {
                text.chars().count() + calls.iter().map(|call| call.name.len() + call.arguments.to_string().len()).sum::<usize>()
            }
        }
    }
}

/// A tool offered to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    pub parameters: serde_json::Value,
}

/// A tool call by the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    pub arguments: serde_json::Value,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AnswerSchema {
    pub name: String,
    pub schema: serde_json::Value,
}

/// How the tokens of an attempt were counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// Tokens of the prompt that were written to the provider's cache, which costs more than reading them.
    pub cache_written: u64,
    /// The endpoint has not counted, so the usage is estimated.
    pub is_estimate: bool,
}

/// A complete model answer, without reasoning and marks of templates. Empty or truncated answers are errors.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub usage: TokenUsage,
    pub counted: Counted,
    pub provider: String,
    pub model: String,
    /// Sentences for the person: which pictures the endpoint refused, and why.
    pub remarks: Vec<String>,
}

impl ModelReply {
    /// `provider/model`, as in the configuration.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }
}

/// Why an attempt failed. The variant says how to handle it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// Temporary: 408, 409, 429, 5xx, 529, connection problems.
    #[error("{provider} is not available right now: {reason}")]
    Busy { provider: String, reason: String, cause: Cause, retry_after: Option<Duration> },
    #[error("{provider} took too long")]
    TimedOut { provider: String },
    /// The provider's limit for an hour, a day or a month is reached. The model is not asked before that time.
    #[error("the language model at {} is used up until {}", cause::shown(provider), until.to_rfc3339())]
    UsedUp { provider: String, until: DateTime<Utc> },
    /// Permanent: the request, the key or the account is wrong.
    #[error("{provider} refused: {reason}")]
    Refused { provider: String, reason: String, cause: Cause },
    /// A provider's filter blocked the prompt or the answer, or the model refused. The same prompt is refused again.
    #[error("the model declined to answer this; {}", reason_of(provider, said.as_deref()))]
    Declined { provider: String, said: Option<String> },
    #[error("{provider} returned an invalid answer: {reason}")]
    Garbled { provider: String, reason: String },
    #[error("{provider} returned an empty answer")]
    Empty { provider: String },
    #[error("{provider} stopped in the middle of its answer")]
    Truncated { provider: String },
    /// The answer has reached the most tokens that it may have.
    #[error("the answer of {provider} was cut off at its limit")]
    AtLimit { provider: String },
    #[error("the budget is used up: {0}")]
    OutOfBudget(Refused),
    #[error("the {0} model calls for one message are used up")]
    OutOfCalls(u32),
    #[error("cancelled")]
    Cancelled,
    #[error("no model is configured")]
    NoModel,
    /// The ledger cannot be written, so no call is made.
    #[error("cannot record the cost: {0}")]
    Ledger(String),
}

impl ModelError {
    /// The cause, if the endpoint gave no answer.
    pub fn cause(&self) -> Option<Cause> {
        match self {
            Self::Busy { cause, .. } | Self::Refused { cause, .. } => Some(*cause),
            Self::Declined { .. } => Some(Cause::Filter),
            Self::UsedUp { .. } => Some(Cause::Quota),
            _ => None,
        }
    }

    /// One word for metrics.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Busy { .. } => "busy",
            Self::TimedOut { .. } => "timed_out",
            Self::Refused { .. } => "refused",
            Self::Declined { .. } => "declined",
            Self::UsedUp { .. } => "used_up",
            Self::Garbled { .. } => "garbled",
            Self::Empty { .. } => "empty",
            Self::Truncated { .. } => "truncated",
            Self::AtLimit { .. } => "at_limit",
            Self::OutOfBudget(_) => "out_of_budget",
            Self::OutOfCalls(_) => "out_of_calls",
            Self::Cancelled => "cancelled",
            Self::NoModel => "no_model",
            Self::Ledger(_) => "ledger",
        }
    }
}

fn reason_of(provider: &str, said: Option<&str>) -> String {
    match said {
        Some(said) => format!("the reason given by {} is “{}”", cause::shown(provider), said.trim_end_matches('.')),
        None => Cause::Filter.in_words(provider),
    }
}

/// A failed attempt and the tokens it used. Partial answers are charged too.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct FailedAttempt {
    pub error: ModelError,
    pub usage: TokenUsage,
    pub counted: Counted,
    /// The partial answer, for callers that accept one.
    pub written: String,
}

/// The result for callers that accept a partial answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    pub reply: ModelReply,
    /// Why the answer is incomplete. None if it is complete.
    pub broke_off: Option<ModelError>,
}

/// Accounting for calls: reserves before, settles after.
#[async_trait]
pub trait Meter: Send + Sync {
    /// Reserves the worst-case cost.
    ///
    /// # Errors
    /// [`ModelError::OutOfBudget`], [`ModelError::OutOfCalls`] or [`ModelError::Ledger`].
    async fn reserve(&self, reservation: &Reservation) -> Result<(), ModelError>;

    /// Replaces the reservation with the real cost.
    async fn settle(&self, settlement: &Settlement) -> Result<(), ModelError>;

    /// How many calls an allowance still has.
    async fn calls_left(&self, allowance: &Allowance) -> Result<u32, ModelError>;

    /// Keeps when a model may be asked again. None: it may be asked.
    async fn rest(&self, model: &ModelRef, until: Option<DateTime<Utc>>) -> Result<(), ModelError>;

    /// The models that may not be asked at `now`, and until when.
    async fn list_resting(&self, now: DateTime<Utc>) -> Result<Vec<(ModelRef, DateTime<Utc>)>, ModelError>;
}
