use kernel::ids::{MeetingId, WorkItemId};
use teamroom::features::backlog::model::WorkStatus::{Blocked, Cancelled, Done, Failed, InProgress, InReview, New, Ready, Waiting};
use teamroom::features::backlog::model::{Origin, Owner, Urgency, Wait, WorkItem, WorkStatus};
use teamroom::features::backlog::store::{End, ItemFilter, Planned, RunEnd};
use teamroom::store::Store;

use super::{Held, claim_at, done, failed, for_persona, insert};
use crate::store::sample::{at, item};
use crate::store::{Home, on_both};

on_both!(
    an_item_reads_back_as_it_was_written,
    items_are_listed_by_urgency_then_priority_then_age,
    items_are_listed_by_status_and_owner,
    what_became_of_items_is_told_once_for_each,
    items_are_counted_by_status,
    a_failure_in_the_middle_inserts_no_item,
    the_team_met_last_where_the_latest_item_of_a_meeting_came_from,
);

const ALL: ItemFilter<'_> = ItemFilter { statuses: &[], owner: None, limit: 100 };

async fn list(store: &Store, filter: &ItemFilter<'_>) -> Vec<String> {
    store.list_items(filter).await.unwrap().into_iter().map(|item| item.what).collect()
}

async fn plan(store: &Store, item: &WorkItem, persona: &str, seconds: i64) {
    assert!(store.plan_item(&item.id, &for_persona(persona), at(seconds)).await.unwrap());
}

async fn claim(store: &Store, seconds: i64) -> Held {
    claim_at(store, 3, at(seconds)).await.expect("something is ready")
}

async fn end(store: &Store, claimed: &Held, end: End, seconds: i64) {
    let end = RunEnd { job: &claimed.job, end, artefacts: &[], outbox: &[], at: at(seconds) };
    assert!(store.end_run(&end).await.unwrap().is_some());
}

async fn an_item_reads_back_as_it_was_written(home: &Home) {
    let store = home.open().await;
    let needed = [item("measure", 0), item("decide", 0), item("ask", 0), item("make checkout fast", 0)];
    let whole = WorkItem {
        owner: Owner::Person { id: "7".into(), name: "Ben \"B\" O'Neil".into() },
        urgency: Urgency::ThisWeek,
        priority: 4,
        criteria: vec!["a, b".into(), "c\0d".into()],
        status: Blocked,
        attempts: 2,
        parent: Some(needed[3].id.clone()),
        depends_on: vec![needed[2].id.clone(), needed[0].id.clone(), needed[1].id.clone()],
        origin: Origin::Person { id: "1".into(), name: "Ada".into(), message: Some("m1".into()) },
        outcome: Some("waits".into()),
        ..item("roll it back", 5)
    };
    insert(&store, &needed).await;
    insert(&store, std::slice::from_ref(&whole)).await;
    insert(&store, &[WorkItem { what: "changed".into(), depends_on: vec![], ..whole.clone() }]).await;
    store.close().await;

    let store = home.open().await;
    assert_eq!(store.find_item(&whole.id).await.unwrap(), Some(whole.clone()), "what is there stays as it is");
    assert_eq!(store.list_items_changed(at(-1), at(0)).await.unwrap().len(), 5, "and begins once");
    assert_eq!(store.find_item(&WorkItemId::new("unknown")).await.unwrap(), None);
    let nul = WorkItem { what: "a\0b".into(), ..item("", 6) };
    insert(&store, std::slice::from_ref(&nul)).await;
    assert_eq!(store.find_item(&nul.id).await.unwrap().unwrap().what, "ab");
}

async fn items_are_listed_by_urgency_then_priority_then_age(home: &Home) {
    let store = home.open().await;
    let made = |what: &str, urgency, priority, seconds| WorkItem { urgency, priority, ..item(what, seconds) };
    insert(
        &store,
        &[
            made("f", Urgency::Backlog, 0, 0),
            made("d", Urgency::Today, 2, 9),
            made("e", Urgency::ThisWeek, 0, 0),
            made("a", Urgency::Now, 4, 9),
            made("c", Urgency::Today, 2, 1),
            made("b", Urgency::Today, 1, 5),
        ],
    )
    .await;
    assert_eq!(list(&store, &ALL).await, ["a", "b", "c", "d", "e", "f"]);
    assert_eq!(list(&store, &ItemFilter { limit: 2, ..ALL }).await, ["a", "b"]);
    let titles: Vec<_> = store.list_open_titles().await.unwrap().into_iter().map(|(_, what)| what).collect();
    assert_eq!(titles, ["f", "e", "c", "b", "d", "a"], "titles come by age");
}

