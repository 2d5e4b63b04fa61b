use chrono::{DateTime, TimeDelta, Utc};
use kernel::chat::outbound::{OutboundMessage, Posted};
use kernel::db::sql;
use kernel::testing::jobs::apply_rule;
use kernel::tools::workspace::Workspaces;
use teamroom::config::RetentionSettings;
use teamroom::features::backlog::model::{JournalEntry, WorkItem, WorkStatus};

use super::{claim, done, end, find, insert, item, needing, part_of, plan};
use crate::store::sample::{at, general, line};
use crate::store::{Home, on_both};

on_both!(an_item_that_ended_keeps_its_result_alone, the_workspace_of_an_item_that_ended_long_ago_is_removed);

async fn the_workspace_of_an_item_that_ended_long_ago_is_removed(home: &Home) {
    let store = home.open().await;
    let (over, needed, cut_off) = (item("over", 0), item("needed", 1), item("cut off", 2));
    let (waits, open) = (needing("waits", &[&needed]), item("open", 3));
    let whole = item("whole", 4);
    let part = part_of(&whole, "part");
    insert(&store, &[open.clone(), whole.clone()]).await;
    plan(&store, &[over.clone(), needed.clone(), cut_off.clone(), part.clone(), waits.clone()]).await;
    for _ in 0..4 {
        let claimed = claim(&store).await;
        end(&store, &claimed.job, done()).await.expect("the lease is good");
    }
    let dir = tempfile::tempdir().unwrap();
    let workspaces = Workspaces::new(dir.path().to_owned());
    let unknown = WorkItem { id: "of-another-database".into(), ..open.clone() };
    for item in [&over, &needed, &cut_off, &waits, &open, &part, &unknown] {
        workspaces.open(&item.id).await.unwrap().write("plan.md", b"text").await.unwrap();
    }
    let ended_at = find(&store, &over).await.updated_at;
    assert!(!store.is_long_over(&over.id, ended_at).await.unwrap());
    // A process was killed while it removed a workspace.
    let removed = dir.path().join(".teamroom-removed").join(cut_off.id.as_str());
    std::fs::create_dir_all(removed.parent().unwrap()).unwrap();
    std::fs::rename(dir.path().join(cut_off.id.as_str()), &removed).unwrap();

    let run = async |clock: DateTime<Utc>| {
        let settings = RetentionSettings { work_days: 180, ..RetentionSettings::default() };
        let rules = teamroom::app::retention_rules(&settings, &workspaces);
        let of_no_table = rules.iter().filter(|rule| rule.tables().is_empty());
        for rule in of_no_table {
            apply_rule(rule, &store.database(), clock).await.unwrap();
        }
    };
    run(ended_at + TimeDelta::days(179)).await;
    assert!(workspaces.list_items().await.unwrap().contains(&over.id), "not yet");
    run(ended_at + TimeDelta::days(181)).await;
    let kept = [&needed, &waits, &open, &part, &unknown].map(|item| item.id.clone());
    let left = workspaces.list_items().await.unwrap();
    assert!(!left.contains(&over.id) && !removed.exists(), "{left:?}");
    assert!(kept.iter().all(|id| left.contains(id)), "{left:?}");
    assert_eq!(find(&store, &over).await.status, WorkStatus::Done, "the item is kept");
}

async fn an_item_that_ended_keeps_its_result_alone(home: &Home) {
    let store = home.open().await;
    let (over, needed) = (item("over", 0), item("needed", 1));
    let (waits, open) = (needing("waits", &[&needed]), item("open", 3));
    plan(&store, &[over.clone(), needed.clone(), waits.clone()]).await;
    for _ in 0..2 {
        let claimed = claim(&store).await;
        let entry = JournalEntry::Began { call: "1".into(), own_words: None };
        assert!(store.append_journal(&claimed.job, &claimed.item, &[entry], at(15)).await.unwrap());
        end(&store, &claimed.job, done()).await.expect("the lease is good");
    }
    insert(&store, std::slice::from_ref(&open)).await;
    let told = store.find_item(&over.id).await.unwrap().expect("the item");
    store.enqueue_once(&OutboundMessage { id: told.notice_id(), ..line("done") }, at(20)).await.unwrap();
    store.record_sent(&told.notice_id(), &Posted { channel: general().id, message: "p1".into(), at: at(21) }).await.unwrap();

    assert_eq!(store.delete_work_before(at(20), 9).await.unwrap(), 0, "none ended that long ago");
    assert_eq!(store.delete_work_before(at(1_000_000), 1).await.unwrap(), 1, "no more than the limit");
    assert_eq!(store.delete_work_before(at(1_000_000), 9).await.unwrap(), 0);
    assert_eq!(store.find_item(&over.id).await.unwrap(), Some(told.clone()), "the item and its result are kept");
    assert!(store.list_events(&over.id).await.unwrap().is_empty());
    assert!(store.list_journal(&over.id, told.run).await.unwrap().is_empty());
    for item in [&needed, &waits, &open] {
        assert!(!store.list_events(&item.id).await.unwrap().is_empty(), "{}", item.what);
    }
    assert!(!store.list_journal(&needed.id, told.run).await.unwrap().is_empty(), "an open item needs it");
    let (notices,): (i64,) = sql!(store.db().read(), fetch_one, "SELECT COUNT(*) FROM outbox").unwrap();
    assert_eq!(notices, 0, "what was told of it is gone too");
}
