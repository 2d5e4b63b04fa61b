use chrono::{DateTime, TimeDelta, Utc};

use crate::features::backlog::Work;
use crate::features::backlog::executor::item_journal::ItemJournal;
use crate::features::backlog::executor::{Assignment, Outcome, failure};
use crate::features::backlog::given::name_files;
use crate::features::backlog::model::{Claim, Evidence, JournalEntry, NoAnswer, Owner, Product, Wait, WorkItem};
use crate::features::backlog::prompts::answer_check::{self, Answered};
use crate::features::backlog::render::Spot;
use kernel::agent::{AnswerVerdict, Journal as _, Question, Reply, RunError};
use kernel::chat::message::Speaker;
use kernel::chat::text::is_subtext;
use kernel::ids::PersonaSlug;
use kernel::jobs::JobError;
use kernel::llm::ModelError;
use kernel::memory::retrieval::cut;
use kernel::memory::{MemorySource, Scope};
use kernel::money::Purpose;

/// The most characters of an answer in the backlog. The journal has the whole text.
const SUMMARY: usize = 240;

/// The delay before another try to handle a person's answer.
const LATER: TimeDelta = TimeDelta::minutes(1);

impl Work {
    pub(crate) async fn ask(&self, assignment: &Assignment<'_>, whom: &Owner, question: &str) -> anyhow::Result<Outcome> {
        match whom {
            Owner::Person { .. } => match find_answer(assignment.item) {
                Some((by, text, at)) => self.take_word(assignment, question, (by, text, at)).await,
                None => self.remind(assignment).await,
            },
            Owner::Persona(askee) => self.ask_persona(assignment, askee, question).await,
        }
    }

    /// Takes a person's answer: a file, or words that a model accepts as an answer. If no model can judge the words, a person decides.
    async fn take_word(
        &self,
        assignment: &Assignment<'_>,
        question: &str,
        (by, text, at): (&str, &str, DateTime<Utc>),
    ) -> anyhow::Result<Outcome> {
        let made = made_by_person(by, text, at);
        let line = line_of(text);
        match self.judge_words(assignment, question, (text, at)).await? {
            Ok(Some(AnswerVerdict::DoesNotKnow | AnswerVerdict::Refuses)) => {
                Ok(Outcome::Waits(Wait::Decision { why: format!("{by} was asked, and does not know: {line}") }))
            }
            Ok(Some(AnswerVerdict::AsksBack)) => {
                Ok(Outcome::Waits(Wait::Decision { why: format!("{by} was asked, and asks back: {line}") }))
            }
            Ok(Some(_)) => Ok(Outcome::Made(made)),
            Ok(None) => self.leave_to_a_person(assignment, by, made).await,
            Err(later) => Ok(later),
        }
    }

    /// The verdict on a person's words. A file counts as an answer. None: no model can judge them. An error: the outcome until they can be judged.
    pub(super) async fn judge_words(
        &self,
        assignment: &Assignment<'_>,
        question: &str,
        (text, at): (&str, DateTime<Utc>),
    ) -> anyhow::Result<Result<Option<AnswerVerdict>, Outcome>> {
        let (deps, item) = (self.deps(), assignment.item);
        if let Err(error) = self.keep_files(item).await {
            tracing::warn!(item = %item.id, %error, "the files of an answer cannot be kept yet");
            return Ok(Err(Outcome::Later { at: deps.clock.now() + LATER, why: "the files of the answer could not be stored yet".into() }));
        }
        if item.evidence.iter().any(|found| matches!(found, Evidence::File { .. })) {
            return Ok(Ok(Some(AnswerVerdict::Answers)));
        }
        let began = deps.clock.now();
        let journal = ItemJournal::new(&deps.store, assignment);
        Ok(match self.judge_answer(assignment, &journal, Answered { question, answer: text }, at).await {
            Ok(verdict) => Ok(Some(verdict)),
            Err(
                RunError::Unusable { .. }
                | RunError::Nothing
                | RunError::Model(ModelError::NoModel | ModelError::Truncated { .. } | ModelError::AtLimit { .. }),
            ) => Ok(None),
            // Another attempt would ask the person again, so this one continues later.
            Err(error) => Err(match failure::outcome(error, journal.idle_before(began), deps.clock.now())? {
                Outcome::Failed { why, .. } => Outcome::Later { at: deps.clock.now() + LATER, why },
                outcome => outcome,
            }),
        })
    }

