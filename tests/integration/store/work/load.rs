use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use kernel::db::Backend;
use teamroom::features::backlog::model::{WorkItem, WorkStatus, graph};
use teamroom::features::backlog::store::End;
use teamroom::store::Store;

use super::{claim, end, failed, for_persona, insert, item, needing, part_of, plan, status};
use crate::store::sample::at;
use crate::store::{Home, on_both};

on_both!(
    ten_thousand_items_come_in_and_fail_with_the_one_that_they_need,
    a_long_chain_fails_from_its_end,
    a_part_is_added_to_ten_thousand_in_as_many_steps_as_to_ten,
    a_claim_does_not_look_at_what_is_blocked_and_hardly_at_what_waits_for_a_busy_persona,
);

const MANY: i64 = 10_000;

/// Prints how long something took. The benchmark `cargo bench --bench backlog` compares such times.
fn tell(what: &str, began: Instant) {
    eprintln!("{what}: {:?}", began.elapsed());
}

async fn ten_thousand_items_come_in_and_fail_with_the_one_that_they_need(home: &Home) {
    let store = home.open().await;
    let base = item("base", -1);
    let mut items: Vec<_> = (0..MANY).map(|number| WorkItem { depends_on: vec![base.id.clone()], ..item("leaf", number) }).collect();
    items.push(base.clone());
    let began = Instant::now();
    insert(&store, &items).await;
    tell("insert 10,000 items", began);

    let began = Instant::now();
    let open = store.list_open_items().await.unwrap();
    assert_eq!(open.len(), items.len());
    // The items were ranked together when they were added.
    store.set_ranks(&graph::ranks(&open).into_iter().collect::<Vec<_>>()).await.unwrap();
    assert_eq!(store.rank_all().await.unwrap(), 0);
    tell("rank 10,000 items", began);

    assert!(store.plan_item(&base.id, &for_persona("vince"), at(1)).await.unwrap());
    let claimed = claim(&store).await;
    let began = Instant::now();
    let ended = end(&store, &claimed.job, failed()).await.unwrap();
    tell("fail 10,000 items", began);
    assert_eq!(ended.failed.len(), items.len() - 1);
    assert!(store.list_open_items().await.unwrap().is_empty());
}

/// Takes less than 3 s with `--release`.
#[tokio::test]
async fn ten_thousand_items_are_planned_at_once() {
    let home = Home::sqlite();
    let store = home.open().await;
    insert(&store, &(0..MANY).map(|number| item("leaf", number)).collect::<Vec<_>>()).await;
    let began = Instant::now();
    loop {
        let new = store.list_unplanned(200).await.unwrap();
        let plans: Vec<_> = new.into_iter().map(|item| (item.id, for_persona("vince"))).collect();
        if store.plan_items(&plans, at(1)).await.unwrap() == 0 {
            break;
        }
    }
    tell("plan 10,000 items", began);
    let open = store.list_open_items().await.unwrap();
    assert!(open.len() == 10_000 && open.iter().all(|item| item.status == WorkStatus::Ready));
}

async fn a_long_chain_fails_from_its_end(home: &Home) {
    let store = home.open().await;
    let mut items = vec![item("0", 0)];
    for number in 1..1_000 {
        items.push(needing(&number.to_string(), &[&items[number - 1]]));
    }
    insert(&store, &items).await;
    let began = Instant::now();
    let ended = store.cancel_item(&items[0].id, "Ada", &[], at(1)).await.unwrap().unwrap();
    tell("fail a chain of 1,000 items", began);
    assert_eq!(ended.failed.len(), 999);
    assert_eq!(status(&store, items.last().unwrap()).await, WorkStatus::Failed);
}

/// Counts the steps of SQLite's engine, which other load does not change, unlike times. The tests use a store's connections one after the other, so
/// one for reading and one for writing serve all. None on PostgreSQL, whose times the benchmark compares.
async fn count_steps(store: &Store) -> Option<Arc<AtomicU64>> {
    let (Backend::Sqlite(readers), Backend::Sqlite(writers)) = (store.db().read(), store.db().write().unwrap()) else { return None };
    let steps = Arc::new(AtomicU64::new(0));
    for connections in [readers, writers] {
        let counted = steps.clone();
        connections.acquire().await.unwrap().lock_handle().await.unwrap().set_progress_handler(1, move || {
            counted.fetch_add(1, Ordering::SeqCst);
            true
        });
    }
    Some(steps)
}

