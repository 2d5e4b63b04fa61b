//! Changes of a plan because of what somebody says in the mission's thread, or by a command, or because of a message between colleagues (OVER-9). Each
//! wish is a job: a model drafts the change, code checks it, and one transaction changes the plan and the steps, answers, and ends the job. A person
//! always gets an answer. A message of a colleague that changes nothing is left as it is.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, NaiveTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::features::backlog::action::KnownOwners;
use crate::features::backlog::model::{DueChange, WorkItem, WorkStatus};
use crate::features::backlog::service::Asker;
use crate::features::backlog::store::{ItemEdit, Reshaping, reopen_whole};
use crate::features::mission::follow::Follower;
use crate::features::mission::model::message::{ColleagueMessage, MessageKind};
use crate::features::mission::model::plan::{Change, ChangeDraft, Changed, MOST_CHANGES, Plan, Setting, Standing, Step, change, leave_out};
use crate::features::mission::model::{Mission, MissionStatus};
use crate::features::mission::picture::draw_plan;
use crate::features::mission::planning::{Answer, Asked};
use crate::features::mission::prompts::{Frame, RefusedDraft};
use crate::features::mission::service::{MissionError, Missions, check_may_change, named, refused};
use crate::features::mission::store::{MissionChange, change_mission};
use crate::features::mission::telling::{ToldStep, tell_steps};
use crate::features::mission::{prompts, render};
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound_once;
use kernel::db::{Applied, Effect, StoreError, Transaction};
use kernel::ids::{ChannelId, MessageId, OutboxId, WorkItemId};
use kernel::jobs::{self, Failure, Job, JobContext, JobError, JobHandler, KindSettings, NewJob};
use kernel::people::Directory;
use kernel::text::one_line;

const KIND: &str = "mission.change";

const TOKENS: u32 = 6000;

/// How often a change is asked for.
const ROUNDS: u32 = 2;

/// The pause before a wish checks again whether there is a plan.
const UNTIL_PLANNED: TimeDelta = TimeDelta::seconds(5);

/// A change that somebody wants. Also the payload of its job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Wish {
    pub(super) mission: WorkItemId,
    pub(super) by: String,
    pub(super) text: String,
    /// The message that says it.
    pub(super) message: Option<MessageId>,
    /// The message between two personas that caused the wish. None: a person's wish.
    #[serde(default)]
    pub(super) colleague: Option<ColleagueMessage>,
    /// All steps that are not done know it already. Only what contradicts it changes, and otherwise nothing is said.
    #[serde(default)]
    pub(super) is_told: bool,
}

/// Written in the transaction that decides on the message.
#[async_trait]
impl Effect for Wish {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied, StoreError> {
        let job = NewJob::new(KIND, self);
        let job = match &self.message {
            Some(message) => job.unique(format!("{KIND}:{message}")),
            None => job,
        };
        jobs::enqueue(transaction, &job, at).await?;
        Ok(Applied::Done)
    }
}

const NEEDS_A_MODEL: &str = "Changing a plan by words needs a language model. `/mission leave-out` and `/mission tell` work without one.";

impl Missions {
    /// Starts a job that changes the plan as somebody wants.
    pub(super) async fn wish(&self, mission: &Mission, text: &str, asker: &Asker) -> Result<(), MissionError> {
        check_wish(mission, asker)?;
        // At the command line only the running team knows its models. It answers in the thread.
        if self.is_offline() {
            return Err(refused(NEEDS_A_MODEL));
        }
        let wish = Wish {
            mission: mission.id.clone(),
            by: asker.name().to_owned(),
            text: text.to_owned(),
            message: None,
            colleague: None,
            is_told: false,
        };
        let mut transaction = self.store().db().begin().await?;
        wish.apply(&mut transaction, self.clock().now()).await?;
        Ok(transaction.commit().await?)
    }

    /// Leaves parts of the directive out, at once and without a model. Returns the outcome, for people.
    pub(super) async fn leave_out(&self, mission: &Mission, parts: &str, why: Option<&str>, asker: &Asker) -> Result<String, MissionError> {
        check_changeable(mission, asker)?;
        let Some(plan) = &mission.plan else { return Err(refused(format!("{} has no plan yet.", named(mission)))) };
        let items = self.items_of(mission).await?;
        let (now, by) = (self.clock().now(), asker.name());
        let why = why.map_or_else(|| format!("{by} left it out"), |why| one_line(why, 200));
        let standing = |item: &WorkItemId| standing_of(&items, item);
        // Nobody is looked up by name.
        let people = Directory::default();
        let owners = KnownOwners { roster: self.roster(), people: &people };
        let setting = Setting { directive: &mission.directive, owners, closes: NaiveTime::MIN, at: now };
        let of = Change { plan, setting, standing: &standing, by, said: None, by_colleague: false };
        let changed = leave_out(&of, parts, &why).map_err(|faults| refused(faults.join("; ")))?;
        let Some(changed) = changed else { return Err(refused("That leaves everything as it is.")) };
        let mut transaction = self.store().db().begin().await?;
        if !apply(&mut transaction, mission, &changed, &items, by, &[], now).await? {
            return Err(refused(format!("{} has just been changed by somebody else. Please look again.", named(mission))));
        }
        transaction.commit().await?;
        Ok(render::changes(&changed.plan))
    }
}

