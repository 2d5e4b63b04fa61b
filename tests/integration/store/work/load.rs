use std::time::{Duration, Instant};

use teamroom::features::backlog::model::{WorkItem, WorkStatus, graph};
use teamroom::features::backlog::store::End;
use teamroom::store::Store;

use super::{claim, end, failed, for_persona, insert, item, needing, plan, status};
use crate::store::sample::at;
use crate::store::{Home, on_both};

on_both!(
    ten_thousand_items_come_in_and_fail_with_the_one_that_they_need,
    a_long_chain_fails_from_its_end,
    a_claim_does_not_look_at_what_is_blocked_or_waits_for_a_busy_persona,
);

const MANY: i64 = 10_000;

/// The time limit for ten thousand items on a busy machine. PostgreSQL cancels waiting transactions after the same time.
const LIMIT: Duration = Duration::from_mins(1);

/// Prints how long something took.
fn tell(what: &str, began: Instant) {
    eprintln!("{what}: {:?}", began.elapsed());
    assert!(began.elapsed() < LIMIT, "{what}: {:?}", began.elapsed());
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
    let ranks: Vec<_> = graph::ranks(&open).into_iter().collect();
    store.set_ranks(&ranks).await.unwrap();
    tell("rank 10,000 items", began);

    assert!(store.plan_item(&base.id, &for_persona("vince"), at(1)).await.unwrap());
    let claimed = claim(&store).await;
    let began = Instant::now();
    let ended = end(&store, &claimed.job, failed()).await.unwrap();
    tell("fail 10,000 items", began);
    assert_eq!(ended.failed.len(), items.len() - 1);
    assert!(store.list_open_items().await.unwrap().is_empty());
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

/// The shortest of several claims, because other load only makes some slower.
async fn time_claims(store: &Store) -> Duration {
    let mut shortest = Duration::MAX;
    for _ in 0..31 {
        let began = Instant::now();
        let claimed = claim(store).await;
        shortest = shortest.min(began.elapsed());
        assert_eq!(claimed.item.persona, Some("solus".into()));
        end(store, &claimed.job, End::Released).await.unwrap();
    }
    shortest
}

async fn a_claim_does_not_look_at_what_is_blocked_or_waits_for_a_busy_persona(home: &Home) {
    let store = home.open().await;
    let (held, free) = (item("held", -2), item("free", 20_000));
    plan(&store, std::slice::from_ref(&held)).await;
    claim(&store).await;
    insert(&store, std::slice::from_ref(&free)).await;
    assert!(store.plan_item(&free.id, &for_persona("solus"), at(1)).await.unwrap());
    let alone = time_claims(&store).await;

    let planned = |number, status| WorkItem { status, persona: Some("vince".into()), ..item("in front", number) };
    let blocked: Vec<_> =
        (0..MANY).map(|number| WorkItem { depends_on: vec![held.id.clone()], ..planned(number, WorkStatus::Blocked) }).collect();
    insert(&store, &blocked).await;
    // PostgreSQL keeps the plan for a small table until its next ANALYZE, which runs by itself within a minute.
    crate::store::opening::tamper(home, "ANALYZE").await;
    let behind_blocked = time_claims(&store).await;
    let ready: Vec<_> = (0..MANY).map(|number| planned(number, WorkStatus::Ready)).collect();
    insert(&store, &ready).await;
    let behind_ready = time_claims(&store).await;
    eprintln!("claim: {alone:?} alone, {behind_blocked:?} behind 10,000 blocked, {behind_ready:?} behind 10,000 of a busy persona");
    // A scan would take a hundred times as long.
    let limit = alone * 10 + Duration::from_millis(5);
    assert!(behind_blocked < limit && behind_ready < limit, "{alone:?} {behind_blocked:?} {behind_ready:?}");
}
