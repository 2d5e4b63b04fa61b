//! Follows a mission from its plan to its delivery. One job for each mission, which sleeps, and which each change of a step wakes.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, NaiveTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::features::backlog::model::{Artefact, Blocker, Wait, WorkItem, WorkStatus};
use crate::features::backlog::render::FILES;
use crate::features::backlog::store::{MISSION, MissionOf};
use crate::features::mission::budget::find_refused;
use crate::features::mission::changing::edit_to;
use crate::features::mission::model::plan::{Plan, Step, StepDraft, StepKind, revise};
use crate::features::mission::model::{Mission, MissionStatus, Progress, Shown};
use crate::features::mission::planning::{Answer, Asked};
use crate::features::mission::prompts::Frame;
use crate::features::mission::settings::MissionSettings;
use crate::features::mission::store::{MissionChange, change_mission};
use crate::features::mission::{prompts, render};
use crate::store::Store;
use kernel::agent::Agents;
use kernel::chat::outbound::{OutboundMessage, Placement};
use kernel::chat::outbox::store::insert_outbound_once;
use kernel::db::{StoreError, Transaction};
use kernel::ids::{ChannelId, OutboxId};
use kernel::jobs::{Failure, Job, JobContext, JobError, JobHandler, KindSettings};
use kernel::llm::budget::Budgets;
use kernel::money::Money;
use kernel::people::{Directory, People};
use kernel::persona::roster::Roster;

/// How often a mission is looked at although nothing woke its job.
pub(super) const SWEEP: TimeDelta = TimeDelta::minutes(5);

/// How long a job sleeps that only a person wakes.
pub(super) const LONG: TimeDelta = TimeDelta::days(1);

/// The progress is posted at most this often.
const SHOWN_EVERY: TimeDelta = TimeDelta::seconds(4);

/// The pause before the thread is looked for again.
const SOON: TimeDelta = TimeDelta::milliseconds(300);

/// The longest wait for the thread. After that the mission goes on in the channel.
const THREAD: TimeDelta = TimeDelta::seconds(30);

const REPLAN_TOKENS: u32 = 3000;

/// How often one mission is planned again.
const REPLANS: u32 = 1;

/// Runs the jobs of missions.
pub(super) struct Follower {
    pub(super) store: Store,
    pub(super) roster: Arc<Roster>,
    pub(super) agents: Arc<Agents>,
    pub(super) settings: MissionSettings,
    pub(super) budgets: Budgets,
    /// The only configured repository, in which files are built. Empty unless there is exactly one.
    pub(super) repository: String,
    /// The folder of the persona files.
    pub(super) personas: PathBuf,
    /// People who may be named as reviewers.
    pub(super) people: People,
    /// When a day without a time ends.
    pub(super) closes: NaiveTime,
}

/// Another way to what a step is for.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct OtherWay {
    possible: bool,
    #[serde(default)]
    why: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    instructions: String,
    /// Null: as before.
    #[serde(default)]
    kind: Option<StepKind>,
    #[serde(default)]
    owner: String,
    #[serde(default)]
    criteria: Vec<String>,
}

