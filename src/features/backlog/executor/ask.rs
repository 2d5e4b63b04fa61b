use chrono::{DateTime, Utc};

use crate::features::backlog::Work;
use crate::features::backlog::executor::item_journal::ItemJournal;
use crate::features::backlog::executor::{Assignment, Outcome, failure};
use crate::features::backlog::model::{Claim, JournalEntry, NoAnswer, Owner, Product, Wait};
use crate::features::backlog::prompts::answer_check::{self, Answered};
use kernel::agent::{AnswerVerdict, Journal as _, Question, Reply, RunError};
use kernel::chat::message::Speaker;
use kernel::chat::text::is_subtext;
use kernel::ids::PersonaSlug;
use kernel::jobs::JobError;
use kernel::llm::ModelError;
use kernel::memory::MemorySource;
use kernel::memory::retrieval::cut;
use kernel::money::Purpose;

/// The most characters of an answer in the backlog. The journal has the whole text.
const SUMMARY: usize = 240;

impl Work {
    pub(crate) async fn ask(&self, assignment: &Assignment<'_>, whom: &Owner, question: &str) -> anyhow::Result<Outcome> {
        match whom {
            // A person is reminded, and answers with a command or a button.
            Owner::Person { .. } => self.remind(assignment).await,
            Owner::Persona(askee) => self.ask_persona(assignment, askee, question).await,
        }
    }

    async fn ask_persona(&self, assignment: &Assignment<'_>, askee: &PersonaSlug, question: &str) -> anyhow::Result<Outcome> {
        let (deps, item) = (self.deps(), assignment.item);
        let began = deps.clock.now();
        let channel = self.find_channel(item).await?;
        let coordinator = Speaker::Persona(deps.roster.coordinator().slug.clone());
        let journal = ItemJournal::new(&deps.store, assignment);
        let request = Question {
            channel: channel.as_ref(),
            source: Some(MemorySource::WorkItem(item.id.clone())),
            journal: Some(&journal),
            ..Question::new(askee, (Purpose::Step, item.id.as_str()), &coordinator, question)
        };
        let reply = deps.agents.answer(&request, assignment.cancel).await;
        let Reply { text, model, verdict, .. } = match reply {
            Ok(reply) => reply,
            Err(error) => return failure::outcome(error, journal.idle_before(began), deps.clock.now()),
        };
        let at = journal.last().unwrap_or(began);
        // The footer of a composed answer does not belong into the summary.
        let line = text.lines().filter(|line| !is_subtext(line)).flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
        let line = cut(&line, SUMMARY);
        let by = deps.roster.name_of(askee).to_owned();
        let verdict = match verdict {
            Some(verdict) => verdict,
            None => match self.judge_answer(assignment, &journal, Answered { question, answer: &text }).await {
                Ok(verdict) => verdict,
                // What cannot be judged does not count, and a person has the last word.
                Err(
                    RunError::Unusable { .. } | RunError::Nothing | RunError::Model(ModelError::NoModel | ModelError::Truncated { .. }),
                ) => {
                    let why = format!("nobody could judge whether {by} answers the question: {line}");
                    let product = made(by, text, &line, at, model);
                    // A person may accept it.
                    anyhow::ensure!(deps.store.record_product(assignment.job, &product, deps.clock.now()).await?, JobError::LostLease);
                    return Ok(Outcome::Waits(Wait::Decision { why }));
                }
                Err(error) => return failure::outcome(error, journal.idle_before(began), deps.clock.now()),
            },
        };
        if matches!(verdict, AnswerVerdict::DoesNotKnow | AnswerVerdict::Refuses) {
            return Ok(Outcome::Unanswered(NoAnswer { by: askee.clone(), verdict, said: line }));
        }
        Ok(Outcome::Made(made(by, text, &line, at, model)))
    }

    /// Has the last reply of a journal judged, once, by a model that knows nothing of its author. The verdict of an earlier try is used again.
    async fn judge_answer(
        &self,
        assignment: &Assignment<'_>,
        journal: &ItemJournal<'_>,
        answered: Answered<'_>,
    ) -> Result<AnswerVerdict, RunError> {
        if let Some((JournalEntry::Judged { verdict, .. }, _)) = journal.read().await?.last() {
            return Ok(*verdict);
        }
        let agents = &self.deps().agents;
        let (verdict, model) = answer_check::check(agents, assignment.item, answered, assignment.cancel).await?;
        let judged = JournalEntry::Judged { verdict, model };
        if !journal.append(&[judged], self.deps().clock.now()).await? {
            return Err(RunError::Lost);
        }
        Ok(verdict)
    }
}

fn made(by: String, text: String, line: &str, at: DateTime<Utc>, model: Option<String>) -> Product {
    Product { summary: format!("{by}: {line}"), claims: vec![Claim::Answer { by, text, at }], lesson: None, model }
}
