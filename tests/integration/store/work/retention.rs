use kernel::chat::outbound::{OutboundMessage, Posted};
use kernel::db::sql;
use teamroom::features::backlog::model::JournalEntry;

use super::{claim, done, end, insert, item, needing, plan};
use crate::store::sample::{at, general, line};
use crate::store::{Home, on_both};

on_both!(an_item_that_ended_keeps_its_result_alone);

async fn an_item_that_ended_keeps_its_result_alone(home: &Home) {
    let store = home.open().await;
    let (over, needed) = (item("over", 0), item("needed", 1));
    let (waits, open) = (needing("waits", &[&needed]), item("open", 3));
    plan(&store, &[over.clone(), needed.clone(), waits.clone()]).await;
    for _ in 0..2 {
        let claimed = claim(&store).await;
        let entry = JournalEntry::Began { call: "1".into() };
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