#[async_trait]
impl JobHandler for Follower {
    fn kind(&self) -> &'static str {
        MISSION
    }

    fn subject(&self) -> Option<&'static str> {
        Some("mission")
    }

    fn settings(&self) -> KindSettings {
        KindSettings { max_attempts: 20, time_limit: std::time::Duration::from_mins(30), ..KindSettings::default() }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        let MissionOf { mission: id } = job.payload()?;
        loop {
            job.check()?;
            let Some(mission) = self.store.find_mission(&id).await? else { return Ok(()) };
            // Also when the mission is over: the persona is for the team.
            if self.add_personas(&mission, job).await? {
                continue;
            }
            match mission.status {
                // The next round reads the result.
                MissionStatus::Planning => self.plan(&mission, job).await?,
                MissionStatus::Proposed => return Err(JobError::Sleep(job.now() + LONG)),
                MissionStatus::Running | MissionStatus::Paused => {
                    if let Some(until) = Box::pin(self.follow(&mission, job)).await? {
                        return Err(JobError::Sleep(until));
                    }
                }
                MissionStatus::Done | MissionStatus::Failed | MissionStatus::Cancelled => return Ok(()),
            }
        }
    }

    /// Tells the person, who can try again.
    async fn give_up(&self, transaction: &mut Transaction, job: &Job, why: &Failure) -> Result<(), StoreError> {
        let Ok(MissionOf { mission }) = job.read_payload() else { return Ok(()) };
        let Some(mission) = self.store.find_mission(&mission).await? else { return Ok(()) };
        let why = why.to_string();
        let text = format!("I cannot go on with {}: {why}. `/mission retry` tries again.", render::title(&mission));
        let message =
            OutboundMessage { id: mission.message_id(&format!("given-up-{}", job.id)), ..render::say(&mission, &self.roster, text) };
        let now = self.agents.runner.clock.now();
        let change = MissionChange {
            status: Some(MissionStatus::Failed),
            why: Some(&why),
            outbox: std::slice::from_ref(&message),
            ..MissionChange::default()
        };
        if !change_mission(transaction, &mission, &change, now).await? {
            insert_outbound_once(transaction, &message, None, now).await?;
        }
        Ok(())
    }
}

impl Follower {
    /// Stores a change in a transaction of the job. If somebody else changed the mission meanwhile, another run begins with what they did.
    pub(super) async fn change(&self, mission: &Mission, change: &MissionChange<'_>, job: &JobContext) -> Result<(), JobError> {
        let mut transaction = job.begin_step().await?;
        if !change_mission(&mut transaction, mission, change, job.now()).await? {
            return Err(JobError::Sleep(job.now()));
        }
        Ok(transaction.commit().await?)
    }

    /// The place where the backlog posts news about the steps: the thread, or the channel if there is none.
    pub(super) async fn find_place(&self, mission: &Mission, job: &JobContext) -> Result<ChannelId, JobError> {
        if mission.opening.is_none() {
            return Ok(mission.channel.clone());
        }
        match self.store.find_posted(&mission.message_id("reading")).await? {
            Some(posted) => Ok(posted.channel),
            None if job.now() - mission.created_at < THREAD => Err(JobError::Sleep(job.now() + SOON)),
            None => Ok(mission.channel.clone()),
        }
    }

    /// Looks at a running mission once. Returns the time of the next look; none if something has changed.
    async fn follow(&self, mission: &Mission, job: &JobContext) -> Result<Option<DateTime<Utc>>, JobError> {
        let (Some(plan), Some(whole)) = (&mission.plan, self.store.find_item(&mission.id).await?) else {
            return Err(JobError::fail("its plan or its item is gone"));
        };
        let parts = self.store.list_parts(&mission.id).await?;
        let cost = parts.iter().map(|item| item.cost).sum::<Money>() + self.store.spent_on(&mission.id).await?;
        let items = mission.current(parts);
        if whole.status.is_over() {
            self.deliver(mission, &whole, &items, cost, job).await?;
            return Ok(None);
        }
        for item in &items {
            if mission.status == MissionStatus::Paused {
                self.store.pause_step(&item.id, job.now()).await?;
            } else if item.wait == Some(Wait::Paused) {
                self.store.wake_item(&item.id, None, job.now()).await?;
            }
        }
        let stuck = items.iter().find(|item| matches!(item.wait, Some(Wait::Replan { .. })));
        if let Some(item) = stuck.filter(|_| mission.status == MissionStatus::Running) {
            self.plan_again(mission, plan, item, &items, job).await?;
            return Ok(None);
        }
        if mission.status == MissionStatus::Running && Progress::of(&items).stands_still() && whole.status == WorkStatus::Blocked {
            let notice = OutboundMessage {
                id: mission.message_id(&format!("still-{}", mission.replans)),
                ..render::say(mission, &self.roster, render::stands_still(mission, &items))
            };
            self.store.enqueue_once(&notice, job.now()).await?;
        }
        match items.iter().chain([&whole]).find_map(find_refused) {
            Some(refused) => self.tell_used_up(mission, refused, job.now()).await?,
            None => self.watch_budget(mission, cost, job.now()).await?,
        }
        let next = self.show(mission, &items, cost, false, job).await?;
        Ok(Some(next.unwrap_or(job.now() + SWEEP)))
    }

