//! One persona asks another. The row of the ask is stored before the ask is sent and stays open until the answer is delivered. A deadline or a crash
//! therefore loses no answer. An answer after the deadline is delivered by a job (`late`).

use anyhow::Context;
use async_trait::async_trait;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::Instrument as _;

use crate::features::chat::channel::answering::Ending;
use crate::features::chat::model::ask::may_ask;
use crate::features::chat::model::decision::Block;
use crate::features::chat::store::{AskUpdate, Blocked};
use crate::features::chat::{Conversation, Running};
use kernel::agent::ask::{Ask, AskState};
use kernel::agent::{Colleagues, InChat, Question, Refers, Reply, RunError};
use kernel::chat::message::Speaker;
use kernel::ids::{AskId, ChainId, ChannelId, MessageId, PersonaSlug, TurnId};
use kernel::memory::{MemorySource, Scope};
use kernel::money::Purpose;
use kernel::tools::ToolError;

/// Where a persona's question to another one comes from.
pub(crate) struct AskOrigin<'a> {
    pub(crate) conversation: &'a Conversation,
    pub(crate) asker: &'a PersonaSlug,
    pub(crate) message: &'a MessageId,
    pub(crate) chain: &'a ChainId,
    pub(crate) channel: &'a ChannelId,
    /// Every persona from the person's message to the asker. The asker is last.
    pub(crate) path: Vec<PersonaSlug>,
}

/// A persona that was asked and is answering. Ends when it is dropped.
pub(crate) struct Asked {
    pub(crate) answer: JoinHandle<Result<Reply, RunError>>,
    _guard: DropGuard,
}

/// The state of an ask at its deadline.
pub(crate) enum Outcome {
    Answered(String),
    /// The deadline passed. The answer is still expected and will be delivered.
    NoReply,
    Failed(String),
}

impl Outcome {
    /// None while the answer is awaited.
    fn of(ask: &Ask) -> Option<Self> {
        match ask.state {
            AskState::Asked => None,
            AskState::Answered | AskState::Late => Some(Self::Answered(ask.answer.clone().unwrap_or_default())),
            AskState::Expired => Some(Self::NoReply),
            AskState::Failed => Some(Self::Failed("it was stopped".into())),
        }
    }
}

impl Conversation {
    /// Runs the turn of a persona that was told to ask another. Sends the ask and relays the answer, or says that none came.
    pub(crate) async fn ask_and_relay(&self, ask: &AskId, cancel: &CancellationToken) -> Ending {
        let ask = match self.deps().store.find_ask(ask).await {
            Ok(Some(ask)) => ask,
            Ok(None) => return Ending::failed("the ask is gone", "I have lost track of whom to ask. Please say it again."),
            Err(error) => return Ending::from_result(Err(error.into()), true),
        };
        let name = self.deps().roster.name_of(&ask.askee).to_owned();
        let outcome = tokio::select! {
            outcome = self.put(&ask) => outcome,
            () = cancel.cancelled() => return Ending::from_result(Err(RunError::Cancelled), true),
        };
        match outcome {
            Ok(Outcome::Answered(answer)) => Ending::answered(Reply::plain(attribute(&name, &answer))),
            Ok(Outcome::NoReply) => Ending::failed(
                "no reply came in time",
                &format!(
                    "{name} has not answered in {} s. If an answer still comes, I pass it on.",
                    self.deps().chat.ask_timeout.as_secs()
                ),
            ),
            Ok(Outcome::Failed(why)) => Ending::failed(&why, &format!("{name} could not answer: {why}.")),
            Err(error) => {
                Ending::failed(&format!("{error:#}"), "I could not ask: our store does not answer. Please say it again in a minute.")
            }
        }
    }

    /// Sends an ask, also one that a dead process has sent, and waits until its deadline.
    pub(crate) async fn put(&self, ask: &Ask) -> anyhow::Result<Outcome> {
        if let Some(outcome) = Outcome::of(ask) {
            return Ok(outcome);
        }
        let mut asked = self.carry_out(ask.clone());
        let left = (ask.deadline - self.deps().clock.now()).to_std().unwrap_or_default();
        tokio::select! {
            result = &mut asked.answer => return self.settle(ask, result.context("the asked persona's task broke off")?).await,
            () = self.deps().clock.sleep(left) => {}
        }
        // Hands the running answer over to the job, which starts when the ask expires.
        self.late().insert(ask.id.clone(), asked);
        let store = &self.deps().store;
        if store.expire_ask(&ask.id, self.deps().clock.now()).await? {
            return Ok(Outcome::NoReply);
        }
        // The process was stopped, or another process took it for dead.
        self.late().remove(&ask.id);
        let settled = store.find_ask(&ask.id).await?.context("the ask is gone")?;
        Ok(Outcome::of(&settled).unwrap_or(Outcome::NoReply))
    }

    /// Lets the asked persona answer, in a task that can outlive the deadline.
    pub(crate) fn carry_out(&self, ask: Ask) -> Asked {
        let conversation = self.clone();
        let cancel = self.deps().kill.child_token();
        let guard = cancel.clone().drop_guard();
        let answering = async move {
            let key = TurnId::new(ask.id.as_str());
            let running = Running { channel: ask.channel.clone(), message: ask.message.clone(), cancel: cancel.clone() };
            conversation.running().insert(key.clone(), running);
            let result = conversation.answer_ask(&ask, &cancel).await;
            conversation.running().remove(&key);
            result
        };
        Asked { answer: self.deps().tasks.spawn(answering.in_current_span()), _guard: guard }
    }

