//! Somebody is asked, and the answer is the result (WORK-6).

use async_trait::async_trait;
use chrono::TimeDelta;

use super::{Assignment, Outcome};
use crate::domain::ids::{ChainId, ChannelId, MessageId, PersonaSlug};
use crate::domain::message::{Channel, Place, Speaker};
use crate::domain::usage::Purpose;
use crate::domain::work::{Claim, JournalEntry, Owner, Product, Wait, WorkItem};
use crate::persona::retrieval::cut;
use crate::persona::turn::{AgentAsk, Colleagues, TurnError, TurnInput};
use crate::work::Work;

/// The most characters of an answer that stand for it on the board; the whole of it is in the journal.
const SUMMARY: usize = 240;

/// When a persona is asked again whose model did not answer.
const PAUSE: TimeDelta = TimeDelta::minutes(5);

impl Work {
    pub(in crate::work) async fn ask(&self, assignment: &Assignment<'_>, whom: &Owner, question: &str) -> anyhow::Result<Outcome> {
        match whom {
            // A person has all the time it wants; it is reminded and answers by button.
            Owner::Person { .. } => self.remind(assignment).await,
            Owner::Persona(askee) => self.ask_persona(assignment, askee, question).await,
        }
    }

    async fn ask_persona(&self, assignment: &Assignment<'_>, askee: &PersonaSlug, question: &str) -> anyhow::Result<Outcome> {
        let (parts, item) = (self.parts(), assignment.item);
        let journal = parts.store.list_journal(&item.id, item.run).await?;
        let answered = journal.into_iter().find_map(|(entry, at)| match entry {
            JournalEntry::Replied { text, model, .. } => Some((text, model, at)),
            _ => None,
        });
        let (text, model, at) = match answered {
            // It was answered before the process died.
            Some(answered) => answered,
            None => {
                let channel = self.find_channel(item).await?.unwrap_or_else(|| ChannelId::new("backlog"));
                let channel = Channel { id: channel, name: String::new(), place: Place::Server };
                let input = TurnInput {
                    persona: askee,
                    purpose: Purpose::Step,
                    subject: item.id.as_str(),
                    message: &MessageId::new(format!("work-{}", item.id)),
                    chain: &ChainId::new(format!("work-{}", item.id)),
                    channel: &channel,
                    asker: &Speaker::Persona(parts.roster.coordinator().slug.clone()),
                    through: None,
                    answered: &[],
                    question,
                    files: &[],
                    path: vec![askee.clone()],
                };
                let reply = match parts.performer.perform(&input, &Alone, assignment.cancel).await {
                    Ok(reply) => reply,
                    Err(error) => return self.turn_failed(item, error).await,
                };
                let now = parts.clock.now();
                let model = reply.model.unwrap_or_default();
                let entry = JournalEntry::Replied { text: reply.text.clone(), calls: Vec::new(), model: model.clone() };
                if !parts.store.append_journal(assignment.lease, item.run, &[entry], now).await? {
                    anyhow::bail!("somebody else holds the item by now");
                }
                (reply.text, model, now)
            }
        };
        let by = parts.roster.name_of(askee).to_owned();
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let summary = format!("{by}: {}", cut(&line, SUMMARY));
        let model = Some(model).filter(|model| !model.is_empty());
        Ok(Outcome::Made(Product { summary, claims: vec![Claim::Answer { by, text, at }], lesson: None, model }))
    }

    async fn turn_failed(&self, item: &WorkItem, error: TurnError) -> anyhow::Result<Outcome> {
        let parts = self.parts();
        let now = parts.clock.now();
        let why = error.in_short();
        Ok(match error {
            TurnError::Cancelled => anyhow::bail!("it was interrupted"),
            TurnError::Store(error) => return Err(error.into()),
            TurnError::OutOfBudget(refused) => {
                let day = refused.limit.ends_with_the_day().then(|| now.date_naive());
                let outbox = self.say(item, |voice| voice.ask_budget(item, &why, parts.step)).await?;
                Outcome::Waits { wait: Wait::Budget { limit: why, day }, outbox }
            }
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
