//! Missions: what people want done that takes several steps. `directive` has what they handed in, `plan` how it is done,
//! `message` what those who work on it tell each other, `new_persona` who may join the team for it.

pub mod directive;
pub mod message;
pub mod new_persona;
pub mod plan;

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::features::backlog::model::{Origin, Owner, Wait, WorkItem, WorkKind, WorkStatus, short_id};
use crate::features::mission::model::directive::Directive;
use crate::features::mission::model::plan::{Plan, PlanChange, Step, StepKind};
use kernel::chat::message::{Channel, Place};
use kernel::ids::{ChannelId, MessageId, OutboxId, PersonaSlug, UserId, WorkItemId};
use kernel::memory::Scope;

#[derive(Debug, Clone, PartialEq)]
pub struct Mission {
    /// Also the id of its work item.
    pub id: WorkItemId,
    pub status: MissionStatus,
    pub title: String,
    /// What the person wrote.
    pub request: String,
    pub directive: Directive,
    /// None: the command line.
    pub by: Option<(UserId, String)>,
    /// Where it was asked for, and is delivered.
    pub channel: ChannelId,
    pub message: Option<MessageId>,
    pub private_to: Option<ChannelId>,
    /// The message on which its thread hangs. None if it was asked for in a thread, which is its place then.
    pub opening: Option<OutboxId>,
    pub plan: Option<Plan>,
    /// The reason for its status, if that is not obvious.
    pub why: Option<String>,
    /// How often it was planned again.
    pub replans: u32,
    /// The progress that was posted last.
    pub shown: Option<Shown>,
    pub created_at: DateTime<Utc>,
    /// When it was changed last. Who changes it must have read this.
    pub updated_at: DateTime<Utc>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub text: String,
    pub at: DateTime<Utc>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissionStatus {
    Planning,
    /// A person decides whether the plan is carried out.
    Proposed,
    Running,
    Paused,
    Done,
    Failed,
    Cancelled,
}

impl MissionStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Proposed => "proposed",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

/// A mission as it is asked for.
pub struct Asked<'a> {
    pub title: String,
    pub request: String,
    pub directive: Directive,
    pub by: Option<(UserId, String)>,
    pub channel: &'a Channel,
    pub message: Option<MessageId>,
}

impl Mission {
    pub fn new(asked: Asked<'_>, at: DateTime<Utc>) -> Self {
        let has_thread = matches!(asked.channel.place, Place::Thread { .. });
        Self {
            id: WorkItemId::generate(),
            status: MissionStatus::Planning,
            title: asked.title,
            request: asked.request,
            directive: asked.directive,
            by: asked.by,
            channel: asked.channel.id.clone(),
            message: asked.message,
            private_to: Scope::of(asked.channel).place().cloned(),
            opening: (!has_thread).then(OutboxId::generate),
            plan: None,
            why: None,
            replans: 0,
            shown: None,
            created_at: at,
            updated_at: at,
        }
    }

    pub fn short_id(&self) -> &str {
        short_id(&self.id)
    }

    /// The id of one of its messages. Each is posted once.
    pub fn message_id(&self, what: &str) -> OutboxId {
        OutboxId::new(format!("mission-{}-{what}", self.id))
    }

    /// Its work item and those of its steps. People are told about them in `place`.
    pub fn items(&self, plan: &Plan, coordinator: &PersonaSlug, place: &ChannelId, at: DateTime<Utc>) -> Vec<WorkItem> {
        let origin = match &self.by {
            Some((id, name)) => Origin::Person { id: id.clone(), name: name.clone(), message: self.message.clone() },
            None => Origin::CommandLine,
        };
        let whole = WorkItem {
            id: self.id.clone(),
            kind: WorkKind::Mission,
            why: self.request.clone(),
            criteria: plan.criteria.clone(),
            execution: Some(StepKind::Write.execution()),
            channel: Some(place.clone()),
            private_to: self.private_to.clone(),
            ..WorkItem::new(&*self.title, Owner::Persona(coordinator.clone()), origin, at)
        };
        std::iter::once(whole).chain(plan.steps.iter().map(|step| self.item_of(step, place, at))).collect()
    }

