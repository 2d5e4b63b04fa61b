//! Lets a persona at work on a step send a message to another one (OVER-8). A question is answered by one call of the colleague's model, and the run of
//! the sender goes on with the answer. Anything else becomes a wish for the plan, see [`changing`](super::changing).

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::features::backlog::model::{WorkItem, WorkKind, WorkStatus};
use crate::features::backlog::{Assignment, OfferTools};
use crate::features::mission::changing::Wish;
use crate::features::mission::follow::Follower;
use crate::features::mission::model::Mission;
use crate::features::mission::model::message::{self, ColleagueMessage, MessageKind};
use crate::features::mission::model::plan::MOST_CHANGES;
use crate::features::mission::store::post_message;
use crate::features::mission::{prompts, render};
use kernel::agent::prompt::PromptKind;
use kernel::agent::{CallError, Journal, JournalEntry, OwnTool, Progress, Reply, Run, RunError, Runner};
use kernel::chat::outbound::OutboundMessage;
use kernel::db::{Effect as _, StoreError};
use kernel::ids::{OutboxId, PersonaSlug};
use kernel::llm::ToolSpec;
use kernel::memory::Scope;
use kernel::money::Purpose;
use kernel::persona::Persona;
use kernel::tools::{ToolError, ToolOutput};

/// How long an answer is waited for.
const DEADLINE: Duration = Duration::from_mins(1);

const ANSWER_TOKENS: u32 = 1000;

/// Offers the tool to the steps of missions.
pub(super) struct Colleagues {
    pub(super) follower: Arc<Follower>,
}

impl OfferTools for Colleagues {
    fn offer<'a>(&'a self, of: &'a Assignment<'a>) -> Vec<Box<dyn OwnTool + 'a>> {
        if of.item.kind != WorkKind::Step {
            return Vec::new();
        }
        vec![Box::new(MessageColleague { follower: &self.follower, of })]
    }
}

struct MessageColleague<'a> {
    follower: &'a Follower,
    /// The step of the sender.
    of: &'a Assignment<'a>,
}

#[async_trait]
impl OwnTool for MessageColleague<'_> {
    fn spec(&self) -> ToolSpec {
        message::spec(&self.of.persona.slug, &self.follower.roster)
    }

    async fn call(&self, arguments: &Value, progress: &Progress) -> Result<ToolOutput, CallError> {
        let (Follower { store, roster, .. }, Assignment { item, persona, .. }) = (self.follower, self.of);
        let journal = store.list_journal(&item.id, item.run).await?;
        let journal: Vec<JournalEntry> = journal.into_iter().map(|(entry, _)| entry).collect();
        let earlier = message::list_sent(&journal, &persona.slug, roster);
        let message = message::read(arguments, &persona.slug, roster, &earlier).map_err(ToolError::Refused)?;
        let Some(receiver) = roster.find(&message.to) else {
            return Err(ToolError::Refused("Not sent: the colleague has left the team. Go on with what you know.".into()).into());
        };
        let mission = match &item.parent {
            Some(mission) => store.find_mission(mission).await?,
            None => None,
        };
        let Some(mission) = mission else {
            return Err(ToolError::Refused("Not sent: the mission is gone. Go on with what you know.".into()).into());
        };
        let sent = Sent { mission: &mission, message: &message, receiver, call: progress.calls() };
        let text = match message.kind {
            MessageKind::Question => Box::pin(self.ask(&sent)).await?,
            _ => self.tell(&sent).await?,
        };
        // A step has text from outside in its prompt, so a question and its answer may quote it.
        Ok(ToolOutput { text, outside: message.kind == MessageKind::Question, trace: None })
    }
}

/// A message that may be sent.
struct Sent<'a> {
    mission: &'a Mission,
    message: &'a ColleagueMessage,
    receiver: &'a Persona,
    /// The number of the call in the sender's run, which is the same after a crash.
    call: usize,
}

