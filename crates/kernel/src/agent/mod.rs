//! Agent runs. [`Agents::answer`] answers a question in text. [`Agents::run`] runs any prompt; all model calls go through it.

mod answer;
pub mod ask;
mod ask_tool;
pub mod budget;
pub mod context;
pub mod documents;
pub mod files;
pub mod findings;
pub mod halts;
mod journal;
mod names;
pub mod offline;
pub mod prompt;
mod readings;
mod run;
mod surroundings;
pub mod turn;
mod verdict;

pub use answer::{Agents, Question, SpeechAct};
pub use ask_tool::Colleagues;
pub use journal::{Journal, JournalEntry};
pub use names::with_names;
pub use readings::{FeedValues, FeedsRead, NoSuchFeed, PageEntry, Readings};
pub use run::{
    Approvals, CallError, Consent, InChat, LazyPrompt, Limits, Offer, OwnTool, Progress, Prompt, Reply, Run, Runner, Tools, addresses_in,
    list_fitting,
};
pub use surroundings::{NamedText, PlaceNote, Refers};
pub use verdict::AnswerVerdict;

use chrono::{DateTime, Utc};

use crate::db::StoreError;
use crate::ids::{ApprovalId, PersonaSlug};
use crate::llm::{Cause, ModelError};
use crate::money::Refused;

/// Why a run has no reply.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("cancelled")]
    Cancelled,
    #[error("there was nothing to say")]
    Nothing,
    #[error("{0}")]
    OutOfBudget(Refused),
    /// One message has used up the model calls that it may pay for.
    #[error("the {0} model calls for one message are used up")]
    OutOfCalls(u32),
    #[error("the model did not answer: {0}")]
    Model(ModelError),
    /// The structured answer was invalid twice.
    #[error("{provider} gave no usable value in two answers: {reason}")]
    Unusable { provider: String, reason: String },
    #[error("the language model called tools {calls} times without finishing")]
    TooManyCalls { calls: usize },
    #[error("the language model made the same calls {times} times ({tools}) and learnt nothing new from them")]
    Stuck { times: usize, tools: String },
    /// The run continues once a person has decided.
    #[error("a person has to approve a call first")]
    NeedsApproval(ApprovalId),
    /// The run continues at that time.
    #[error("{why}")]
    NotYet { at: DateTime<Utc>, why: String },
    #[error("another worker holds the run")]
    Lost,
    #[error("it is paused")]
    Paused,
    #[error("persona {0} is not on the roster")]
    NoPersona(PersonaSlug),
    #[error("the database does not respond: {0}")]
    Store(#[from] StoreError),
}

impl RunError {
    /// A short reason that is safe to post. Quotes a provider only for why it declined to answer.
    pub fn in_short(&self) -> String {
        match self {
            Self::Cancelled => "it was stopped".into(),
            Self::Nothing => "there was nothing to say".into(),
            Self::OutOfBudget(refused) => refused.to_string(),
            Self::OutOfCalls(calls) => format!("it took more than the {calls} model calls that one message may use"),
            Self::Model(ModelError::NoModel) => "no language model is connected".into(),
            Self::Model(ModelError::TimedOut { .. }) => "the language model took too long".into(),
            Self::Model(ModelError::Busy { provider, cause, .. } | ModelError::Refused { provider, cause, .. }) => cause.in_words(provider),
            Self::Model(error @ ModelError::Declined { .. }) => error.to_string(),
            Self::Model(ModelError::AtLimit { .. }) => "the answer of the language model was cut off at its limit of length".into(),
            Self::Model(_) | Self::Unusable { .. } => "the language model gave no valid answer".into(),
            Self::NeedsApproval(_) => "a person has to approve something first".into(),
            Self::NotYet { why, .. } => why.clone(),
            Self::Lost => "another worker took over".into(),
            Self::TooManyCalls { .. } | Self::Stuck { .. } => "it got stuck in a loop".into(),
            Self::Paused => "it is paused".into(),
            Self::NoPersona(slug) => format!("{slug} is no longer on the team"),
            Self::Store(_) => "the database does not respond".into(),
        }
    }

    /// What the waiting person or an operator can do.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NotYet { .. } => "Please ask again then.",
            Self::OutOfBudget(_) => "An operator can raise today's budget with `/costs raise`.",
            Self::OutOfCalls(_) | Self::Model(ModelError::AtLimit { .. }) => "Please ask for less at once.",
            Self::Model(ModelError::NoModel) => Cause::Other.remedy(),
            Self::Model(ModelError::Busy { cause: Cause::Other, .. }) => "Please ask again in a few minutes.",
            Self::Model(error) => error.cause().map_or("Please ask again in a few minutes.", Cause::remedy),
            _ => "Please ask again in a few minutes.",
        }
    }

    /// A message for the waiting person, with what to do.
    pub fn for_person(&self) -> String {
        let why = match self {
            Self::OutOfBudget(refused) => refused.in_own_words(),
            Self::Nothing => "the language model gave an empty answer".into(),
            error => error.in_short(),
        };
        format!("No answer this time: {why}. {}", self.remedy())
    }

    /// Whether no model answered at all. A blocked or cut-off answer, or a prompt that is too long, is no outage.
    pub fn is_outage(&self) -> bool {
        match self {
            Self::Model(ModelError::Ledger(_) | ModelError::Cancelled | ModelError::AtLimit { .. }) => false,
            Self::Model(error) => !matches!(error.cause(), Some(Cause::Filter | Cause::ContextLength)),
            Self::NotYet { .. } => true,
            _ => false,
        }
    }
}

impl From<ModelError> for RunError {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Cancelled => Self::Cancelled,
            ModelError::Empty { .. } => Self::Nothing,
            ModelError::OutOfBudget(refused) => Self::OutOfBudget(refused),
            ModelError::OutOfCalls(calls) => Self::OutOfCalls(calls),
            other => Self::Model(other),
        }
    }
}
