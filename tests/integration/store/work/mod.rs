//! The backlog's store.

mod ends;
mod graph;
mod items;
mod leases;
mod load;
mod persons;
mod planning;
mod property;
mod retention;

use kernel::chat::outbound::OutboundMessage;
use kernel::ids::{OutboxId, WorkItemId};
use teamroom::features::backlog::model::{Evidence, Execution, Lease, Wait, WorkItem, WorkStatus, WorkerId};
use teamroom::features::backlog::store::{ClaimTerms, Claimed, End, Ended, ItemEvent, Planned, RunEnd};
use teamroom::store::Store;

use super::sample::{at, line};
use super::standup::item;

/// The planner's usual decision: ready, for this persona.
fn for_persona(persona: &str) -> Planned<'static> {
    Planned { status: WorkStatus::Ready, execution: Some(Execution::Research), persona: Some(persona.into()), wait: None, note: None }
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

async fn try_claim(store: &Store, worker: &WorkerId) -> Option<Claimed> {
    store.claim_item(&ClaimTerms { worker, parallel: 3 }, at(10)).await.unwrap()
}

async fn claim(store: &Store) -> Claimed {
    try_claim(store, &WorkerId::generate()).await.expect("something is ready")
}

async fn end(store: &Store, lease: &Lease, end: End) -> Option<Ended> {
    store.end_run(&RunEnd { lease, end, outbox: &[], at: at(20) }).await.unwrap()
}

fn proof() -> Evidence {
    Evidence::Reading { feed: "checkout".into(), at: at(15) }
}

fn done() -> End {
    End::Done { outcome: "it is fast".into(), evidence: vec![proof()], memory: None }
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
    end(store, &claimed.lease, done()).await.expect("the lease is good")
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