impl MessageColleague<'_> {
    /// The answer, or why there is none. It is journaled, then posted, and only then the sender goes on, so that a crash repeats nothing.
    async fn ask(&self, sent: &Sent<'_>) -> Result<String, CallError> {
        let Sent { mission, message, receiver, .. } = *sent;
        let Runner { clock, models, .. } = &self.follower.agents.runner;
        let limit = models.limit((receiver.tier, Purpose::Step), DEADLINE);
        let journal = AnswerJournal { of: self.of, follower: self.follower, colleague: &receiver.slug, call: sent.call };
        let deadline = self.of.cancel.child_token();
        let answered = {
            let mut answer = pin!(self.answer(sent, &journal, &deadline));
            tokio::select! {
                answered = &mut answer => answered,
                () = clock.sleep(limit) => {
                    // Cancelled instead of dropped, so that the call is settled.
                    deadline.cancel();
                    answer.await
                }
            }
        };
        let (text, is_answer) = match answered {
            // A reply without a model was written by code, because there was no answer before a crash.
            Ok(reply) => (reply.text, reply.model.is_some()),
            Err(error @ (RunError::Lost | RunError::Store(_))) => return Err(error.into()),
            Err(error) if self.of.cancel.is_cancelled() => return Err(error.into()),
            Err(error) => {
                let why = if deadline.is_cancelled() { "there was none in time".to_owned() } else { error.in_short() };
                tracing::info!(step = %self.of.item.id, to = %receiver.slug, why, "a colleague gave no answer");
                let text = format!("No answer from {}: {why}.", receiver.name);
                let given = JournalEntry::Replied { text: text.clone(), calls: Vec::new(), model: String::new() };
                if !journal.append(&[given], clock.now()).await? {
                    return Err(RunError::Lost.into());
                }
                (text, false)
            }
        };
        let posted =
            OutboundMessage { id: self.message_id(sent), ..render::exchange(mission, message, Some(&text), &self.follower.roster) };
        let mut transaction = self.follower.store.db().begin().await?;
        post_message(&mut transaction, mission, (&posted, &self.of.persona.slug), clock.now()).await?;
        transaction.commit().await?;
        Ok(if is_answer {
            format!("{} answers:\n{text}", receiver.name)
        } else {
            format!("{text} Go on with an assumption, and say so in the result.")
        })
    }

    /// One call of the colleague, without tools. If the journal has an answer, that one.
    async fn answer(&self, sent: &Sent<'_>, journal: &AnswerJournal<'_>, cancel: &CancellationToken) -> Result<Reply, RunError> {
        let Sent { mission, message, receiver, .. } = *sent;
        let Follower { store, agents, roster, .. } = self.follower;
        if store.is_paused(&receiver.slug).await? && journal.read().await?.is_empty() {
            return Err(RunError::Paused);
        }
        let items = mission.current(store.list_parts(&mission.id).await?);
        let mut results = Vec::new();
        for item in items.iter().filter(|item| item.persona.as_ref() == Some(&receiver.slug) && item.status == WorkStatus::Done) {
            results.push((item, store.read_artefacts(&item.id).await?));
        }
        let read = agents.readings.read(&receiver.slug).await;
        let passages = agents.find_passages(&read, &message.text, &Scope::private(self.of.item.private_to.clone())).await?;
        let material = prompts::Known { step: self.of.item, results: &results, feeds: &read.reports, passages: &passages };
        let tokens = agents.prompt_tokens(receiver.tier);
        let frame = prompts::Frame { system: agents.system_prompt(receiver, PromptKind::Judgement), roster, mission, tokens };
        let prompt = prompts::colleague(frame, message, &material);
        let run = Run::new(receiver, (Purpose::Step, self.of.item.id.as_str()), prompt, ANSWER_TOKENS, cancel);
        agents.run(Run { journal: Some(journal), ..run }).await
    }

    /// One transaction: the message in the thread, and the job that looks at what it changes.
    async fn tell(&self, sent: &Sent<'_>) -> Result<String, CallError> {
        let Sent { mission, message, receiver, .. } = *sent;
        let Follower { store, agents, roster, .. } = self.follower;
        let now = agents.runner.clock.now();
        let posted = OutboundMessage { id: self.message_id(sent), ..render::exchange(mission, message, None, roster) };
        let wish = Wish {
            mission: mission.id.clone(),
            by: self.of.persona.name.clone(),
            text: message.text.clone(),
            message: None,
            colleague: Some(message.clone()),
            is_told: false,
        };
        let mut transaction = store.db().begin().await?;
        if !self.of.job.hold(&mut transaction).await? {
            return Err(RunError::Lost.into());
        }
        // False: it was sent before a crash.
        if post_message(&mut transaction, mission, (&posted, &self.of.persona.slug), now).await? {
            wish.apply(&mut transaction, now).await?;
        }
        transaction.commit().await?;
        let is_final = mission.plan.as_ref().is_some_and(|plan| plan.count_changes(true) >= MOST_CHANGES);
        Ok(match message.kind {
            MessageKind::HandOver => format!("Sent. The next step of {} gets it. Go on with your own step.", receiver.name),
            _ if is_final => "Sent. The plan was changed as often as it can be, so it stays as it is. Go on with your own step.".to_owned(),
            _ => "Sent. Whether the plan changes is decided apart from you. Go on with your own step.".to_owned(),
        })
    }

    fn message_id(&self, sent: &Sent<'_>) -> OutboxId {
        let WorkItem { id, run, .. } = self.of.item;
        sent.mission.message_id(&format!("message-{id}-{run}-{}", sent.call))
    }
}

/// The steps of a colleague's answer, in the journal of the run that asks.
struct AnswerJournal<'a> {
    of: &'a Assignment<'a>,
    follower: &'a Follower,
    colleague: &'a PersonaSlug,
    call: usize,
}

#[async_trait]
impl Journal for AnswerJournal<'_> {
    async fn read(&self) -> Result<Vec<(JournalEntry, DateTime<Utc>)>, StoreError> {
        let entries = self.follower.store.list_journal(&self.of.item.id, self.of.item.run).await?;
        let own = entries.into_iter().filter_map(|(entry, at)| match entry {
            JournalEntry::Consulted { call, entry, .. } if call == self.call => Some((*entry, at)),
            _ => None,
        });
        Ok(own.collect())
    }

    async fn append(&self, entries: &[JournalEntry], at: DateTime<Utc>) -> Result<bool, StoreError> {
        let consulted = |entry: &JournalEntry| JournalEntry::Consulted {
            colleague: self.colleague.clone(),
            call: self.call,
            entry: Box::new(entry.clone()),
        };
        let entries: Vec<JournalEntry> = entries.iter().map(consulted).collect();
        self.follower.store.append_journal(self.of.job, self.of.item, &entries, at).await
    }
}
