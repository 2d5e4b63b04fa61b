use teamroom::features::backlog::model::graph::GraphError;
use teamroom::features::backlog::model::{WorkItem, WorkStatus};
use teamroom::features::backlog::store::{InsertItemsError, ItemFilter};
use teamroom::store::Store;

use super::{claim, do_next, end, failed, insert, item, needing, outcome, part_of, plan, status};
use crate::store::sample::at;
use crate::store::{Home, on_both};

on_both!(
    items_that_cannot_end_are_refused_as_a_whole,
    a_circle_through_the_backlog_is_seen,
    what_needs_something_done_may_start,
    what_needs_something_failed_fails_at_once,
    the_same_items_twice_are_inserted_once,
);

async fn refuse(store: &Store, items: &[WorkItem]) -> GraphError {
    match store.insert_items(items, at(5)).await {
        Err(InsertItemsError::Graph(error)) => error,
        other => panic!("{other:?}"),
    }
}

async fn items_that_cannot_end_are_refused_as_a_whole(home: &Home) {
    let store = home.open().await;
    let good = item("good", 0);
    let dangling = WorkItem { depends_on: vec!["nowhere".into()], ..item("dangling", 0) };
    assert!(matches!(refuse(&store, &[good.clone(), dangling]).await, GraphError::UnknownNeed { .. }));
    let orphan = WorkItem { parent: Some("nowhere".into()), ..item("orphan", 0) };
    assert!(matches!(refuse(&store, &[good.clone(), orphan]).await, GraphError::UnknownParent { .. }));
    let mut one = item("one", 0);
    let two = needing("two", &[&one]);
    one.depends_on.push(two.id.clone());
    let error = refuse(&store, &[good, one, two]).await.to_string();
    assert!(error.contains("\"one\"") && error.contains("\"two\"") && !error.contains("good"), "{error}");
    assert!(store.list_items(&ItemFilter { statuses: &[], owner: None, scope: None, limit: 9 }).await.unwrap().is_empty());
    assert_eq!(store.backlog_mark().await.unwrap(), 0);
}

async fn a_circle_through_the_backlog_is_seen(home: &Home) {
    let store = home.open().await;
    let whole = item("whole", 0);
    let after = needing("after", &[&whole]);
    insert(&store, &[whole.clone(), after.clone()]).await;
    // A cycle: it waits for an item that waits for its parent.
    let part = WorkItem { parent: Some(whole.id.clone()), ..needing("part", &[&after]) };
    let error = refuse(&store, &[part]).await;
    assert!(matches!(&error, GraphError::Circle(circle) if circle.len() == 3), "{error}");
    insert(&store, &[part_of(&whole, "another part")]).await;
}

async fn what_needs_something_done_may_start(home: &Home) {
    let store = home.open().await;
    let base = item("base", 0);
    plan(&store, std::slice::from_ref(&base)).await;
    do_next(&store).await;
    let top = needing("top", &[&base]);
    plan(&store, std::slice::from_ref(&top)).await;
    assert_eq!(status(&store, &top).await, WorkStatus::Ready);
}

async fn what_needs_something_failed_fails_at_once(home: &Home) {
    let store = home.open().await;
    let base = item("base", 0);
    plan(&store, std::slice::from_ref(&base)).await;
    let claimed = claim(&store).await;
    end(&store, &claimed.job, failed()).await.unwrap();
    let top = needing("top", &[&base]);
    let above = needing("above", &[&top]);
    let free = item("free", 0);
    insert(&store, &[above.clone(), top.clone(), free.clone()]).await;
    assert_eq!(outcome(&store, &top).await, (WorkStatus::Failed, "it needs \"base\", which failed".into()));
    assert_eq!(outcome(&store, &above).await, (WorkStatus::Failed, "it needs \"top\", which failed".into()));
    assert_eq!(status(&store, &free).await, WorkStatus::New);
}

async fn the_same_items_twice_are_inserted_once(home: &Home) {
    let store = home.open().await;
    let base = item("base", 0);
    let top = needing("top", &[&base]);
    let batch = [base.clone(), top.clone()];
    insert(&store, &batch).await;
    store.cancel_item(&base.id, "Ada", &[], at(1)).await.unwrap().unwrap();
    let mark = store.backlog_mark().await.unwrap();
    insert(&store, &batch).await;
    assert_eq!((status(&store, &base).await, status(&store, &top).await), (WorkStatus::Cancelled, WorkStatus::Failed));
    assert_eq!(store.backlog_mark().await.unwrap(), mark, "and nothing has happened");
}
