//! The turn: one persona asked once. Context in, reply out; by a model where one is configured, else by the offline composer.

mod ask_tool;
mod performer;
mod readings;

use async_trait::async_trait;

pub use performer::Performer;
pub use readings::{FeedsRead, NoSuchFeed, PageEntry, Readings};

use crate::domain::ask::Ask;
use crate::domain::ids::{ChainId, ChannelId, MessageId, PersonaSlug};
use crate::domain::message::{Channel, Speaker};
use crate::domain::turn::Turn;
use crate::domain::usage::{Purpose, Refused, TokenUsage};
use crate::llm::ModelError;
use crate::store::{FileText, StoreError};

/// The most times that a turn may call tools before it has to answer.
const MOST_CALLS: usize = 8;

/// What a turn is about.
pub struct TurnInput<'a> {
    pub persona: &'a PersonaSlug,
    pub purpose: Purpose,
    /// The id under which its calls stand in the ledger.
    pub subject: &'a str,
    pub message: &'a MessageId,
    pub chain: &'a ChainId,
    pub channel: &'a Channel,
    pub asker: &'a Speaker,
    /// The persona that puts a person's question to this one.
    pub through: Option<&'a PersonaSlug>,
    /// The messages that `question` stands in; the transcript leaves them out.
    pub answered: &'a [MessageId],
    pub question: &'a str,
    /// Files that came with the question.
    pub files: &'a [FileText],
    /// Everybody on the way from the person's message to here, this persona last.
    pub path: Vec<PersonaSlug>,
}

impl<'a> TurnInput<'a> {
    /// A turn in a channel.
    pub fn chat(turn: &'a Turn, channel: &'a Channel, asker: &'a Speaker, question: &'a str) -> Self {
        Self {
            persona: &turn.persona,
            purpose: Purpose::Chat,
            subject: turn.id.as_str(),
            message: &turn.message,
            chain: &turn.chain,
            channel,
            asker,
            through: None,
            answered: &[],
            question,
            files: &[],
            path: vec![turn.persona.clone()],
        }
    }

    /// A turn of a persona that another one asks.
    pub fn ask(ask: &'a Ask, channel: &'a Channel, asker: &'a Speaker) -> Self {
        let mut path = ask.path.clone();
        path.push(ask.askee.clone());
        Self {
            persona: &ask.askee,
            purpose: Purpose::Ask,
            subject: ask.id.as_str(),
            message: &ask.message,
            chain: &ask.chain,
            channel,
            asker,
            through: Some(&ask.asker),
            answered: std::slice::from_ref(&ask.message),
            question: &ask.question,
            files: &[],
            path,
        }
    }
}

/// What a persona answered, with nothing secret in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    pub text: String,
    /// `provider/model`; none when no model wrote it.
    pub model: Option<String>,
    pub usage: TokenUsage,
    /// The size of the prompt, for the ledger's reader and the benchmark.
    pub prompt_chars: usize,
}

impl Reply {
    /// A reply put together by code.
    pub fn plain(text: String) -> Self {
        Self { text, model: None, usage: TokenUsage::default(), prompt_chars: 0 }
    }
}

/// Why a turn has no reply.
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    #[error("cancelled")]
    Cancelled,
    #[error("there was nothing to say")]
    Nothing,
    #[error("{0}")]
    OutOfBudget(Refused),
    #[error("the model did not answer: {0}")]
    Model(ModelError),
    #[error("the turn called tools {MOST_CALLS} times without an answer")]
    TooManyCalls,
    #[error("it is paused")]
    Paused,
    #[error("persona {0} is not on the roster")]
    NoPersona(PersonaSlug),
    #[error("the store does not answer: {0}")]
    Store(#[from] StoreError),
}

impl TurnError {
    /// Why, in a few words that may stand in a chat: never a provider's own text.
    pub fn in_short(&self) -> String {
        match self {
            Self::Cancelled => "it was stopped".into(),
            Self::Nothing => "there was nothing to say".into(),
            Self::OutOfBudget(refused) => refused.to_string(),
            Self::Model(ModelError::Refused { .. } | ModelError::NoModel) => "the language model refused; its settings need a look".into(),
            Self::Model(ModelError::TimedOut { .. }) => "the language model took too long".into(),
            Self::Model(ModelError::Busy { .. }) => "the language model could not be reached".into(),
            Self::Model(_) => "the language model gave no usable answer".into(),
            Self::TooManyCalls => "it went round in circles".into(),
            Self::Paused => "it is paused".into(),
            Self::NoPersona(slug) => format!("{slug} is no longer on the team"),
            Self::Store(_) => "our store does not answer".into(),
        }
    }

    /// What the person who waits is told, with what to do.
    pub fn for_person(&self) -> String {
        let remedy = match self {
            Self::OutOfBudget(_) => "An operator can raise today's budget with `/costs raise`.",
            Self::Model(ModelError::Refused { .. } | ModelError::NoModel) => "`teamroom doctor` tells an operator what is wrong.",
            _ => "Please ask again in a few minutes.",
        };
        format!("No answer this time: {}. {remedy}", self.in_short())
    }
}

impl From<ModelError> for TurnError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Cancelled => Self::Cancelled,
            ModelError::Empty { .. } => Self::Nothing,
            ModelError::OutOfBudget(refused) => Self::OutOfBudget(refused),
            other => Self::Model(other),
        }
    }
}

/// A question that a persona's model puts to another persona.
pub struct AgentAsk<'a> {
    pub asker: &'a PersonaSlug,
    /// As the model wrote it.
    pub askee: &'a str,
    pub question: &'a str,
    pub path: &'a [PersonaSlug],
    pub message: &'a MessageId,
    pub chain: &'a ChainId,
    pub channel: &'a ChannelId,
}

/// Whoever carries questions between personas.
#[async_trait]
pub trait Colleagues: Send + Sync {
    /// The answer, or in words why there is none.
    async fn ask(&self, asked: &AgentAsk<'_>) -> String;
}
