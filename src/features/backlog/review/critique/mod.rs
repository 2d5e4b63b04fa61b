//! What an author thinks of its work before it hands it in (WORK-17), and the questions into which it divides a matter before it looks for
//! answers (WORK-16). Both are calls of a cheap model, apart from the author's own run, and journaled with it.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::features::backlog::executor::Assignment;
use crate::features::backlog::model::{Critique, Evidence, JournalEntry, WorkItem, criteria};
use crate::features::backlog::prompts::critique as template;
use crate::features::backlog::review::material::{ForReview, Shown};
use crate::features::backlog::review::verdict::{GivenGrade, GivenVerdict, read_verdict};
use crate::features::backlog::review::{Found, GraderJournal};
use crate::store::Store;
use kernel::agent::budget::{Part, Rank, fit};
use kernel::agent::context::{Cleaner, new_marker};
use kernel::agent::prompt::{Block, PromptKind, render_system};
use kernel::agent::{Agents, Prompt, Run};
use kernel::llm::structured::parse_answer;
use kernel::money::Purpose;
use kernel::persona::{Persona, Tier};
use kernel::text::one_line;
use kernel::tools::workspace::{MOST_FILE_BYTES, Workspaces};
use kernel::tools::{CallStatus, Trace};

/// The lowest score that a lead accepts.
const ACCEPTED: u8 = 3;

/// How often an author improves its work before a colleague sees it.
const REVISIONS: usize = 2;

/// What a fault begins with that names a question without an answer.
pub(crate) const UNANSWERED: &str = "no answer yet: ";

/// The most questions, and the most characters of one and of a reason.
const QUESTIONS: usize = 5;
const QUESTION: usize = 400;
const REASON: usize = 1000;

const CRITIQUE_TOKENS: u32 = 2000;
const QUESTION_TOKENS: u32 = 600;

/// The round of the journal in which the matter is divided. Critiques have higher rounds.
const DIVIDED: u32 = 0;

#[derive(Debug, Default, Deserialize, JsonSchema)]
struct GivenQuestions {
    questions: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct GivenCritique {
    depth: GivenScore,
    accuracy: GivenScore,
    actionability: GivenScore,
    completeness: GivenScore,
    grades: Vec<GivenGrade>,
    /// The questions that have no answer yet.
    #[serde(default)]
    open: Vec<OpenQuestion>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct GivenScore {
    /// From 1 to 5.
    #[serde(deserialize_with = "read_score")]
    #[schemars(range(min = 1, max = 5))]
    score: u8,
    /// One sentence that names a place.
    #[serde(default)]
    why: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct OpenQuestion {
    /// The number of the question.
    question: usize,
    /// What is missing.
    #[serde(default)]
    missing: String,
}

/// Some models give halves. They count as the lower number.
fn read_score<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let given = f64::deserialize(deserializer)?;
    (1..=5_u8)
        .rev()
        .find(|score| given >= f64::from(*score) && given < 6.0)
        .ok_or_else(|| serde::de::Error::custom(format!("{given} is no score from 1 to 5")))
}

/// Lets the author judge its own work.
pub(crate) struct Critic<'a> {
    store: &'a Store,
    agents: &'a Agents,
    workspaces: &'a Workspaces,
    of: &'a Assignment<'a>,
    /// The questions that the work must answer. Empty if there are none.
    questions: Vec<String>,
    last: Mutex<Option<Critique>>,
}

impl<'a> Critic<'a> {
    pub(crate) fn new(store: &'a Store, agents: &'a Agents, workspaces: &'a Workspaces, of: &'a Assignment<'a>) -> Self {
        Self { store, agents, workspaces, of, questions: Vec::new(), last: Mutex::default() }
    }

    /// Divides the matter into questions, once in a run. After a failure there are none, and the work goes on without them.
    pub(crate) async fn divide(&mut self) {
        let given: GivenQuestions = self.ask(DIVIDED, QUESTION_TOKENS, |marker| self.prompt_to_divide(marker)).await.unwrap_or_default();
        let questions = given.questions.iter().map(|question| one_line(question, QUESTION)).filter(|question| !question.is_empty());
        self.questions = questions.take(QUESTIONS).collect();
    }

    pub(crate) fn questions(&self) -> &[String] {
        &self.questions
    }