/// Checks that this person may want something different now. What was delivered is taken up again.
pub(super) fn check_wish(mission: &Mission, asker: &Asker) -> Result<(), MissionError> {
    if mission.status == MissionStatus::Done { check_may_change(mission, asker) } else { check_changeable(mission, asker) }
}

/// Checks that the plan can be changed now, and by this person.
pub(super) fn check_changeable(mission: &Mission, asker: &Asker) -> Result<(), MissionError> {
    check_may_change(mission, asker)?;
    if mission.status.is_over() {
        return Err(refused(format!("{} is over: it is {}.", named(mission), mission.status.as_str())));
    }
    if mission.plan.as_ref().is_some_and(|plan| plan.count_changes(false) >= MOST_CHANGES) {
        return Err(refused(format!(
            "The plan of {} was changed {MOST_CHANGES} times, which is the most. `/mission tell` can still add to the instructions.",
            named(mission)
        )));
    }
    Ok(())
}

/// Carries out wishes.
pub(super) struct Changer {
    pub(super) follower: Arc<Follower>,
}

#[async_trait]
impl JobHandler for Changer {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn subject(&self) -> Option<&'static str> {
        Some("mission")
    }

    fn settings(&self) -> KindSettings {
        KindSettings { max_attempts: 10, time_limit: std::time::Duration::from_mins(10), ..KindSettings::default() }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        let wish: Wish = job.payload()?;
        let Some(mission) = self.follower.store.find_mission(&wish.mission).await? else { return Ok(()) };
        let plan = match (&mission.plan, mission.status) {
            (_, MissionStatus::Planning) => return Err(JobError::Sleep(job.now() + UNTIL_PLANNED)),
            (Some(plan), status) if !status.is_over() => plan,
            (Some(_), MissionStatus::Done) if !wish.is_told => return self.take_up(&mission, &wish, job).await,
            _ => return self.say(&mission, &wish, format!("{} is over, so its plan stays as it was.", render::title(&mission)), job).await,
        };
        if self.follower.agents.is_offline() {
            return self.say(&mission, &wish, NEEDS_A_MODEL.to_owned(), job).await;
        }
        let items = mission.current(self.follower.store.list_parts(&mission.id).await?);
        if let Some(message) = &wish.colleague
            && let Some(step) = find_next_step(plan, &items, message)
        {
            return self.hand_over(&mission, plan, message, step, job).await;
        }
        let by_colleague = wish.colleague.is_some();
        if plan.count_changes(by_colleague) >= MOST_CHANGES {
            let text = format!("The plan was changed {MOST_CHANGES} times, which is the most. It stays as it is.");
            return self.say(&mission, &wish, text, job).await;
        }
        let standing = |item: &WorkItemId| standing_of(&items, item);
        let mut faults = Vec::new();
        let mut refused: Option<ChangeDraft> = None;
        for round in 1..=ROUNDS {
            let last = RefusedDraft { draft: refused.as_ref(), faults: &faults };
            let draft = self.draft(&mission, &items, &wish, &last, round, job).await?;
            let names = draft.value.as_ref().map(ChangeDraft::names).unwrap_or_default();
            let people = self.follower.people.directory_naming(&names, &self.follower.roster).await?;
            let setting = self.follower.setting(&mission, &people, job.now());
            let of =
                Change { plan, setting, standing: &standing, by: &wish.by, said: (!wish.is_told).then_some(&*wish.text), by_colleague };
            let checked = match &draft.value {
                Some(draft) => change(&of, draft),
                None => Err(vec![format!("the answer was no change: {}", draft.fault.as_deref().unwrap_or("it was empty"))]),
            };
            match checked {
                Ok(Some(changed)) => return self.carry_out(&mission, &wish, &changed, &items, job).await,
                Ok(None) => return self.say(&mission, &wish, render::nothing_changes(&draft.value.unwrap_or_default().why), job).await,
                Err(found) => (faults, refused) = (found, draft.value),
            }
        }
        self.say(&mission, &wish, render::cannot_change(&faults), job).await
    }

    /// Tells the person who asked.
    async fn give_up(&self, transaction: &mut Transaction, job: &Job, why: &Failure) -> Result<(), StoreError> {
        let Ok(wish) = job.read_payload::<Wish>() else { return Ok(()) };
        if wish.colleague.is_some() || wish.is_told {
            return Ok(());
        }
        let Some(mission) = self.follower.store.find_mission(&wish.mission).await? else { return Ok(()) };
        let told = self.answer(&mission, &wish, format!("I could not change the plan: {why}. Please say it again."), job);
        insert_outbound_once(transaction, &told, wish.message.as_ref(), self.follower.agents.runner.clock.now()).await?;
        Ok(())
    }
}

