//! Language models: providers, retry, breaker, structured answers.
//!
//! [`Models`] is asked for a tier and gives an answer, or the reason why there is none. Only `agent::run` asks it.
//! `provider` makes one attempt over HTTP, `retry`, `gate` and `breaker` decide what follows a failure, `price` turns tokens into money.
//! Nothing here knows personas' prompts or what a call is for, and nothing here touches the store: money goes through [`Meter`].

mod breaker;
pub mod budget;
mod gate;
mod meter;
mod models;
mod price;
mod provider;
mod retry;
pub mod settings;
pub mod store;
pub mod structured;

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::money::{Refused, Reservation, Settlement, TokenUsage};

pub use breaker::BreakerState;
pub use gate::ProviderStatus;
pub use meter::LedgerMeter;
pub use models::{Call, Models, UnknownProvider};
pub use price::Prices;
pub use structured::Structured;

/// One model of one provider.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// Makes one attempt, for at most `limit`. Retry, fallback and money are the caller's ([`Models`]).
    async fn complete(&self, request: &ModelRequest, limit: Duration, cancel: &CancellationToken) -> Result<ModelReply, FailedAttempt>;
}

/// What a model is asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelRequest {
    /// The part that stays the same from call to call comes first, so that providers' caches hit.
    pub system: String,
    pub messages: Vec<ModelMessage>,
    pub tools: Vec<ToolSpec>,
    /// The answer is to be JSON of this schema.
    pub schema: Option<AnswerSchema>,
    pub max_output_tokens: u32,
}

impl ModelRequest {
    /// About how many tokens the prompt has: four characters each, which holds for European prose. Used where no provider has counted.
    pub fn estimate_tokens(&self) -> u64 {
        let messages: usize = self.messages.iter().map(ModelMessage::chars).sum();
        let tools: usize = self.tools.iter().map(|tool| tool.name.len() + tool.description.len() + tool.parameters.to_string().len()).sum();
        let schema = self.schema.as_ref().map_or(0, |schema| schema.schema.to_string().len());
        tokens_of(self.system.chars().count() + messages + tools + schema)
    }
}

/// The tokens that so many characters make, by the estimate of [`ModelRequest::estimate_tokens`].
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

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    pub parameters: serde_json::Value,
}

/// A call that the model wants made.
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

/// What a model answered. Never empty and never cut off: those are errors.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelReply {
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub usage: TokenUsage,
    pub provider: String,
    pub model: String,
}

impl ModelReply {
    /// `provider/model`, as configuration names it.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }
}

/// Why an attempt failed, sorted by what to do about it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// Worth another attempt: 408, 409, 429, 5xx, 529, connection trouble.
    #[error("{provider} could not answer now: {reason}")]
    Busy { provider: String, reason: String, retry_after: Option<Duration> },
    #[error("{provider} was silent for too long")]
    TimedOut { provider: String },
    /// The request, the key or the account is at fault; another attempt would only cost.
    #[error("{provider} refused: {reason}")]
    Refused { provider: String, reason: String },
    #[error("{provider} answered with something that is no answer: {reason}")]
    Garbled { provider: String, reason: String },
    #[error("{provider} answered with nothing")]
    Empty { provider: String },
    #[error("{provider} stopped in the middle of its answer")]
    Truncated { provider: String },
    #[error("the budget is used up: {0}")]
    OutOfBudget(Refused),
    #[error("cancelled")]
    Cancelled,
    #[error("no model is configured for this tier")]
    NoModel,
    /// The ledger could not be written; a call that cannot be accounted for is not made.
    #[error("the ledger could not be written: {0}")]
    Ledger(String),
}

impl ModelError {
    /// The failure in one word, for metrics.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Busy { .. } => "busy",
            Self::TimedOut { .. } => "timed_out",
            Self::Refused { .. } => "refused",
            Self::Garbled { .. } => "garbled",
            Self::Empty { .. } => "empty",
            Self::Truncated { .. } => "truncated",
            Self::OutOfBudget(_) => "out_of_budget",
            Self::Cancelled => "cancelled",
            Self::NoModel => "no_model",
            Self::Ledger(_) => "ledger",
        }
    }
}

/// An attempt that failed, and the tokens it had used up by then: an answer that breaks off is paid for all the same.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{error}")]
pub struct FailedAttempt {
    pub error: ModelError,
    pub usage: TokenUsage,
    /// What had come of the answer. Of no use to whoever wants a whole one.
    pub written: String,
}

/// What came of a call whose caller takes half an answer rather than none.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    pub reply: ModelReply,
    /// Why there is no more of it; none of an answer that is whole.
    pub broke_off: Option<ModelError>,
}

/// Where calls are accounted for: reserved before, settled after.
#[async_trait]
pub trait Meter: Send + Sync {
    /// Sets the worst case aside.
    ///
    /// # Errors
    /// [`ModelError::OutOfBudget`] or [`ModelError::Ledger`].
    async fn reserve(&self, reservation: &Reservation) -> Result<(), ModelError>;

    /// Puts the real cost in the place of the reservation.
    async fn settle(&self, settlement: &Settlement) -> Result<(), ModelError>;
}
