//! The jobs of items. They are enqueued in the transaction that changes the item, and an item names its open one.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::features::backlog::model::{Wait, WorkItem, WorkKind, WorkStatus};
use crate::features::backlog::store::families;
use crate::features::backlog::store::requests::follow_wait;
use crate::features::backlog::store::subjects;
use crate::features::backlog::store::transitions::ItemRecord;
use crate::store::Store;
use kernel::agent::halts::HaltScope;
use kernel::db::{Result, Transaction, sql};
use kernel::ids::{ChannelId, PersonaSlug, WorkItemId};
use kernel::jobs::{self, Job, JobId, NewJob, Paused};

/// Runs a ready item.
pub const RUN: &str = "item.run";
/// Judges an item in review, or asks people about an item that needs a decision.
pub const REVIEW: &str = "item.review";
/// Plans new items. One job for all of them, which sleeps until the next round and is woken by a new item.
pub const PLAN: &str = "backlog.plan";
/// Reminds a person of what an item asks them for.
pub const PERSON: &str = "item.person";
/// Announces items that ended because of others.
pub const ANNOUNCE: &str = "backlog.announce";
/// Writes `learnings.md`. It sleeps and is woken as the planner's job.
pub const LEARNINGS: &str = "backlog.learnings";
/// Follows a mission, from its plan to its delivery. Not a job of the backlog; each change of the mission's steps wakes it.
pub const MISSION: &str = "mission";

/// The payload of [`MISSION`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissionOf {
    pub mission: WorkItemId,
}

/// The payload of [`RUN`] and [`REVIEW`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ItemOf {
    pub(crate) item: WorkItemId,
    /// No persona could review it, so people do.
    #[serde(default)]
    pub(crate) by_people: bool,
}

/// The payload of [`ANNOUNCE`]: the events with these positions, of this item's family. In between there may be events of others.
#[derive(Debug, Serialize, Deserialize)]
pub struct EndedBetween {
    pub after: i64,
    pub until: i64,
    /// None in rows of earlier versions.
    #[serde(default)]
    pub connected_with: Option<WorkItemId>,
}

/// The queue of a persona's items, which it runs one at a time.
fn queue_of(persona: &PersonaSlug) -> String {
    format!("item:{persona}")
}

/// Sorts like the rank, then by age.
pub(super) fn priority_of(item: &str, rank: &str) -> String {
    format!("{rank} {item}")
}

pub(super) async fn enqueue_run(
    transaction: &mut Transaction,
    item: &str,
    persona: &str,
    rank: &str,
    not_before: Option<DateTime<Utc>>,
    at: DateTime<Utc>,
) -> Result<JobId> {
    jobs::enqueue(transaction, &run_of(item, persona, rank, not_before), at).await
}

fn run_of(item: &str, persona: &str, rank: &str, not_before: Option<DateTime<Utc>>) -> NewJob {
    let payload = ItemOf { item: item.into(), by_people: false };
    let job = NewJob::new(RUN, &payload).queue(queue_of(&persona.into())).priority(priority_of(item, rank));
    if let Some(time) = not_before { job.at(time) } else { job }
}

/// Enqueues the job that an item needs in its status.
pub(super) async fn enqueue_job(transaction: &mut Transaction, item: &WorkItem, rank: &str, at: DateTime<Utc>) -> Result<Option<JobId>> {
    match job_of(item, rank) {
        Some(job) => Ok(Some(jobs::enqueue(transaction, &job, at).await?)),
        None => Ok(None),
    }
}

/// The job that an item needs in its status. None for a new item, which the planner finds.
pub(super) fn job_of(item: &WorkItem, rank: &str) -> Option<NewJob> {
    match (item.status, &item.persona, &item.wait) {
        (WorkStatus::Ready | WorkStatus::InProgress, Some(persona), _) => {
            Some(run_of(item.id.as_str(), persona.as_str(), rank, item.not_before))
        }
        (WorkStatus::InReview, ..)
        | (WorkStatus::Waiting, _, Some(Wait::Decision { .. } | Wait::Help { .. } | Wait::Duplicate { .. } | Wait::Kind { .. })) => {
            Some(review_of(&item.id, false))
        }
        _ => None,
    }
}

fn review_of(item: &WorkItemId, by_people: bool) -> NewJob {
    NewJob::new(REVIEW, &ItemOf { item: item.clone(), by_people })
}

/// Wakes the one job of a kind, which sleeps most of the time. A run that is just ending begins again.
pub(crate) async fn wake_job(transaction: &mut Transaction, kind: &str, at: DateTime<Utc>) -> Result<()> {
    let job = jobs::enqueue(transaction, &NewJob::new(kind, &()).unique(kind), at).await?;
    jobs::wake_at(transaction, job, at).await?;
    Ok(())
}

/// Wakes the job of a mission. There is one at a time.
pub async fn wake_mission(transaction: &mut Transaction, mission: &WorkItemId, at: DateTime<Utc>) -> Result<()> {
    let job = NewJob::new(MISSION, &MissionOf { mission: mission.clone() }).unique(format!("{MISSION}:{mission}"));
    let job = jobs::enqueue(transaction, &job, at).await?;
    jobs::wake_at(transaction, job, at).await?;
    Ok(())
}

/// Tells the mission of a changed item, if it has one.
pub(super) async fn tell_mission(transaction: &mut Transaction, item: &WorkItem, at: DateTime<Utc>) -> Result<()> {
    match (item.kind, &item.parent) {
        (WorkKind::Mission, _) => wake_mission(transaction, &item.id, at).await,
        (WorkKind::Step, Some(mission)) => wake_mission(transaction, mission, at).await,
        _ => Ok(()),
    }
}

