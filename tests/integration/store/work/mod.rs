//! The backlog's store.

mod adding;
mod bulk;
mod ends;
mod families;
mod graph;
mod items;
mod load;
mod marks;
mod persons;
mod planning;
mod property;
mod restoring;
mod retention;
mod runs;

use std::ops::Deref;

use chrono::{DateTime, Utc};
use kernel::chat::outbound::OutboundMessage;
use kernel::db::sql;
use kernel::ids::{OutboxId, WorkItemId};
use kernel::jobs::{JobContext, JobState};
use kernel::testing::jobs::ManualWorker;
use teamroom::features::backlog::model::{Evidence, Execution, Wait, WorkItem, WorkStatus};
use teamroom::features::backlog::store::{Claimed, End, Ended, ItemEvent, Planned, RUN, RunEnd, set_item_aside};
use teamroom::store::Store;

use super::sample::{at, item, line};

/// The planner's usual decision: ready, for this persona.
fn for_persona(persona: &str) -> Planned<'static> {
    Planned {
        status: WorkStatus::Ready,
        execution: Some(Execution::Research),
        persona: Some(persona.into()),
        criteria: Vec::new(),
        wait: None,
        not_before: None,
        note: None,
    }
}

async fn insert(store: &Store, items: &[WorkItem]) {
    store.insert_items(items, at(0)).await.unwrap();
}

/// Adds and plans items for Vince.
async fn plan(store: &Store, items: &[WorkItem]) {
    insert(store, items).await;
    for item in items {
        assert!(store.plan_item(&item.id, &for_persona("vince"), at(1)).await.unwrap(), "{}", item.what);
    }
}

fn needing(what: &str, needed: &[&WorkItem]) -> WorkItem {
    WorkItem { depends_on: needed.iter().map(|item| item.id.clone()).collect(), ..item(what, 0) }
}

fn part_of(parent: &WorkItem, what: &str) -> WorkItem {
    WorkItem { parent: Some(parent.id.clone()), ..item(what, 0) }
}

async fn find(store: &Store, item: &WorkItem) -> WorkItem {
    store.find_item(&item.id).await.unwrap().unwrap()
}

async fn status(store: &Store, item: &WorkItem) -> WorkStatus {
    find(store, item).await.status
}

async fn outcome(store: &Store, item: &WorkItem) -> (WorkStatus, String) {
    let item = find(store, item).await;
    (item.status, item.outcome.unwrap_or_default())
}

async fn last_event(store: &Store, item: &WorkItem) -> ItemEvent {
    store.list_events(&item.id).await.unwrap().pop().unwrap()
}

/// A claimed item, and the worker that runs nothing else.
struct Held {
    claimed: Claimed,
    worker: ManualWorker,
}

impl Deref for Held {
    type Target = Claimed;

    fn deref(&self) -> &Claimed {
        &self.claimed
    }
}

impl Held {
    /// Ends the run as if its process had died.
    async fn die(&self) {
        self.worker.die(at(30)).await.unwrap();
    }

    async fn is_held(&self, store: &Store) -> bool {
        let job = self.job.job();
        let row = kernel::jobs::find(&store.database(), job.id).await.unwrap().expect("it is there");
        row.state == JobState::Running && row.job.token == job.token
    }
}

async fn try_claim(store: &Store) -> Option<Held> {
    claim_at(store, 3, at(10)).await
}

/// Claims as the worker does. An item whose process died three times is set aside.
async fn claim_at(store: &Store, parallel: u32, at: DateTime<Utc>) -> Option<Held> {
    let worker = ManualWorker::start(store.database(), at).await.unwrap();
    loop {
        let job = worker.claim(RUN, parallel, &store.list_paused_runs().await.unwrap(), at).await.unwrap()?;
        let crashes = job.job().crashes;
        if crashes < 3 {
            let claimed = store.start_run(&job, at).await.unwrap().expect("its item needs it");
            return Some(Held { claimed, worker });
        }
        let mut transaction = store.db().begin().await.unwrap();
        let why = format!("its worker died over it {crashes} times in a row");
        set_item_aside(&mut transaction, job.job(), &why, at).await.unwrap();
        assert!(job.finish_with(transaction).await.unwrap());
    }
}

async fn claim(store: &Store) -> Held {
    try_claim(store).await.expect("something is ready")
}

/// The items whose jobs are running.
async fn list_running(store: &Store) -> Vec<WorkItemId> {
    let rows: Vec<(String,)> = sql!(
        store.db().read(),
        fetch_all,
        "SELECT work_items.id FROM work_items JOIN jobs ON jobs.id = work_items.job WHERE jobs.state = 'running'"
    )
    .unwrap();
    rows.into_iter().map(|(id,)| id.into()).collect()
}

async fn end(store: &Store, job: &JobContext, end: End) -> Option<Ended> {
    store.end_run(&RunEnd { job, end, artefacts: &[], outbox: &[], at: at(20) }).await.unwrap()
}

fn proof() -> Evidence {
    Evidence::Reading { feed: "checkout".into(), at: at(15) }
}

fn done() -> End {
    End::Done { outcome: "it is fast".into(), evidence: vec![proof()], memories: Vec::new() }
}

fn failed() -> End {
    End::Failed { why: "it cannot be done".into(), memory: None }
}

fn waits(wait: Wait) -> End {
    End::Waits { wait, evidence: vec![] }
}

/// Claims the next item and completes it.
async fn do_next(store: &Store) -> Ended {
    let claimed = claim(store).await;
    end(store, &claimed.job, done()).await.expect("the lease is good")
}

fn no_post(_: &WorkItem) -> Vec<OutboundMessage> {
    Vec::new()
}

/// The ids of pending messages, in order.
async fn posts(store: &Store) -> Vec<OutboxId> {
    store.next_pending(&line("").channel, at(9_999)).await.unwrap().into_iter().map(|row| row.message.id).collect()
}

fn ids(items: &[&WorkItem]) -> Vec<WorkItemId> {
    items.iter().map(|item| item.id.clone()).collect()
}

/// The note of the last change to a status.
async fn last_note(store: &Store, item: &WorkItem, to: WorkStatus) -> String {
    let events = store.list_events(&item.id).await.unwrap();
    events.into_iter().rfind(|event| event.to == to).and_then(|event| event.note).unwrap_or_default()
}
