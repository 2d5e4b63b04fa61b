//! Language models: providers, retry, breaker, structured answers.
//!
//! Nothing here knows personas' prompts or what a call is for, and nothing here touches the store: money goes through [`Meter`].

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::domain::usage::{Reservation, Settlement, TokenUsage};

/// One model of one provider.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// Makes one attempt. Retry, fallback and money are the caller's ([`Models`]).
    async fn complete(&self, request: &ModelRequest, cancel: &CancellationToken) -> Result<ModelReply, ModelError>;
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

#[derive(Debug, Clone, PartialEq)]
pub enum ModelMessage {
    User(String),
    Assistant { text: String, calls: Vec<ToolCall> },
    ToolResult { call: String, text: String },
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    pub parameters: serde_json::Value,
}

/// A call that the model wants made.
#[derive(Debug, Clone, PartialEq)]
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

/// Why an attempt failed, sorted by what to do about it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// Worth another attempt: 408, 409, 429, 5xx, 529, connection trouble.
    #[error("{provider} could not answer now: {reason}")]
    Busy { provider: String, reason: String, retry_after: Option<std::time::Duration> },
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
    OutOfBudget(String),
    #[error("cancelled")]
    Cancelled,
    #[error("no model is configured for this tier")]
    NoModel,
    /// The ledger could not be written; a call that cannot be accounted for is not made.
    #[error("the ledger could not be written: {0}")]
    Ledger(String),
}

/// Where calls are accounted for: reserved before, settled after.
#[async_trait]
pub trait Meter: Send + Sync {
    /// Sets the worst case aside.
    ///
    /// # Errors
    /// [`ModelError::OutOfBudget`] with a sentence for people, or [`ModelError::Ledger`].
    async fn reserve(&self, reservation: &Reservation) -> Result<(), ModelError>;

    /// Puts the real cost in the place of the reservation.
    async fn settle(&self, settlement: &Settlement) -> Result<(), ModelError>;
}
