//! Plans: who does what, in which order, and which parts of the directive each step serves. `draft` is what a model gives, and its checks; `coverage` says
//! what becomes of each part.

mod coverage;
mod draft;
mod phase;

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::features::backlog::model::{Execution, Owner};
use crate::features::mission::model::directive::Directive;
use crate::features::mission::model::new_persona::NewPersona;
use kernel::ids::{PersonaSlug, WorkItemId};
use kernel::money::Money;

pub use coverage::Served;
pub use draft::{
    AgainDraft, Change, ChangeDraft, Changed, EditDraft, LearntDraft, MOST_CHANGES, MOST_MISSING, MOST_STEPS, MissingDraft, PlanDraft,
    Setting, Standing, StepDraft, TITLE, Understanding, change, check, leave_out, revise,
};
pub use phase::Phase;

/// How a mission is carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What the request says, what has to be found out, and what is assumed.
    pub given: Vec<String>,
    pub to_find_out: Vec<String>,
    pub assumed: Vec<Assumption>,
    /// What the delivery is judged by.
    pub criteria: Vec<String>,
    /// In an order in which each comes after what it needs.
    pub steps: Vec<Step>,
    pub left_out: Vec<LeftOut>,
    /// Doubts about it, for people.
    pub warnings: Vec<String>,
    /// `provider/model`; none if code made it.
    pub made_by: Option<String>,
    /// The expected cost, from the costs of earlier steps. None: there were no figures.
    #[serde(default)]
    pub expected: Option<Money>,
    /// The changes since, oldest first.
    #[serde(default)]
    pub changes: Vec<PlanChange>,
    /// Roles that nobody on the team fills.
    #[serde(default)]
    pub missing: Vec<MissingRole>,
    /// How insights of earlier missions changed it.
    #[serde(default)]
    pub learnt: Vec<Learnt>,
}

/// What an insight of an earlier mission changed about a plan (OVER-6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learnt {
    pub insight: String,
    pub change: String,
}

/// A role that nobody on the team fills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingRole {
    /// What somebody with it is called: "designer".
    pub role: String,
    pub good_at: Vec<String>,
    /// Why nobody on the team fits.
    pub why: String,
    /// The steps that a new persona takes over. Others own them until then.
    pub steps: Vec<WorkItemId>,
    /// None: no persona was drafted.
    pub persona: Option<NewPersona>,
}

/// What somebody changed about a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanChange {
    pub by: String,
    /// Because of a message between colleagues, not of what a person said.
    #[serde(default)]
    pub by_colleague: bool,
    pub at: DateTime<Utc>,
    /// In a sentence.
    pub why: String,
    /// What the person said. None for a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// The titles of the steps that were added or have other words, owners or needs.
    pub added: Vec<String>,
    pub edited: Vec<String>,
    /// The titles of steps that were done and are done again.
    #[serde(default)]
    pub again: Vec<String>,
    pub dropped: Vec<DroppedStep>,
    /// The items of all these steps. Older changes have only the titles.
    #[serde(default)]
    pub steps: BTreeSet<WorkItemId>,
    /// It notes answers to questions of the plan, and nothing else.
    #[serde(default)]
    pub is_only_answers: bool,
}

impl PlanChange {
    pub fn concerns(&self, step: &Step) -> bool {
        let has_title = |titles: &Vec<String>| titles.contains(&step.title);
        if self.steps.is_empty() {
            [&self.added, &self.edited, &self.again].into_iter().any(has_title)
        } else {
            self.steps.contains(&step.item)
        }
    }
}

/// A step that is not done any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DroppedStep {
    pub item: WorkItemId,
    pub title: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Assumption {
    /// What is taken to be so.
    pub text: String,
    /// What to ask the person, only if a wrong assumption would cost much work. Otherwise null.
    #[serde(default)]
    pub question: Option<String>,
    /// With a question: two to four short answers to choose from. The first is what you assume.
    #[serde(default)]
    pub suggestions: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub answer: Option<GivenAnswer>,
}