impl Store {
    /// What must not run: the queues of paused personas, the items of channels where people said stop, or all while the team is halted.
    pub async fn list_paused_runs(&self) -> Result<Paused> {
        let mut paused = Paused::default();
        for halt in self.list_halts().await? {
            match halt.scope {
                HaltScope::All => paused.all = true,
                HaltScope::Persona(persona) => drop(paused.queues.insert(queue_of(&persona))),
                HaltScope::Channel(channel) => {
                    paused.jobs.extend(self.list_work_in(&channel).await?.into_iter().filter_map(|(_, job)| job));
                }
            }
        }
        Ok(paused)
    }

    /// Whether people said stop in the channel of the item of a job, until they speak to the team there again.
    pub(crate) async fn is_held(&self, job: &Job) -> Result<bool> {
        Ok(self.list_paused_runs().await?.jobs.contains(&job.id))
    }

    /// The items that are worked on for a channel and its threads, each with its job, oldest first.
    pub(crate) async fn list_work_in(&self, channel: &ChannelId) -> Result<Vec<(WorkItemId, Option<JobId>)>> {
        let rows: Vec<(String, Option<i64>)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.id, work_items.job FROM work_items LEFT JOIN channels ON channels.id = work_items.channel
             WHERE work_items.status IN ('ready', 'in_progress', 'in_review') AND work_items.kind <> 'mission'
                 AND (work_items.channel = $1 OR channels.place LIKE $2)
             ORDER BY work_items.created_at, work_items.id",
            channel.as_str(),
            format!("%\"parent\":\"{channel}\"%")
        )?;
        Ok(rows.into_iter().map(|(item, job)| (item.into(), job.map(JobId))).collect())
    }

    /// Wakes the planner and the writer of the learnings, and gives a job to each item that needs one and has none, such as an item of an earlier
    /// version. Also opens missing requests of items that wait for a person, so that people are reminded. Returns the number of items without a job.
    pub async fn enqueue_lost_items(&self, at: DateTime<Utc>) -> Result<usize> {
        let mut transaction = self.db().begin().await?;
        let open: Vec<(String,)> = sql!(
            transaction.on(),
            fetch_all,
            "SELECT id FROM work_items WHERE status IN ('ready', 'in_progress', 'in_review', 'waiting')"
        )?;
        families::hold_all(&mut transaction, &open.iter().map(|(item,)| item.as_str()).collect::<Vec<_>>()).await?;
        let lost: Vec<(String,)> = sql!(
            transaction.on(),
            fetch_all,
            "SELECT id FROM work_items
             WHERE status IN ('ready', 'in_progress', 'in_review', 'waiting')
                 AND (status IN ('ready', 'in_progress') OR ((status = 'in_review' OR (status = 'waiting' AND (wait LIKE '{_decision_:%' OR wait LIKE '{_help_:%' OR wait LIKE '{_duplicate_:%' OR wait LIKE '{_kind_:%')))
                     AND NOT EXISTS (SELECT 1 FROM outbox
                         WHERE outbox.id = 'work-' || work_items.id || '-' || work_items.run || '-' || work_items.status)))
                 AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.id = work_items.job AND jobs.finished_at IS NULL)
             ORDER BY created_at, id"
        )?;
        for (item,) in &lost {
            if let Some(mut record) = ItemRecord::find(&mut transaction, &item.as_str().into()).await? {
                record.job = enqueue_job(&mut transaction, &record.item, &record.rank, at).await?;
                let updated_at = record.item.updated_at;
                record.save(&mut transaction, updated_at).await?;
            }
        }
        let asking: Vec<(String,)> = sql!(
            transaction.on(),
            fetch_all,
            "SELECT id FROM work_items WHERE status = 'waiting' AND (wait LIKE '{_answer_:%' OR wait LIKE '{_help_:%') ORDER BY id"
        )?;
        for (item,) in &asking {
            if let Some(record) = ItemRecord::find(&mut transaction, &item.as_str().into()).await? {
                follow_wait(&mut transaction, &record.item, WorkStatus::New, at).await?;
            }
        }
        subjects::insert_missing(&mut transaction).await?;
        wake_job(&mut transaction, PLAN, at).await?;
        wake_job(&mut transaction, LEARNINGS, at).await?;
        transaction.commit().await?;
        Ok(lost.len())
    }
}

/// Sets the item of a job that was given up aside, for a person to decide.
pub async fn set_item_aside(transaction: &mut Transaction, job: &Job, why: &str, at: DateTime<Utc>) -> Result<()> {
    let Some(mut record) = ItemRecord::of_job(transaction, job).await? else { return Ok(()) };
    record.item.attempts += 1;
    record.item.wait = Some(Wait::Decision { why: why.to_owned() });
    record.go(transaction, WorkStatus::Waiting, Some(why), at).await
}

/// Hands a review whose job was given up to people.
pub async fn review_by_people(transaction: &mut Transaction, job: &Job, at: DateTime<Utc>) -> Result<()> {
    let Ok(ItemOf { by_people: false, .. }) = job.read_payload() else { return Ok(()) };
    let Some(mut record) = ItemRecord::of_job(transaction, job).await? else { return Ok(()) };
    record.job = Some(jobs::enqueue(transaction, &review_of(&record.item.id, true), at).await?);
    record.save(transaction, at).await
}
