//! Which changes wait for each other when items are changed at the same time.

use std::time::Duration;

use secrecy::ExposeSecret;
use sqlx::{Connection, Executor, PgConnection};
use teamroom::features::backlog::model::{WorkItem, WorkStatus};
use teamroom::features::backlog::store::ItemEdit;

use super::{claim, done, end, for_persona, insert, item, needing, part_of, plan, status};
use crate::store::opening::count;
use crate::store::sample::at;
use crate::store::{Home, on_both};
use crate::support::team::eventually;

on_both!(what_joins_two_families_while_they_end_is_released);

/// Runs on PostgreSQL only, because SQLite has a single writer.
#[tokio::test]
async fn waiting_for_a_family_holds_up_no_other() {
    let Some(home) = Home::postgres().await else { return };
    let store = home.open().await;
    let named = |id: &str| WorkItem { id: id.into(), ..item(id, 0) };
    let (stuck, free) = (named("stuck"), named("free"));
    let part = part_of(&stuck, "part");
    insert(&store, &[stuck.clone(), part.clone(), free.clone()]).await;
    // Another connection holds a row, so that a change of it cannot finish.
    let mut other = PgConnection::connect(home.url.expose_secret()).await.unwrap();
    let mut held = other.begin().await.unwrap();
    held.execute("SELECT 1 FROM work_items WHERE id = 'stuck' FOR UPDATE").await.unwrap();
    let edit = |id: &WorkItem| {
        let (store, id) = (store.clone(), id.id.clone());
        tokio::spawn(async move { store.edit_item(&id, &ItemEdit { why: Some("new"), ..ItemEdit::default() }, "Ada", at(30)).await })
    };
    let waiting = async |many: i64| {
        let sql = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
        eventually("they wait", async || count(&home, sql).await == many).await;
    };
    let of_it = edit(&stuck);
    waiting(1).await;
    let of_its_part = edit(&part);
    waiting(2).await;
    let of_another = tokio::time::timeout(Duration::from_secs(30), edit(&free)).await.expect("it does not wait");
    assert!(of_another.unwrap().unwrap());
    plan(&store, std::slice::from_ref(&free)).await;
    insert(&store, &[item("new", 1), needing("needs", &[&free])]).await;
    assert!(!of_it.is_finished() && !of_its_part.is_finished());
    held.rollback().await.unwrap();
    assert!(of_it.await.unwrap().unwrap() && of_its_part.await.unwrap().unwrap());
}

async fn what_joins_two_families_while_they_end_is_released(home: &Home) {
    let store = home.open().await;
    for round in 0..10 {
        let (one, two) = (item("one", 0), item("two", 1));
        insert(&store, &[one.clone(), two.clone()]).await;
        for (item, persona) in [(&one, "vince"), (&two, "solus")] {
            assert!(store.plan_item(&item.id, &for_persona(persona), at(1)).await.unwrap());
        }
        let (first, second) = (claim(&store).await, claim(&store).await);
        let both = needing("both", &[&one, &two]);
        let add = async {
            insert(&store, std::slice::from_ref(&both)).await;
            assert!(store.plan_item(&both.id, &for_persona("kelly"), at(2)).await.unwrap());
        };
        let ((), one, two) = tokio::join!(add, end(&store, &first.job, done()), end(&store, &second.job, done()));
        assert!(one.is_some() && two.is_some());
        assert_eq!(status(&store, &both).await, WorkStatus::Ready, "round {round}");
        let claimed = claim(&store).await;
        assert!(end(&store, &claimed.job, done()).await.is_some());
    }
}