    /// Stores an answer that was not judged, so that a person may accept it.
    async fn leave_to_a_person(&self, assignment: &Assignment<'_>, by: &str, product: Product) -> anyhow::Result<Outcome> {
        let deps = self.deps();
        let said = product.summary.strip_prefix(by).unwrap_or(&product.summary);
        let why = format!("nobody could judge whether {by} answers the question{said}");
        anyhow::ensure!(deps.store.record_product(assignment.job, &product, deps.clock.now()).await?, JobError::LostLease);
        Ok(Outcome::Waits(Wait::Decision { why }))
    }

    /// Copies what a person gave into the workspace of the item.
    async fn keep_files(&self, item: &WorkItem) -> anyhow::Result<()> {
        let deps = self.deps();
        let files = deps.store.list_given_files(item).await?;
        if files.is_empty() {
            return Ok(());
        }
        let workspace = deps.workspaces.open(&item.id).await?;
        for (name, text) in name_files(&files) {
            workspace.write(&name, text.as_bytes()).await?;
        }
        Ok(())
    }

    async fn ask_persona(&self, assignment: &Assignment<'_>, askee: &PersonaSlug, question: &str) -> anyhow::Result<Outcome> {
        let (deps, item) = (self.deps(), assignment.item);
        let began = deps.clock.now();
        let spot = self.find_spot(item).await?;
        let coordinator = Speaker::Persona(deps.roster.coordinator().slug.clone());
        let journal = ItemJournal::new(&deps.store, assignment);
        let request = Question {
            channel: spot.as_ref().and_then(Spot::channel),
            source: Some(MemorySource::WorkItem(item.id.clone())),
            scope: Scope::private(item.private_to.clone()),
            journal: Some(&journal),
            ..Question::new(askee, (Purpose::Step, item.id.as_str()), &coordinator, question)
        };
        let reply = deps.agents.answer(&request, assignment.cancel).await;
        let Reply { text, model, verdict, .. } = match reply {
            Ok(reply) => reply,
            Err(error) => return failure::outcome(error, journal.idle_before(began), deps.clock.now()),
        };
        let at = journal.last().unwrap_or(began);
        // The footer of a composed answer does not belong in the summary.
        let line = text.lines().filter(|line| !is_subtext(line)).flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
        let line = cut(&line, SUMMARY);
        let by = deps.roster.name_of(askee).to_owned();
        let verdict = match verdict {
            Some(verdict) => verdict,
            None => match self.judge_answer(assignment, &journal, Answered { question, answer: &text }, DateTime::UNIX_EPOCH).await {
                Ok(verdict) => verdict,
                // An answer that cannot be judged does not count. A person decides.
                Err(
                    RunError::Unusable { .. }
                    | RunError::Nothing
                    | RunError::Model(ModelError::NoModel | ModelError::Truncated { .. } | ModelError::AtLimit { .. }),
                ) => return self.leave_to_a_person(assignment, &by, made(by.clone(), text, &line, at, model)).await,
                Err(error) => return failure::outcome(error, journal.idle_before(began), deps.clock.now()),
            },
        };
        if matches!(verdict, AnswerVerdict::DoesNotKnow | AnswerVerdict::Refuses | AnswerVerdict::AsksBack) {
            return Ok(Outcome::Unanswered(NoAnswer { by: askee.clone(), verdict, said: line }));
        }
        Ok(Outcome::Made(made(by, text, &line, at, model)))
    }

    /// Lets a model that does not know the author judge a reply, once. A stored verdict is used again only if it is newer than the reply, because a
    /// person may help after a persona did not know.
    async fn judge_answer(
        &self,
        assignment: &Assignment<'_>,
        journal: &ItemJournal<'_>,
        answered: Answered<'_>,
        replied_at: DateTime<Utc>,
    ) -> Result<AnswerVerdict, RunError> {
        if let Some((JournalEntry::Judged { verdict, .. }, judged_at)) = journal.read().await?.last()
            && *judged_at > replied_at
        {
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

/// The answer of a person to this run of an item.
pub(super) fn find_answer(item: &WorkItem) -> Option<(&str, &str, DateTime<Utc>)> {
    item.evidence.iter().rev().find_map(|found| match found {
        Evidence::Answer { by, text, at } => Some((by.as_str(), text.as_str(), *at)),
        _ => None,
    })
}

/// What came of a person's answer.
pub(super) fn made_by_person(by: &str, text: &str, at: DateTime<Utc>) -> Product {
    made(by.to_owned(), text.to_owned(), &line_of(text), at, None)
}

fn line_of(text: &str) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), SUMMARY)
}

fn made(by: String, text: String, line: &str, at: DateTime<Utc>, model: Option<String>) -> Product {
    Product { summary: format!("{by}: {line}"), claims: vec![Claim::Answer { by, text, at }], model, ..Product::default() }
}