async fn items_are_listed_by_status_and_owner(home: &Home) {
    let store = home.open().await;
    let all = [New, Ready, Blocked, InProgress, InReview, Waiting, Done, Failed, Cancelled];
    let ben = Owner::Person { id: "7".into(), name: "Ben".into() };
    for (status, seconds) in all.into_iter().zip(0..) {
        let owner = if seconds % 2 == 0 { Owner::Persona("vince".into()) } else { ben.clone() };
        insert(&store, &[WorkItem { status, owner, ..item(status.as_str(), seconds) }]).await;
    }
    assert_eq!(list(&store, &ALL).await, all.map(WorkStatus::as_str));
    for status in all {
        assert_eq!(list(&store, &ItemFilter { statuses: &[status], ..ALL }).await, [status.as_str()]);
    }
    let renamed = Owner::Person { id: "7".into(), name: "Benjamin".into() };
    let his = ItemFilter { owner: Some(&renamed), ..ALL };
    assert_eq!(list(&store, &his).await, ["ready", "in_progress", "waiting", "failed"], "a person is known by the account");
    assert_eq!(list(&store, &ItemFilter { statuses: &[Failed, New, Ready], ..his }).await, ["ready", "failed"]);
    let nobody = Owner::Persona("7".into());
    assert!(list(&store, &ItemFilter { owner: Some(&nobody), ..ALL }).await.is_empty());
    let open: Vec<_> = store.list_open_titles().await.unwrap().into_iter().map(|(_, what)| what).collect();
    assert_eq!(open, ["new", "ready", "blocked", "in_progress", "in_review", "waiting"]);
}

async fn what_became_of_items_is_told_once_for_each(home: &Home) {
    let store = home.open().await;
    let (old, moved, back) = (item("old", 0), item("moved", 0), item("there and back", 0));
    insert(&store, &[old.clone(), moved.clone(), back.clone()]).await;
    plan(&store, &back, "vince", 10).await;
    let first = claim(&store, 10).await;
    plan(&store, &moved, "echo", 10).await;

    end(&store, &first, End::Later { at: at(20), why: "not now".into() }, 20).await;
    for claimed in [claim(&store, 20).await, claim(&store, 20).await] {
        if claimed.item.id == moved.id {
            end(&store, &claimed, failed(), 21).await;
        }
    }
    let fresh = item("fresh", 22);
    store.insert_items(std::slice::from_ref(&fresh), at(22)).await.unwrap();
    let no_model = Planned { status: Waiting, wait: Some(Wait::Model), ..for_persona("vince") };
    assert!(store.plan_item(&fresh.id, &no_model, at(23)).await.unwrap());
    assert!(store.retry_item(&moved.id, "Ada", at(30)).await.unwrap());

    let changes = store.list_items_changed(at(10), at(23)).await.unwrap();
    let told: Vec<_> = changes.iter().map(|change| (change.item.what.as_str(), change.from, change.to)).collect();
    assert_eq!(told, [("moved", Some(Ready), Failed), ("fresh", None, Waiting)]);
    assert_eq!(changes[0].item.status, Ready, "the item itself is as it is now");
    assert!(store.list_items_changed(at(30), at(99)).await.unwrap().is_empty(), "what happened at the last report was told there");
}

async fn items_are_counted_by_status(home: &Home) {
    let store = home.open().await;
    assert_eq!(store.count_items(at(0)).await.unwrap().by_status, []);
    let items = [item("a", 0), item("b", 0), item("c", 0)];
    insert(&store, &items).await;
    for (item, seconds) in items.iter().zip([10, 20]) {
        plan(&store, item, "vince", seconds).await;
        let claimed = claim(&store, seconds).await;
        end(&store, &claimed, done(), seconds).await;
    }
    let counts = store.count_items(at(20)).await.unwrap();
    assert_eq!((counts.of(Done), counts.of(New), counts.of(Failed), counts.done_since), (2, 1, 0, 1));
}

async fn a_failure_in_the_middle_inserts_no_item(home: &Home) {
    let store = home.open().await;
    let items = [item("a", 0), item("b", 0)];
    crate::store::opening::tamper(home, "DROP TABLE events").await;
    store.insert_items(&items, at(0)).await.unwrap_err();
    assert!(store.list_items(&ALL).await.unwrap().is_empty());
}

async fn the_team_met_last_where_the_latest_item_of_a_meeting_came_from(home: &Home) {
    let store = home.open().await;
    assert_eq!(store.find_meeting_channel().await.unwrap(), None);
    let met = |seconds, channel: &str| WorkItem {
        origin: Origin::Meeting(MeetingId::from("m1").into()),
        channel: Some(channel.into()),
        ..item(&format!("from {channel}"), seconds)
    };
    let private = WorkItem { private_to: Some("private".into()), ..met(9, "private") };
    let of_a_person = WorkItem { channel: Some("general".into()), ..item("asked for", 8) };
    insert(&store, &[met(1, "earlier"), met(3, "ops"), met(2, "daily"), private, of_a_person]).await;
    assert_eq!(store.find_meeting_channel().await.unwrap(), Some("ops".into()));
}