    /// The questions, and the last critique of the run.
    pub(crate) fn into_parts(self) -> (Vec<String>, Option<Critique>) {
        (self.questions, self.last.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Judges the files that are to be handed in. `calls`: how many calls the run has made, and how many are left afterwards.
    ///
    /// Without a usable critique the work is handed in as it is: a colleague reviews it then.
    ///
    /// # Errors
    /// What is to be improved first, for the author.
    pub(crate) async fn look(&self, paths: &[&str], calls: (usize, usize)) -> Result<(), String> {
        self.look_at(self.read(paths).await, calls).await
    }

    /// As [`Self::look`], at texts with their names.
    pub(crate) async fn look_at(&self, files: Vec<(String, String)>, (made, left): (usize, usize)) -> Result<(), String> {
        let item = self.of.item;
        let Ok(journal) = self.store.list_journal(&item.id, item.run).await else { return Ok(()) };
        let journal: Vec<JournalEntry> = journal.into_iter().map(|(entry, _)| entry).collect();
        if files.is_empty() {
            // The verifier reports that there are no files.
            return Ok(());
        }
        let round = u32::try_from(made).unwrap_or(u32::MAX);
        let earlier: Vec<(u32, &JournalEntry)> = list_earlier(&journal, self.of.persona, round).collect();
        let revisions = earlier.iter().map(|(round, _)| round).collect::<HashSet<_>>().len();
        let criteria = criteria::to_grade(item);
        let evidence = pages_in(&files, &journal);
        let of = ForReview { item, evidence: &evidence, journal: &journal, parts: &[], blocked: None, rejected: None };
        let tokens = self.agents.prompt_tokens(Tier::T1);
        let shown = Shown { of, criteria: &criteria, files: &files, fault: None, zone: self.agents.roster.zone(), tokens };
        let Some(given) = self.ask::<GivenCritique>(round, CRITIQUE_TOKENS, |marker| self.prompt_to_judge(&shown, marker)).await else {
            return Ok(());
        };
        let given_before = earlier.iter().filter_map(|(_, entry)| match entry {
            JournalEntry::Replied { text, .. } => parse_answer::<GivenCritique>(text).ok(),
            _ => None,
        });
        let mut criticised: Vec<String> = given_before.flat_map(|given| name_faults(&given, &criteria, &self.questions)).collect();
        criticised.extend(name_faults(&given, &criteria, &self.questions));
        let critique = Critique { criticised, ..read_critique(given, &shown, &self.questions, revisions) };
        let told = (!critique.faults.is_empty() && revisions < REVISIONS).then(|| to_improve(&critique.faults, left));
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(critique);
        told.map_or(Ok(()), Err)
    }

    async fn ask<T: DeserializeOwned + JsonSchema>(&self, round: u32, tokens: u32, message: impl FnOnce(&str) -> String) -> Option<T> {
        let Assignment { item, job, persona, cancel } = *self.of;
        let journal = GraderJournal { store: self.store, job, item, by: &persona.slug, round };
        let prompt = Prompt {
            system: render_system(&self.agents.team, &self.agents.roster, persona, PromptKind::Judgement),
            message: message(&new_marker()),
            holds_outside: true,
            remarks: Vec::new(),
        };
        let run =
            Run { tier: Tier::T1, journal: Some(&journal), ..Run::new(persona, (Purpose::Step, item.id.as_str()), prompt, tokens, cancel) };
        match self.agents.runner.run_structured::<T>(run).await {
            Ok(given) => Some(given.value),
            Err(error) => {
                tracing::warn!(item = %item.id, round, %error, "an author has not judged its own work");
                None
            }
        }
    }

    fn prompt_to_divide(&self, marker: &str) -> String {
        let cleaner = Cleaner { marker };
        let blocks = asked_for(self.of.item, cleaner, self.agents.prompt_tokens(Tier::T1));
        template::render_questions(&template::Questions { marker, most: QUESTIONS, blocks: &blocks })
    }

    fn prompt_to_judge(&self, shown: &Shown<'_>, marker: &str) -> String {
        let cleaner = Cleaner { marker };
        let mut blocks = shown.blocks(cleaner);
        if !self.questions.is_empty() {
            let lines = (1..).zip(&self.questions).map(|(number, question)| format!("{number}. {}", cleaner.line(question, QUESTION)));
            blocks.push(Block { label: "its questions".into(), text: lines.collect::<Vec<_>>().join("\n") });
        }
        template::render_critique(&template::Critique {
            marker,
            now: self.agents.roster.today(self.agents.runner.clock.now()).spell(),
            criteria: shown.criteria.len(),
            questions: self.questions.len(),
            blocks: &blocks,
        })
    }

    /// The files with these paths that are text.
    async fn read(&self, paths: &[&str]) -> Vec<(String, String)> {
        let Ok(workspace) = self.workspaces.open(&self.of.item.id).await else { return Vec::new() };
        let mut files = Vec::new();
        for path in paths {
            if let Ok(file) = workspace.read(path, MOST_FILE_BYTES).await
                && let Ok(text) = String::from_utf8(file.head)
            {
                files.push(((*path).to_owned(), text));
            }
        }
        files
    }
}

fn asked_for(item: &WorkItem, cleaner: Cleaner<'_>, tokens: usize) -> Vec<Block> {
    fit(vec![Part::new(Rank::Task, "what was asked for", cleaner.whole(&item.describe_task()))], tokens)
}

/// The steps of the author's earlier critiques in this run, with their rounds.
fn list_earlier<'a>(journal: &'a [JournalEntry], author: &Persona, before: u32) -> impl Iterator<Item = (u32, &'a JournalEntry)> {
    journal.iter().filter_map(move |entry| match entry {
        JournalEntry::Graded { by, round, entry } if *by == author.slug && (DIVIDED + 1..before).contains(round) => {
            Some((*round, &**entry))
        }
        _ => None,
    })
}

/// Lists the faults in words of code and of the item. The model's reasons may quote a page, so they are left out.
fn name_faults(given: &GivenCritique, criteria: &[String], questions: &[String]) -> Vec<String> {
    let GivenCritique { depth, accuracy, actionability, completeness, grades, open } = given;
    let scores = [("depth", depth), ("accuracy", accuracy), ("actionability", actionability), ("completeness", completeness)];
    let low = scores.into_iter().filter(|(_, given)| given.score < ACCEPTED).map(|(name, given)| format!("{name} {} of 5", given.score));
    let number = |number: usize, texts: &[String]| texts.get(number.checked_sub(1)?).cloned();
    let missed = grades.iter().filter_map(|grade| Some(format!("not met: {}", number(grade.missed()?, criteria)?)));
    let unanswered = open.iter().filter_map(|open| Some(format!("{UNANSWERED}{}", number(open.question, questions)?)));
    low.chain(missed).chain(unanswered).collect()
}

/// The fetched pages whose addresses stand in the files.
fn pages_in(files: &[(String, String)], journal: &[JournalEntry]) -> Vec<Evidence> {
    let is_named = |address: &str| files.iter().any(|(_, text)| text.contains(address));
    let pages = journal.iter().filter_map(|entry| match entry {
        JournalEntry::Returned { status: CallStatus::Ok, trace: Some(Trace::Fetched { url, from, sha256, at, .. }), .. }
            if is_named(url) || is_named(from) =>
        {
            Some(Evidence::Link { url: url.clone(), sha256: sha256.clone(), at: *at })
        }
        _ => None,
    });
    pages.collect()
}

/// Checks what the model says. A criterion is shown only by a passage that code finds.
fn read_critique(given: GivenCritique, shown: &Shown<'_>, questions: &[String], revisions: usize) -> Critique {
    let GivenCritique { depth, accuracy, actionability, completeness, grades, open } = given;
    let mut critique = Critique {
        depth: depth.score,
        accuracy: accuracy.score,
        actionability: actionability.score,
        completeness: completeness.score,
        shown: Vec::new(),
        faults: Vec::new(),
        criticised: Vec::new(),
        revisions: u32::try_from(revisions).unwrap_or(u32::MAX),
    };
    let reasons = [depth.why, accuracy.why, actionability.why, completeness.why];
    let low = critique.scores().into_iter().zip(&reasons).filter(|((_, score), _)| *score < ACCEPTED);
    critique.faults = low.map(|((name, score), why)| format!("{name}: {score} of 5. {}", reason(why))).collect();
    match read_verdict(&GivenVerdict { grades, scores: None }, shown.criteria, &shown.quotable()) {
        Ok(grades) => {
            for (number, grade) in (1..).zip(&grades) {
                match &grade.found {
                    Found::Met(passage) => critique.shown.push((grade.criterion.clone(), passage.clone())),
                    Found::Missing(why) => critique.faults.push(format!("criterion {number} is not met: {}", reason(why))),
                    // A reviewer grades these.
                    Found::Seen(_) | Found::NeedsPerson(_) => {}
                }
            }
            if critique.shown.len() < grades.len() {
                critique.shown.clear();
            }
        }
        // These grades are dropped, and a colleague grades the work.
        Err(problem) => tracing::info!(item = %shown.of.item.id, problem, "an author's grades do not count"),
    }
    // An open question alone sends nothing back: it may have no answer.
    if critique.faults.is_empty() {
        return critique;
    }
    let open: HashMap<usize, &str> = open.iter().map(|open| (open.question, open.missing.as_str())).collect();
    let unanswered = (1..).zip(questions).filter_map(|(number, question)| Some((question, open.get(&number)?)));
    critique
        .faults
        .extend(unanswered.map(|(question, missing)| format!("{UNANSWERED}{question} {}", reason(missing)).trim_end().to_owned()));
    critique
}

fn reason(why: &str) -> String {
    one_line(why, REASON)
}

/// Marked as material, because the faults are a model's words and may quote a page.
fn to_improve(faults: &[String], left: usize) -> String {
    let marker = new_marker();
    let cleaner = Cleaner { marker: &marker };
    let lines: Vec<String> = faults.iter().map(|fault| format!("- {}", cleaner.line(fault, QUESTION + REASON))).collect();
    format!(
        "Not finished yet. This is what your own second look at it has found:\n<<data {marker} | to be improved>>\n{}\n<<end {marker}>>\nImprove \
         exactly that, then call `finish` again. You have {left} calls left.",
        lines.join("\n")
    )
}

#[cfg(test)]
mod tests;