impl Changer {
    async fn draft(
        &self,
        mission: &Mission,
        items: &[WorkItem],
        wish: &Wish,
        refused: &RefusedDraft<'_, ChangeDraft>,
        round: u32,
        job: &JobContext,
    ) -> Result<Answer<ChangeDraft>, JobError> {
        let follower = &self.follower;
        let prompt = |frame: Frame<'_>| prompts::change(frame, items, wish, refused);
        follower.ask(mission, job, Asked::plan(&format!("change-{round}"), TOKENS), prompt).await
    }

    /// One transaction: the plan, its steps, the answer, and the end of the job. If somebody else changed the mission meanwhile, the change is checked
    /// against what it is now.
    async fn carry_out(
        &self,
        mission: &Mission,
        wish: &Wish,
        changed: &Changed,
        items: &[WorkItem],
        job: &JobContext,
    ) -> Result<(), JobError> {
        let follower = &self.follower;
        let now_planned = Mission { plan: Some(changed.plan.clone()), ..mission.clone() };
        let mut message = OutboundMessage {
            id: id_of(mission, job.job()),
            reply_to: wish.message.clone(),
            ..render::changed(&now_planned, &changed.plan, &follower.roster)
        };
        message.files.extend(draw_plan(&changed.plan, items, &follower.roster, &follower.agents.runner.redactor).await);
        let before = mission.plan.as_ref().unwrap_or(&changed.plan);
        let settled = render::settled_questions(mission, before, &changed.plan, &follower.roster);
        let outbox: Vec<OutboundMessage> = std::iter::once(message).chain(settled).collect();
        let mut transaction = follower.store.db().begin().await?;
        if !apply(&mut transaction, mission, changed, items, &wish.by, &outbox, job.now()).await? {
            return Err(JobError::Sleep(job.now()));
        }
        if job.finish_with(transaction).await? { Ok(()) } else { Err(JobError::LostLease) }
    }

    /// One transaction: the receiver's step with the handed-over text, the message to people, and the end of the job.
    async fn hand_over(
        &self,
        mission: &Mission,
        plan: &Plan,
        message: &ColleagueMessage,
        step: &Step,
        job: &JobContext,
    ) -> Result<(), JobError> {
        let Follower { store, roster, .. } = &*self.follower;
        let by = roster.name_of(&message.from);
        let added = format!("{by} hands over: {}", message.text);
        let (plan, told) = tell_steps(mission, plan, &added, &|known| known.item == step.item);
        let edits: Vec<_> = told.iter().map(ToldStep::edit).collect();
        let reshaping = Reshaping { edits: &edits, by, ..Reshaping::of(&mission.id) };
        let outbox =
            [OutboundMessage { id: id_of(mission, job.job()), ..render::say(mission, roster, render::handed_over(message, step, roster)) }];
        let change = MissionChange {
            plan: Some(&plan),
            reshaping: Some(&reshaping),
            outbox: &outbox,
            why: mission.why.as_deref(),
            ..MissionChange::default()
        };
        let mut transaction = store.db().begin().await?;
        if !change_mission(&mut transaction, mission, &change, job.now()).await? {
            return Err(JobError::Sleep(job.now()));
        }
        if job.finish_with(transaction).await? { Ok(()) } else { Err(JobError::LostLease) }
    }

    /// One transaction: the steps that a delivered mission sends back, the answer, and the end of the job.
    async fn take_up(&self, mission: &Mission, wish: &Wish, job: &JobContext) -> Result<(), JobError> {
        let mut transaction = self.follower.store.db().begin().await?;
        let why = format!("{} says of the delivery: {}", wish.by, wish.text);
        let again = Box::pin(reopen_whole(&mut transaction, &mission.id, (&wish.by, &why), job.now())).await?;
        if again == 0 {
            drop(transaction);
            let text = format!("{} cannot be taken up again, because its steps are gone.", render::title(mission));
            return self.say(mission, wish, text, job).await;
        }
        let outbox = [self.answer(mission, wish, render::taken_up(mission, again), job.job())];
        let change = MissionChange { status: Some(MissionStatus::Running), outbox: &outbox, ..MissionChange::default() };
        if !change_mission(&mut transaction, mission, &change, job.now()).await? {
            return Err(JobError::Sleep(job.now()));
        }
        if job.finish_with(transaction).await? { Ok(()) } else { Err(JobError::LostLease) }
    }

