//! Who answers a message, and why.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use kernel::ids::PersonaSlug;

/// The one decision made for a message of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The personas that answer, in this order. Empty: nobody.
    pub responders: Vec<PersonaSlug>,
    pub reason: Reason,
    /// The first responder asks another persona this question and relays the answer.
    pub ask: Option<AskRequest>,
    /// Why a feature took the message, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<String>,
    /// The persona that would answer, if the rules cannot tell whether somebody should. A model is asked. Without its word the decision stays.
    #[serde(skip)]
    pub unsure: Option<PersonaSlug>,
    /// Another persona that may be meant, if the rules are unsure.
    #[serde(skip)]
    pub rival: Option<PersonaSlug>,
    /// Why a model says that the message wants an answer or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

impl Decision {
    /// The responders, and why they answer.
    pub fn by(responders: Vec<PersonaSlug>, reason: Reason) -> Self {
        Self { responders, reason, ask: None, taken: None, unsure: None, rival: None, because: None }
    }

    pub fn nobody(reason: Reason) -> Self {
        Self::by(Vec::new(), reason)
    }

    pub fn one(responder: PersonaSlug, reason: Reason) -> Self {
        Self::by(vec![responder], reason)
    }

    /// A feature takes the message; `why` says what for.
    pub fn taken(why: String) -> Self {
        Self { taken: Some(why), ..Self::nobody(Reason::Taken) }
    }

    /// Whether the message may be found again later. Only messages that the team listens to count, and no commands.
    pub fn is_remembered(&self) -> bool {
        let is_unheard = matches!(
            self.reason,
            Reason::Stop
                | Reason::ChannelNotAllowed
                | Reason::AuthorNotAllowed
                | Reason::Outsider
                | Reason::SharedChannel
                | Reason::DirectMessagesOff
                | Reason::ChannelIgnored
                | Reason::NotAPerson
                | Reason::Empty
                | Reason::NoAnswerWanted
                | Reason::Deleted
                | Reason::Taken
        );
        !is_unheard && self.taken.is_none()
    }

    /// The decision without words of the message, which was deleted.
    #[must_use]
    pub fn without_words(self) -> Self {
        let ask = self.ask.map(|ask| AskRequest { question: String::new(), ..ask });
        Self { ask, because: None, ..self }
    }

    /// Like [`Self::explain`], but without a model's words about the message.
    pub fn explain_without_words(&self) -> &str {
        self.taken.as_deref().unwrap_or_else(|| self.reason.explain())
    }

    /// One line for logs and `trace`.
    pub fn explain(&self) -> Cow<'_, str> {
        match (&self.taken, &self.because) {
            (Some(taken), _) => taken.into(),
            (None, Some(because)) => format!("{}; a model says: {because}", self.reason.explain()).into(),
            (None, None) => self.reason.explain().into(),
        }
    }
}

/// A parsed request such as "ask Vince what he thinks about SOL".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskRequest {
    /// The name as the person wrote it. It is resolved when the ask is carried out, so that an unknown name gets an answer too.
    pub askee: String,
    pub question: String,
}

/// Why a message got its responders, or none. The order is the order of the rules (CHAT-7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The person said stop.
    Stop,
    Halted,
    ChannelNotAllowed,
    AuthorNotAllowed,
    /// A guest, or somebody of another company, where the settings leave them out.
    Outsider,
    /// People of another company read the channel.
    SharedChannel,
    DirectMessagesOff,
    ChannelIgnored,
    /// A platform notice, or a foreign bot that is not listed or mentioned nobody.
    NotAPerson,
    Empty,
    /// Only an emoji, only thanks, or only agreement with an answer.
    NoAnswerWanted,
    /// It arrived while the process was down and is older than the limit.
    TooOld,
    Deleted,
    Standup,
    /// Another feature takes it: it starts a meeting, or is a report in one. Rows of earlier versions name the feature's action.
    #[serde(alias = "standup_called", alias = "standup_wrapped", alias = "standup_report")]
    Taken,
    Mentioned,
    Named,
    Reply,
    /// It mentions, names or replies to another person, or is an announcement.
    ForOthers,
    Thread,
    /// The author goes on talking to the persona that has just answered.
    FollowUp,
    Direct,
    Bound,
    ListenOnly,
    /// Addressed to the team as a whole.
    Team,
    /// A greeting to a room where nobody else speaks.
    Greeting,
    Question,
    Directive,
    /// Files or links in a knowledge channel.
    Knowledge,
    /// The rules were unsure, and a model says that it wants an answer.
    Weighed,
    /// No addressee, no question and no directive.
    Silence,
    /// One agent's answer addresses another.
    AgentMention,
}