    pub fn item_of(&self, step: &Step, place: &ChannelId, at: DateTime<Utc>) -> WorkItem {
        WorkItem {
            id: step.item.clone(),
            kind: WorkKind::Step,
            how: self.instructions_of(step),
            why: match &self.by {
                Some((_, name)) => format!("It is a step of the mission \"{}\", which {name} asked for.", self.title),
                None => format!("It is a step of the mission \"{}\".", self.title),
            },
            criteria: step.criteria.clone(),
            execution: Some(step.kind.execution()),
            channel: Some(place.clone()),
            private_to: self.private_to.clone(),
            parent: Some(self.id.clone()),
            depends_on: step.needs.clone(),
            reviewer: step.reviewer.clone(),
            due: step.due,
            // A model has worded the step, from text that may come from anywhere.
            ..WorkItem::new(&*step.title, step.doer(), Origin::WorkItem(self.id.clone()), at)
        }
    }

    /// The items of its steps, without those that were taken out of the plan.
    pub fn current(&self, parts: Vec<WorkItem>) -> Vec<WorkItem> {
        let is_dropped =
            |item: &WorkItem| item.status == WorkStatus::Cancelled && self.plan.as_ref().is_some_and(|plan| plan.is_dropped(&item.id));
        parts.into_iter().filter(|item| !is_dropped(item)).collect()
    }

    /// The instructions of a step, with the whole text of the parts that it serves, and what people have said since that changed it.
    pub fn instructions_of(&self, step: &Step) -> String {
        let numbers = step.serves.iter().flat_map(|&number| self.directive.with_all_below(number));
        let is_left_out = |number: &usize| {
            !step.serves.contains(number) && self.plan.as_ref().is_some_and(|plan| plan.leaves_out(*number, &self.directive))
        };
        let numbers: std::collections::BTreeSet<usize> = numbers.filter(|number| !is_left_out(number)).collect();
        let parts = numbers.into_iter().filter_map(|number| Some(format!("[{number}] {}", self.directive.find(number)?.render_whole())));
        let parts = parts.collect::<Vec<_>>().join("\n");
        let concerns = |change: &&PlanChange| !change.by_colleague && change.concerns(step);
        let changes = self.plan.iter().flat_map(|plan| &plan.changes).filter(concerns);
        let said = changes.filter_map(|change| Some(format!("- {}: {}", change.by, change.said.as_ref()?)));
        let said = said.collect::<Vec<_>>().join("\n");
        let mut instructions = step.instructions.clone();
        // A person is told what to do, in whole sentences.
        if !parts.is_empty() && step.kind != StepKind::Person {
            let _ = write!(instructions, "\n\nIt serves these parts of the directive:\n{parts}");
        }
        if !said.is_empty() {
            let _ = write!(instructions, "\n\nSaid since then. It counts where the directive says something else:\n{said}");
        }
        instructions
    }
}

/// How far the steps of a mission are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    pub steps: usize,
    pub done: usize,
    pub lost: usize,
    /// Steps that are in progress, or will continue without a person.
    pub active: usize,
    /// Steps that only a person's word can continue.
    pub with_people: usize,
}

impl Progress {
    pub fn of(steps: &[WorkItem]) -> Self {
        let count = |is: fn(&WorkItem) -> bool| steps.iter().filter(|step| is(step)).count();
        Self {
            steps: steps.len(),
            done: count(|step| step.status == WorkStatus::Done),
            lost: count(|step| matches!(step.status, WorkStatus::Failed | WorkStatus::Cancelled)),
            active: count(|step| match step.status {
                WorkStatus::New | WorkStatus::Ready | WorkStatus::InProgress | WorkStatus::InReview => true,
                WorkStatus::Waiting => step.wait.as_ref().is_some_and(|wait| !wait.is_for_people()),
                _ => false,
            }),
            with_people: count(|step| step.status == WorkStatus::Waiting && step.wait.as_ref().is_some_and(Wait::is_for_people)),
        }
    }

    /// Whether steps are left, but nobody works on them and nobody is asked.
    pub fn stands_still(&self) -> bool {
        self.done + self.lost < self.steps && self.active == 0 && self.with_people == 0
    }
}