/// A person's answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenAnswer {
    pub by: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub item: WorkItemId,
    pub title: String,
    pub instructions: String,
    pub kind: StepKind,
    /// The persona that does it, or that asks the person who does it.
    pub owner: PersonaSlug,
    /// The person who does it, if it is of the kind [`StepKind::Person`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<Owner>,
    pub criteria: Vec<String>,
    pub needs: Vec<WorkItemId>,
    /// Numbers of the parts that it serves, without those below them.
    pub serves: BTreeSet<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Who reviews the result, if the directive or a person names somebody.
    #[serde(default)]
    pub reviewer: Option<Owner>,
    #[serde(default)]
    pub due: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// Find something out. Gives a document with sources.
    Research,
    /// Write a document.
    Write,
    /// Make files, such as code.
    Build,
    /// Something that only a person can do or say. Its result is what that person says.
    Person,
}

/// Parts that nobody serves, on purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    pub parts: BTreeSet<usize>,
    pub why: String,
}

pub fn count_parts(count: usize) -> String {
    if count == 1 { "1 part".to_owned() } else { format!("{count} parts") }
}

impl Plan {
    pub fn find_step(&self, item: &WorkItemId) -> Option<&Step> {
        self.steps.iter().find(|step| step.item == *item)
    }

    /// The number of changes by people, or because of messages between colleagues. Answers that change nothing else do not count.
    pub fn count_changes(&self, by_colleague: bool) -> usize {
        self.changes.iter().filter(|change| change.by_colleague == by_colleague && !change.is_only_answers).count()
    }

    /// Whether a step was taken out of the plan.
    pub fn is_dropped(&self, item: &WorkItemId) -> bool {
        self.changes.iter().flat_map(|change| &change.dropped).any(|dropped| dropped.item == *item)
    }

    /// Whether a part, or something that it stands below, is left out on purpose.
    pub fn leaves_out(&self, number: usize, directive: &Directive) -> bool {
        self.left_out.iter().flat_map(|left| &left.parts).any(|left| directive.with_all_below(*left).contains(&number))
    }

    /// The first phase with a step that is not over.
    pub fn find_phase(&self, is_over: impl Fn(&WorkItemId) -> bool) -> Option<Phase> {
        self.steps.iter().filter(|step| !is_over(&step.item)).filter_map(|step| step.phase).min()
    }

    /// The questions to people that have no answer, with their numbers.
    pub fn open_questions(&self) -> impl Iterator<Item = (usize, &str)> {
        let is_open = |(_, assumption): &(usize, &Assumption)| assumption.answer.is_none();
        (1..).zip(&self.assumed).filter(is_open).filter_map(|(number, assumption)| Some((number, assumption.question.as_deref()?)))
    }

    pub fn last_step(&self) -> Option<&Step> {
        self.steps.last()
    }

    /// The steps in waves: those of a wave can be done side by side once the waves before are done.
    pub fn waves(&self) -> Vec<Vec<&Step>> {
        let mut wave_of: HashMap<&WorkItemId, usize> = HashMap::new();
        let mut waves: Vec<Vec<&Step>> = Vec::new();
        for step in &self.steps {
            let wave = step.needs.iter().filter_map(|need| wave_of.get(need)).map(|wave| wave + 1).max().unwrap_or(0);
            wave_of.insert(&step.item, wave);
            waves.resize_with(waves.len().max(wave + 1), Vec::new);
            waves[wave].push(step);
        }
        waves
    }
}

impl Step {
    /// Who does it.
    pub fn doer(&self) -> Owner {
        self.person.clone().unwrap_or_else(|| Owner::Persona(self.owner.clone()))
    }
}

impl StepKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Research => "research",
            Self::Write => "write",
            Self::Build => "build",
            Self::Person => "person",
        }
    }

    pub fn execution(self) -> Execution {
        match self {
            Self::Research => Execution::Research,
            Self::Write => Execution::Write,
            Self::Build => Execution::Build,
            Self::Person => Execution::Remind { whom: None },
        }
    }
}