impl Reason {
    /// Whether earlier messages may change the decision.
    pub fn depends_on_talk(self) -> bool {
        matches!(
            self,
            Self::Standup
                | Self::Reply
                | Self::Thread
                | Self::Bound
                | Self::ListenOnly
                | Self::Greeting
                | Self::Question
                | Self::Directive
                | Self::Silence
        )
    }

    /// One line for logs, `trace` and `/status`.
    pub fn explain(self) -> &'static str {
        match self {
            Self::Stop => "a person said stop",
            Self::Halted => "the team is halted here",
            Self::ChannelNotAllowed => "the channel is not on the allow list",
            Self::AuthorNotAllowed => "the author is not on the allow list",
            Self::Outsider => "the author is no member of the workspace",
            Self::SharedChannel => "another company reads this channel, and it is not on the allow list",
            Self::DirectMessagesOff => "direct messages are off",
            Self::ChannelIgnored => "the channel's kind is ignore",
            Self::NotAPerson => "the author is no person",
            Self::Empty => "there is nothing to read in it",
            Self::NoAnswerWanted => "only an emoji, thanks or agreement",
            Self::TooOld => "it is older than what is answered after a pause",
            Self::Deleted => "it was deleted",
            Self::Standup => "in a standup channel the coordinator answers what is asked or requested",
            Self::Taken => "another feature takes it",
            Self::Mentioned => "mentioned by account",
            Self::Named => "named first in the text",
            Self::Reply => "a reply to this persona's message",
            Self::ForOthers => "said to other people",
            Self::FollowUp => "goes on after this persona's answer",
            Self::Thread => "written in a thread on this persona's message",
            Self::Direct => "a direct message to this persona",
            Self::Bound => "the channel is bound to this persona",
            Self::ListenOnly => "the channel is listen only",
            Self::Team => "addressed to the team, so the coordinator",
            Self::Greeting => "a greeting to the room, so the coordinator",
            Self::Question => "a question to nobody in particular, so the coordinator",
            Self::Directive => "a directive to nobody in particular, so the coordinator",
            Self::Knowledge => "files or links in a knowledge channel, so the coordinator",
            Self::Weighed => "the rules are unsure",
            Self::Silence => "addressed to nobody",
            Self::AgentMention => "another persona addressed this one",
        }
    }
}

/// Why the guard kept an agent from answering an agent (CHAT-13).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Block {
    /// Agents are halted here until a person addresses one or resumes the channel.
    Halted,
    OwnMessage,
    EmptyOrStatus,
    /// Too many replies to the same sender among the last messages.
    SameSender,
    /// Too many agent messages in a row.
    AgentRun,
    /// The chain of one person's message has reached its limit.
    Chain,
    /// Too many messages between two agents within a minute.
    PairRate,
    PairCooldown,
    /// The text is nearly the same as a recent agent message.
    Repetition,
    /// An ask would form a cycle.
    AskedAlready,
    AskDepth,
    /// A person spoke, so agents stop.
    PersonSpoke,
    /// The guard could not read its input, so it blocks.
    Unknown,
}

impl Block {
    /// The name in metrics, `/status` and the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Halted => "halted",
            Self::OwnMessage => "own_message",
            Self::EmptyOrStatus => "empty_or_status",
            Self::SameSender => "same_sender",
            Self::AgentRun => "agent_run",
            Self::Chain => "chain",
            Self::PairRate => "pair_rate",
            Self::PairCooldown => "pair_cooldown",
            Self::Repetition => "repetition",
            Self::AskedAlready => "asked_already",
            Self::AskDepth => "ask_depth",
            Self::PersonSpoke => "person_spoke",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
