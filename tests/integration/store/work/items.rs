use teamroom::domain::ids::WorkItemId;
use teamroom::domain::work::WorkStatus::{Blocked, Cancelled, Done, Failed, InProgress, InReview, New, Ready, Waiting};
use teamroom::domain::work::{Origin, Owner, Urgency, WorkItem, WorkStatus};
use teamroom::store::{AdvanceError, ItemChange, ItemFilter, Store};

use crate::store::sample::at;
use crate::store::standup::item;
use crate::store::{Home, on_both};

on_both!(
    an_item_reads_back_as_it_was_written,
    items_are_listed_by_urgency_then_priority_then_age,
    items_are_listed_by_status_and_owner,
    an_item_advances_once_and_leaves_an_event,
    an_impossible_step_is_an_error_and_writes_nothing,
    of_many_workers_at_once_one_advances_an_item,
    what_became_of_items_is_told_once_for_each,
    items_are_counted_by_status,
    a_failure_in_the_middle_inserts_no_item,
);

const ALL: ItemFilter<'_> = ItemFilter { statuses: &[], owner: None, limit: 100 };

async fn insert(store: &Store, items: &[WorkItem]) {
    store.insert_items(items, at(0)).await.unwrap();
}

async fn list(store: &Store, filter: &ItemFilter<'_>) -> Vec<String> {
    store.list_items(filter).await.unwrap().into_iter().map(|item| item.what).collect()
}

async fn advance(store: &Store, item: &WorkItem, path: &[WorkStatus], seconds: i64) {
    for step in path.windows(2) {
        assert!(store.advance_item(&item.id, step[0], step[1], None, at(seconds)).await.unwrap(), "{step:?}");
    }
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

async fn an_item_advances_once_and_leaves_an_event(home: &Home) {
    let store = home.open().await;
    let made = item("profile checkout", 0);
    insert(&store, std::slice::from_ref(&made)).await;
    assert!(!store.advance_item(&made.id, Ready, InProgress, None, at(1)).await.unwrap(), "it does not stand there");
    assert!(!store.advance_item(&WorkItemId::new("unknown"), New, Ready, None, at(1)).await.unwrap());
    advance(&store, &made, &[New, Ready, InProgress], 2).await;
    assert!(store.advance_item(&made.id, InProgress, InReview, Some("the profile\0"), at(3)).await.unwrap());
    assert!(!store.advance_item(&made.id, InProgress, InReview, Some("late"), at(4)).await.unwrap());
    assert!(store.advance_item(&made.id, InReview, Done, None, at(5)).await.unwrap());
    let item = store.find_item(&made.id).await.unwrap().unwrap();
    assert_eq!((item.status, item.outcome.as_deref(), item.updated_at), (Done, Some("the profile"), at(5)));
    let change = store.list_items_changed(at(0), at(5)).await.unwrap();
    assert_eq!(change, [ItemChange { item, from: Some(New), to: Done }]);
}

async fn an_impossible_step_is_an_error_and_writes_nothing(home: &Home) {
    let store = home.open().await;
    let made = item("profile checkout", 0);
    insert(&store, std::slice::from_ref(&made)).await;
    let error = store.advance_item(&made.id, New, Done, Some("surely"), at(1)).await.unwrap_err();
    assert!(matches!(error, AdvanceError::Impossible(_)));
    assert_eq!(error.to_string(), "a work item that is new cannot become done");
    assert_eq!(store.find_item(&made.id).await.unwrap(), Some(made));
    assert!(store.list_items_changed(at(0), at(9)).await.unwrap().is_empty());
}

async fn of_many_workers_at_once_one_advances_an_item(home: &Home) {
    let store = home.open().await;
    let made = WorkItem { status: Ready, ..item("profile checkout", 0) };
    insert(&store, std::slice::from_ref(&made)).await;
    let workers: Vec<_> = (0..8)
        .map(|_| {
            let (store, id) = (store.clone(), made.id.clone());
            tokio::spawn(async move { store.advance_item(&id, Ready, InProgress, None, at(1)).await.unwrap() })
        })
        .collect();
    let mut advanced = 0;
    for worker in workers {
        advanced += usize::from(worker.await.unwrap());
    }
    assert_eq!(advanced, 1);
}

async fn what_became_of_items_is_told_once_for_each(home: &Home) {
    let store = home.open().await;
    let (old, moved, back) = (item("old", 0), item("moved", 0), item("there and back", 0));
    insert(&store, &[old.clone(), moved.clone(), back.clone()]).await;
    advance(&store, &back, &[New, Ready, InProgress], 10).await;
    advance(&store, &moved, &[New, Ready], 10).await;

    advance(&store, &back, &[InProgress, Ready, InProgress], 20).await;
    advance(&store, &moved, &[Ready, InProgress, Failed], 21).await;
    let fresh = item("fresh", 22);
    store.insert_items(std::slice::from_ref(&fresh), at(22)).await.unwrap();
    advance(&store, &fresh, &[New, Waiting], 23).await;
    advance(&store, &moved, &[Failed, Ready], 30).await;

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
    advance(&store, &items[0], &[New, Ready, InProgress, Done], 10).await;
    advance(&store, &items[1], &[New, Ready, InProgress, Done], 20).await;
    let counts = store.count_items(at(20)).await.unwrap();
    assert_eq!((counts.of(Done), counts.of(New), counts.of(Failed), counts.done_since), (2, 1, 0, 1));
}

async fn a_failure_in_the_middle_inserts_no_item(home: &Home) {
    let store = home.open().await;
    let items = [item("a", 0), item("b", 0)];
    crate::store::opening::tamper(home, "DROP TABLE work_events").await;
    store.insert_items(&items, at(0)).await.unwrap_err();
    assert!(store.list_items(&ALL).await.unwrap().is_empty());
}
