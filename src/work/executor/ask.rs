//! Somebody is asked, and the answer is the result (WORK-6).

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};

use super::{Assignment, Outcome};
use crate::domain::ids::{ChainId, ChannelId, MessageId, PersonaSlug};
use crate::domain::message::{Channel, Place, Speaker};
use crate::domain::usage::Purpose;
use crate::domain::work::{Claim, JournalEntry, Owner, Product, Wait, WorkItem};
use crate::persona::retrieval::cut;
use crate::persona::turn::{AgentAsk, Colleagues, Reply, TurnError, TurnInput};
use crate::store::StoreError;
use crate::work::Work;

/// The most characters of an answer that stand for it on the board; the whole of it is in the journal.
const SUMMARY: usize = 240;

/// What a persona said, and when.
struct Answered {
    text: String,
    /// `provider/model`; none when no model had part in it.
    model: Option<String>,
    at: DateTime<Utc>,
}

/// When a persona is asked again whose model did not answer.
const PAUSE: TimeDelta = TimeDelta::minutes(1);

impl Work {
    pub(in crate::work) async fn ask(&self, assignment: &Assignment<'_>, whom: &Owner, question: &str) -> anyhow::Result<Outcome> {
        match whom {
            // A person has all the time it wants; it is reminded and answers by button.
            Owner::Person { .. } => self.remind(assignment).await,
            Owner::Persona(askee) => self.ask_persona(assignment, askee, question).await,
        }
    }

    async fn ask_persona(&self, assignment: &Assignment<'_>, askee: &PersonaSlug, question: &str) -> anyhow::Result<Outcome> {
        let answered = match self.find_answer(assignment.item).await? {
            // It was answered before the process died.
            Some(answered) => answered,
            None => match self.hear(assignment, askee, question).await {
                Ok(answered) => answered?,
                Err(error) => return self.turn_failed(error),
            },
        };
        let Answered { text, model, at } = answered;
        let by = self.parts().roster.name_of(askee).to_owned();
        // Small print on how an answer came about is for whoever reads all of it.
        let line = text.lines().filter(|line| !line.starts_with("-#")).flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
        let summary = format!("{by}: {}", cut(&line, SUMMARY));
        Ok(Outcome::Made(Product { summary, claims: vec![Claim::Answer { by, text, at }], lesson: None, model }))
    }

    async fn find_answer(&self, item: &WorkItem) -> Result<Option<Answered>, StoreError> {
        let journal = self.parts().store.list_journal(&item.id, item.run).await?;
        Ok(journal.into_iter().find_map(|(entry, at)| match entry {
            JournalEntry::Replied { text, model, .. } => Some(Answered { text, model: Some(model).filter(|model| !model.is_empty()), at }),
            _ => None,
        }))
    }

    /// Asks, and stores the answer before anything rests on it.
    async fn hear(&self, assignment: &Assignment<'_>, askee: &PersonaSlug, question: &str) -> Result<anyhow::Result<Answered>, TurnError> {
        let (parts, item) = (self.parts(), assignment.item);
        let channel = self.find_channel(item).await?.unwrap_or_else(|| ChannelId::new("backlog"));
        let input = TurnInput {
            persona: askee,
            purpose: Purpose::Step,
            subject: item.id.as_str(),
            message: &MessageId::new(format!("work-{}", item.id)),
            chain: &ChainId::new(format!("work-{}", item.id)),
            channel: &Channel { id: channel, name: String::new(), place: Place::Server },
            asker: &Speaker::Persona(parts.roster.coordinator().slug.clone()),
            through: None,
            answered: &[],
            question,
            files: &[],
            path: vec![askee.clone()],
        };
        let Reply { text, model, .. } = parts.performer.perform(&input, &Alone, assignment.cancel).await?;
        let at = parts.clock.now();
        let entry = JournalEntry::Replied { text: text.clone(), calls: Vec::new(), model: model.clone().unwrap_or_default() };
        if !parts.store.append_journal(assignment.lease, item.run, &[entry], at).await? {
            return Ok(Err(anyhow::anyhow!("somebody else holds the item by now")));
        }
        Ok(Ok(Answered { text, model, at }))
    }

    fn turn_failed(&self, error: TurnError) -> anyhow::Result<Outcome> {
        let now = self.parts().clock.now();
        let why = error.in_short();
        Ok(match error {
            TurnError::Cancelled => anyhow::bail!("it was interrupted"),
            TurnError::Store(error) => return Err(error.into()),
            TurnError::OutOfBudget(refused) => Outcome::Waits(Wait::for_budget(refused, now)),
            // The model may answer in a while, and nothing was done yet that would be lost.
            TurnError::Model(_) => Outcome::Later { at: now + PAUSE, why },
            _ => Outcome::Failed { why },
        })
    }
}

/// In a run nobody passes a question on: the answer is wanted of the one that was asked.
struct Alone;

#[async_trait]
impl Colleagues for Alone {
    async fn ask(&self, _asked: &AgentAsk<'_>) -> String {
        "Not asked: this question is for you alone.".into()
    }
}