    async fn answer_ask(&self, ask: &Ask, cancel: &CancellationToken) -> Result<Reply, RunError> {
        let store = &self.deps().store;
        let message = store.find_message(&ask.message).await?.map(|row| row.message);
        let refers = match &message {
            Some(message) => self.read_references(message).await?,
            None => Refers::default(),
        };
        // Without the message, only the channel's id is known.
        let scope = message.as_ref().map_or_else(|| Scope::private(Some(ask.channel.clone())), |message| Scope::of(&message.channel));
        let channel_name = message.map_or_else(String::new, |message| message.channel.name);
        let asker = Speaker::Persona(ask.asker.clone());
        let origin = AskOrigin {
            conversation: self,
            asker: &ask.askee,
            message: &ask.message,
            chain: &ask.chain,
            channel: &ask.channel,
            path: ask.path.iter().chain([&ask.askee]).cloned().collect(),
        };
        let request = Question {
            through: Some(&ask.asker),
            channel: Some(&ask.channel),
            channel_name: &channel_name,
            scope,
            answered: std::slice::from_ref(&ask.message),
            refers: Some(&refers),
            source: Some(MemorySource::Message(ask.message.clone())),
            colleagues: Some(&origin),
            allowance: Some(self.allowance(&ask.chain, ask.path.len())),
            in_chat: Some(InChat::default()),
            ..Question::new(&ask.askee, (Purpose::Ask, ask.id.as_str()), &asker, &ask.question)
        };
        self.deps().agents.answer(&request, cancel).await
    }

    /// Stores that an answer came in time, or that none comes.
    async fn settle(&self, ask: &Ask, result: Result<Reply, RunError>) -> anyhow::Result<Outcome> {
        let deps = self.deps();
        let now = deps.clock.now();
        match result {
            Ok(reply) => {
                let answered = AskUpdate { ask: &ask.id, state: AskState::Answered, answer: Some(&reply.text) };
                deps.store.settle_ask(&answered, &[], now).await?;
                Ok(Outcome::Answered(reply.text))
            }
            // The process is stopping. The row stays open, and the turn sends the ask again.
            Err(_) if deps.kill.is_cancelled() => Ok(Outcome::NoReply),
            Err(error) => {
                deps.store.settle_ask(&AskUpdate { ask: &ask.id, state: AskState::Failed, answer: None }, &[], now).await?;
                tracing::info!(ask = %ask.id, %error, "the asked persona did not answer");
                Ok(Outcome::Failed(error.in_short()))
            }
        }
    }

    /// Whether the guard allows this ask (CHAT-18): no cycle, not too deep, and within the turn limit of one person's message.
    async fn may_put(&self, ask: &Ask) -> anyhow::Result<Result<(), Block>> {
        let deps = self.deps();
        if self.inner.halts.is_halted_in(&ask.channel) || self.inner.halts.is_paused(&ask.askee) {
            return Ok(Err(Block::Halted));
        }
        if let Err(block) = may_ask(&ask.path, &ask.askee, deps.chat.ask_depth) {
            return Ok(Err(block));
        }
        let used = deps.store.count_chain_turns(&ask.chain).await?;
        Ok(if used >= deps.guard.chain { Err(Block::Chain) } else { Ok(()) })
    }

    async fn ask_for_model(&self, wanted: &AskOrigin<'_>, askee: &str, question: &str) -> anyhow::Result<Result<String, ToolError>> {
        let deps = self.deps();
        let askee = match deps.roster.resolve(askee) {
            Ok(askee) => askee,
            Err(unknown) => return Ok(Err(ToolError::Refused(format!("Not asked: {unknown}.")))),
        };
        let now = deps.clock.now();
        let ask = Ask {
            id: AskId::generate(),
            message: wanted.message.clone(),
            chain: wanted.chain.clone(),
            channel: wanted.channel.clone(),
            asker: wanted.asker.clone(),
            askee: askee.slug.clone(),
            question: question.to_owned(),
            path: wanted.path.clone(),
            state: AskState::Asked,
            answer: None,
            asked_at: now,
            deadline: now + deps.chat.ask_timeout,
        };
        if let Err(block) = self.may_put(&ask).await? {
            let from = Speaker::Persona(wanted.asker.clone());
            self.count_block(&Blocked { channel: wanted.channel, chain: wanted.chain, from: &from, to: &ask.askee, block, at: now }).await;
            return Ok(Err(ToolError::Refused(format!("Not asked ({block}): answer from what you know."))));
        }
        deps.store.record_ask(&ask).await?;
        Ok(match self.put(&ask).await? {
            Outcome::Answered(answer) => Ok(attribute(&askee.name, &answer)),
            Outcome::NoReply => {
                Err(ToolError::Failed(format!("{} has not answered in time. Say so; a late answer is posted by itself.", askee.name)))
            }
            Outcome::Failed(why) => Err(ToolError::Failed(format!("{} could not answer: {why}.", askee.name))),
        })
    }
}

#[async_trait]
impl Colleagues for AskOrigin<'_> {
    async fn ask(&self, askee: &str, question: &str) -> Result<String, ToolError> {
        self.conversation.ask_for_model(self, askee, question).await.unwrap_or_else(|error| {
            tracing::error!(error = format!("{error:#}"), "an ask could not be put");
            Err(ToolError::Failed("Not asked: the store does not answer.".into()))
        })
    }
}

pub(crate) fn attribute(name: &str, answer: &str) -> String {
    format!("**{name}** answers:\n{answer}")
}