    /// Answers a person, which ends the job.
    async fn say(&self, mission: &Mission, wish: &Wish, text: String, job: &JobContext) -> Result<(), JobError> {
        if wish.is_told {
            tracing::info!(mission = %mission.id, why = text, "nothing contradicts an answer");
            return Ok(());
        }
        if let Some(message) = &wish.colleague {
            tracing::info!(mission = %mission.id, from = %message.from, kind = message.kind.as_str(), why = text, "the plan stays as it is");
            return Ok(());
        }
        let message = self.answer(mission, wish, text, job.job());
        self.follower.store.enqueue_once(&message, job.now()).await?;
        Ok(())
    }

    fn answer(&self, mission: &Mission, wish: &Wish, text: String, job: &Job) -> OutboundMessage {
        let message = render::say(mission, &self.follower.roster, text);
        OutboundMessage { id: id_of(mission, job), reply_to: wish.message.clone(), ..message }
    }
}

fn id_of(mission: &Mission, job: &Job) -> OutboxId {
    mission.message_id(&format!("change-{}", job.id))
}

/// Writes a changed plan with its steps. False if something changed meanwhile: the caller must then roll back.
pub(super) async fn apply(
    transaction: &mut Transaction,
    mission: &Mission,
    changed: &Changed,
    items: &[WorkItem],
    by: &str,
    outbox: &[OutboundMessage],
    at: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let planned = Mission { plan: Some(changed.plan.clone()), ..mission.clone() };
    let place = items.iter().find_map(|item| item.channel.clone()).unwrap_or_else(|| mission.channel.clone());
    let steps = Steps::of(&planned, changed, &place, at);
    let edits: Vec<_> = steps.edited.iter().map(|item| (item.id.clone(), edit_to(item))).collect();
    let why = changed.plan.changes.last().map_or_else(String::new, |change| change.why.clone());
    let criteria = mission.plan.as_ref().is_none_or(|plan| plan.criteria != changed.plan.criteria).then_some(&*changed.plan.criteria);
    let reshaping = Reshaping {
        whole: &mission.id,
        criteria,
        again: &changed.again,
        dropped: &changed.dropped,
        added: &steps.added,
        needs: &steps.rewired,
        edits: &edits,
        by,
        why: &why,
    };
    let change = MissionChange {
        plan: Some(&changed.plan),
        // A plan that nobody has approved has no items yet.
        reshaping: (mission.status != MissionStatus::Proposed).then_some(&reshaping),
        outbox,
        why: mission.why.as_deref(),
        ..MissionChange::default()
    };
    change_mission(transaction, mission, &change, at).await
}

/// Steps of a changed plan as items.
struct Steps {
    added: Vec<WorkItem>,
    edited: Vec<WorkItem>,
    rewired: Vec<WorkItem>,
}

impl Steps {
    fn of(planned: &Mission, changed: &Changed, place: &ChannelId, at: DateTime<Utc>) -> Self {
        let items = |is: &dyn Fn(&WorkItemId) -> bool| -> Vec<WorkItem> {
            let steps = changed.plan.steps.iter().filter(|step| is(&step.item));
            steps.map(|step| planned.item_of(step, place, at)).collect()
        };
        Self {
            added: items(&|item| changed.added.contains(item)),
            edited: items(&|item| changed.edited.contains(item)),
            rewired: items(&|item| changed.rewired.contains(item)),
        }
    }
}

/// An edit of all fields that may change in a step.
pub(super) fn edit_to(item: &WorkItem) -> ItemEdit<'_> {
    ItemEdit {
        what: Some(&item.what),
        how: Some(&item.how),
        owner: Some(&item.owner),
        criteria: Some(&item.criteria),
        reviewer: item.reviewer.as_ref(),
        due: item.due.map(DueChange::Set),
        execution: item.execution.as_ref(),
        chooses_kind: true,
        ..ItemEdit::default()
    }
}

/// The receiver's first step that has not begun. None if nothing is handed over.
fn find_next_step<'a>(plan: &'a Plan, items: &[WorkItem], message: &ColleagueMessage) -> Option<&'a Step> {
    let is_next = |step: &&Step| step.owner == message.to && standing_of(items, &step.item) == Standing::Open;
    plan.steps.iter().find(is_next).filter(|_| message.kind == MessageKind::HandOver)
}

pub(super) fn standing_of(items: &[WorkItem], step: &WorkItemId) -> Standing {
    match items.iter().find(|item| item.id == *step).map(|item| item.status) {
        None | Some(WorkStatus::New | WorkStatus::Ready | WorkStatus::Blocked) => Standing::Open,
        Some(WorkStatus::Done) => Standing::Done,
        Some(status) if status.is_over() => Standing::Lost,
        Some(_) => Standing::Begun,
    }
}