    /// Edits the progress line if its text has changed. Some: the time of the next edit, because it is too early now.
    async fn show(
        &self,
        mission: &Mission,
        items: &[WorkItem],
        cost: Money,
        is_last: bool,
        job: &JobContext,
    ) -> Result<Option<DateTime<Utc>>, JobError> {
        let text = render::progress(mission, items, cost, &self.roster);
        let now = job.now();
        match &mission.shown {
            Some(shown) if shown.text == text => return Ok(None),
            Some(shown) if !is_last && now < shown.at + SHOWN_EVERY && now >= shown.at => return Ok(Some(shown.at + SHOWN_EVERY)),
            _ => {}
        }
        let first = mission.message_id("progress");
        let said = render::say(mission, &self.roster, text.clone());
        let message = match &mission.shown {
            None => OutboundMessage { id: first, ..said },
            Some(_) => OutboundMessage { id: OutboxId::generate(), place: Placement::Revision { of: first }, ..said },
        };
        self.store.show_mission(mission, &Shown { text, at: now }, &message).await?;
        Ok(None)
    }

    /// Finds another way for a step that could not be done, once in a mission. After that the step fails, and with it all steps that need it.
    async fn plan_again(
        &self,
        mission: &Mission,
        plan: &Plan,
        item: &WorkItem,
        items: &[WorkItem],
        job: &JobContext,
    ) -> Result<(), JobError> {
        let Some(Wait::Replan { blocker, why }) = &item.wait else { return Ok(()) };
        let step = plan.find_step(&item.id);
        let name = format!("replan-{}-{}", item.id, item.run);
        // Another way was asked for before a crash.
        let is_begun = job.find_step::<Answer<OtherWay>>(&name).await?.is_some();
        let (Some(step), true) = (step, is_begun || mission.replans < REPLANS) else {
            self.store.give_step_up(&item.id, why, job.now()).await?;
            return Ok(());
        };
        let learnt = self.what_was_learnt(item, *blocker, why).await?;
        let prompt = |frame: Frame<'_>| prompts::replan(frame, step, items, &learnt);
        let answer: Answer<OtherWay> = self.ask(mission, job, Asked::plan(&name, REPLAN_TOKENS), prompt).await?;
        let way = answer.value.filter(|way| way.possible);
        let revised = way.and_then(|way| Some((self.read_way(mission, step, &way)?, way.why)));
        let Some((revised, reason)) = revised else {
            self.store.give_step_up(&item.id, why, job.now()).await?;
            return Ok(());
        };
        // The plan is changed first: as long as the item waits, this code runs again.
        if *step != revised {
            let mut changed = plan.clone();
            changed.steps.iter_mut().filter(|known| known.item == revised.item).for_each(|known| known.clone_from(&revised));
            let told = render::replanned(&step.title, &format!("{}. {reason}", why.trim_end_matches('.')), &revised, &self.roster);
            let message =
                OutboundMessage { id: mission.message_id(&format!("replan-{}", item.run)), ..render::say(mission, &self.roster, told) };
            let change = MissionChange { plan: Some(&changed), replanned: true, outbox: &[message], ..MissionChange::default() };
            self.change(mission, &change, job).await?;
        }
        self.go_another_way(mission, &revised, item, job).await
    }