/// The steps since the last call.
fn take(steps: Option<&Arc<AtomicU64>>) -> u64 {
    steps.map_or(0, |steps| steps.swap(0, Ordering::SeqCst))
}

/// Adds a part that needs another item. Returns the steps.
async fn add_part(store: &Store, whole: &WorkItem, needed: &WorkItem, steps: Option<&Arc<AtomicU64>>) -> u64 {
    let part = WorkItem { depends_on: vec![needed.id.clone()], ..part_of(whole, "one more") };
    take(steps);
    insert(store, std::slice::from_ref(&part)).await;
    take(steps)
}

async fn a_part_is_added_to_ten_thousand_in_as_many_steps_as_to_ten(home: &Home) {
    let store = home.open().await;
    let (small, large, needed) = (item("small", 0), item("large", 1), item("needed", 2));
    let parts = |whole: &WorkItem, count| (0..count).map(|number| part_of(whole, &format!("part {number}"))).collect::<Vec<_>>();
    insert(&store, &[small.clone(), large.clone(), needed.clone()]).await;
    insert(&store, &parts(&small, 10)).await;
    let steps = count_steps(&store).await;
    let to_ten = add_part(&store, &small, &needed, steps.as_ref()).await;
    insert(&store, &parts(&large, 10_000)).await;
    crate::store::opening::tamper(home, "ANALYZE").await;
    // The first addition after so many rows does something for all of them, once.
    add_part(&store, &large, &needed, steps.as_ref()).await;
    let to_many = add_part(&store, &large, &needed, steps.as_ref()).await;
    // Reading all open items would take a hundred times as many.
    assert!(to_many <= to_ten * 2, "{to_ten} {to_many}");
    assert_eq!(steps.is_some(), to_ten > 100, "{to_ten}");
    // An item that the parts need must not wait for the whole.
    let circle = WorkItem { depends_on: vec![large.id.clone()], ..part_of(&large, "after all") };
    let error = store.insert_items(std::slice::from_ref(&circle), at(1)).await.expect_err("a circle");
    assert!(error.to_string().contains("wait for each other"), "{error}");
}

/// Claims the item of Solus and gives it back. Returns the steps.
async fn claim_once(store: &Store, steps: Option<&Arc<AtomicU64>>) -> u64 {
    take(steps);
    let claimed = claim(store).await;
    let taken = take(steps);
    assert_eq!(claimed.item.persona, Some("solus".into()));
    end(store, &claimed.job, End::Released).await.unwrap();
    taken
}

async fn a_claim_does_not_look_at_what_is_blocked_and_hardly_at_what_waits_for_a_busy_persona(home: &Home) {
    let store = home.open().await;
    let (held, free) = (item("held", -2), item("free", 20_000));
    plan(&store, std::slice::from_ref(&held)).await;
    claim(&store).await;
    insert(&store, std::slice::from_ref(&free)).await;
    assert!(store.plan_item(&free.id, &for_persona("solus"), at(1)).await.unwrap());
    let steps = count_steps(&store).await;
    let alone = claim_once(&store, steps.as_ref()).await;

    let planned = |number, status| WorkItem { status, persona: Some("vince".into()), ..item("in front", number) };
    let blocked: Vec<_> =
        (0..MANY).map(|number| WorkItem { depends_on: vec![held.id.clone()], ..planned(number, WorkStatus::Blocked) }).collect();
    insert(&store, &blocked).await;
    // PostgreSQL keeps the plan for a small table until its next ANALYZE, which runs by itself within a minute.
    crate::store::opening::tamper(home, "ANALYZE").await;
    // The first claim after so many rows does something for all of them, once.
    claim_once(&store, steps.as_ref()).await;
    let behind_blocked = claim_once(&store, steps.as_ref()).await;
    let ready: Vec<_> = (0..MANY).map(|number| planned(number, WorkStatus::Ready)).collect();
    insert(&store, &ready).await;
    crate::store::opening::tamper(home, "ANALYZE").await;
    let behind_ready = claim_once(&store, steps.as_ref()).await;
    assert!(behind_blocked <= alone * 2, "{alone} {behind_blocked}");
    // It passes over each item that is ready, in five steps.
    assert!(behind_ready <= alone + MANY.unsigned_abs() * 8, "{alone} {behind_ready}");
    assert_eq!(steps.is_some(), alone > 100, "{alone}");
}