    /// The step as changed by the model, if it passes the checks of a plan.
    fn read_way(&self, mission: &Mission, step: &Step, way: &OtherWay) -> Option<Step> {
        let draft = StepDraft {
            id: "again".into(),
            title: if way.title.trim().is_empty() { step.title.clone() } else { way.title.clone() },
            instructions: way.instructions.clone(),
            kind: way.kind.unwrap_or(step.kind),
            owner: if way.owner.trim().is_empty() { step.owner.to_string() } else { way.owner.clone() },
            criteria: way.criteria.clone(),
            needs: Vec::new(),
            serves: Vec::new(),
            phase: step.phase,
            reviewer: None,
            due: None,
        };
        match revise(step, &draft, &self.setting(mission, &Directory::default(), mission.created_at)) {
            Ok(revised) => Some(revised),
            Err(faults) => {
                tracing::warn!(step = %step.item, faults = faults.join("; "), "another way for a step is not valid");
                None
            }
        }
    }

    /// Changes the item and starts it again. May be called again after a crash.
    async fn go_another_way(&self, mission: &Mission, revised: &Step, item: &WorkItem, job: &JobContext) -> Result<(), JobError> {
        let now = job.now();
        let new = mission.item_of(revised, item.channel.as_ref().unwrap_or(&mission.channel), now);
        self.store.edit_item(&item.id, &edit_to(&new), "the plan", now).await?;
        // Even if the edit changed nothing, the item must be tried again.
        if self.store.find_item(&item.id).await?.is_some_and(|now| matches!(now.wait, Some(Wait::Replan { .. }))) {
            self.store.retry_item(&item.id, "the plan", now).await?;
        }
        Ok(())
    }

    /// Why each attempt failed, and what that means for the next one.
    async fn what_was_learnt(&self, item: &WorkItem, blocker: Blocker, why: &str) -> Result<String, StoreError> {
        let events = self.store.list_events(&item.id).await?;
        let mut notes: Vec<String> = events.into_iter().filter_map(|event| event.note).collect();
        notes.push(why.to_owned());
        notes.dedup();
        let notes: Vec<String> = notes.iter().rev().take(12).rev().map(|note| format!("- {note}")).collect();
        Ok(format!("{}\nWhat blocked it: {}. {}", notes.join("\n"), blocker.describe(), blocker.remedy()))
    }

    /// The files of the steps that are done, those of the last step first. Somewhat more than a message can carry.
    async fn read_results(&self, mission: &Mission, items: &[WorkItem]) -> Result<Vec<Artefact>, StoreError> {
        let last = mission.plan.as_ref().and_then(Plan::last_step).map(|step| &step.item);
        let mut done: Vec<&WorkItem> = items.iter().filter(|item| item.status == WorkStatus::Done).collect();
        done.sort_by_key(|item| Some(&item.id) != last);
        let mut files = Vec::new();
        for item in done {
            files.extend(self.store.read_artefacts(&item.id).await?);
            if files.len() > FILES {
                break;
            }
        }
        Ok(files)
    }

    /// One transaction: the end of the mission, the message that delivers it, and the job that looks back at it.
    async fn deliver(
        &self,
        mission: &Mission,
        whole: &WorkItem,
        items: &[WorkItem],
        cost: Money,
        job: &JobContext,
    ) -> Result<(), JobError> {
        let files = self.read_results(mission, items).await?;
        self.show(mission, items, cost, true, job).await?;
        let message = render::delivery(mission, whole, items, &files, cost, &self.roster);
        let status = match whole.status {
            WorkStatus::Done => MissionStatus::Done,
            WorkStatus::Cancelled => MissionStatus::Cancelled,
            _ => MissionStatus::Failed,
        };
        let record = self.record(mission, whole, items, &files, (cost, job.now())).await?;
        let change = MissionChange {
            status: Some(status),
            why: whole.outcome.as_deref(),
            outbox: &[message],
            look_back: record.as_ref(),
            ..MissionChange::default()
        };
        self.change(mission, &change, job).await
    }
}
