//! Cancellations that are taken back.

use kernel::agent::JournalEntry;
use teamroom::features::backlog::model::{Wait, WorkItem, WorkStatus};
use teamroom::features::backlog::store::{End, Restored};
use teamroom::store::Store;

use super::{claim, done, end, find, item, last_event, needing, part_of, plan, status, try_claim};
use crate::store::sample::at;
use crate::store::{Home, on_both};

on_both!(
    what_was_cancelled_goes_on_where_it_was_with_all_that_failed_with_it,
    what_waited_waits_again,
    a_whole_waits_for_its_part_again,
    a_cancellation_is_taken_back_within_an_hour_and_only_while_nothing_has_changed,
    what_has_work_in_it_is_known,
);

const HOUR: i64 = 3600;

async fn cancel(store: &Store, item: &WorkItem, when: i64) {
    store.cancel_item(&item.id, "Ada", &[], at(when)).await.unwrap().expect("it was open");
}

/// The titles of the items that go on.
async fn restore(store: &Store, item: &WorkItem, when: i64) -> Vec<String> {
    match store.restore_item(&item.id, "Bob", at(when)).await.unwrap() {
        Restored::Back(items) => {
            let mut titles: Vec<String> = items.into_iter().map(|item| item.what).collect();
            titles.sort();
            titles
        }
        refused => panic!("{refused:?}"),
    }
}

async fn what_was_cancelled_goes_on_where_it_was_with_all_that_failed_with_it(home: &Home) {
    let store = home.open().await;
    let base = item("base", 0);
    let (top, last) = (needing("top", &[&base]), item("last", 0));
    let last = WorkItem { depends_on: vec![top.id.clone()], ..last };
    plan(&store, &[base.clone(), top.clone(), last.clone()]).await;
    let held = claim(&store).await;
    let asked = JournalEntry::Asked { system: String::new(), message: "Do the work.".into(), tainted: false, remarks: Vec::new() };
    assert!(store.append_journal(&held.job, &held.item, &[asked], at(11)).await.unwrap());
    cancel(&store, &base, 20).await;
    assert!(end(&store, &held.job, done()).await.is_none(), "the run has ended");
    for lost in [&top, &last] {
        assert_eq!(status(&store, lost).await, WorkStatus::Failed);
    }
    assert!(store.can_be_restored(&base.id, at(30)).await.unwrap() && store.can_be_restored(&last.id, at(30)).await.unwrap());

    assert_eq!(restore(&store, &base, 30).await, ["base", "last", "top"]);
    for blocked in [&top, &last] {
        let item = find(&store, blocked).await;
        assert_eq!((item.status, item.outcome), (WorkStatus::Blocked, None));
    }
    assert_eq!(last_event(&store, &base).await.note.as_deref(), Some("taken back, says Bob"));
    let again = claim(&store).await;
    assert_eq!((again.item.id.clone(), again.item.run), (base.id.clone(), held.item.run), "the same run");
    assert_eq!(store.list_journal(&base.id, again.item.run).await.unwrap().len(), 1, "what was done is still there");
    end(&store, &again.job, done()).await.expect("it is done");
    assert_eq!(status(&store, &top).await, WorkStatus::Ready);
}

async fn what_waited_waits_again(home: &Home) {
    let store = home.open().await;
    let asks = item("asks", 0);
    plan(&store, std::slice::from_ref(&asks)).await;
    let held = claim(&store).await;
    let wait = Wait::Decision { why: "too dear".into() };
    end(&store, &held.job, End::Waits { wait: wait.clone(), evidence: Vec::new() }).await.expect("it waits");
    let later = item("later", 0);
    plan(&store, std::slice::from_ref(&later)).await;
    let held = claim(&store).await;
    end(&store, &held.job, End::Later { at: at(9_999), why: "tomorrow".into() }).await.expect("it sleeps");
    for item in [&asks, &later] {
        cancel(&store, item, 40).await;
        restore(&store, item, 41).await;
    }
    let item = find(&store, &asks).await;
    assert_eq!((item.status, item.wait), (WorkStatus::Waiting, Some(wait)));
    assert_eq!(find(&store, &later).await.not_before, Some(at(9_999)));
    assert!(try_claim(&store).await.is_none(), "it is not its time");
}

async fn a_whole_waits_for_its_part_again(home: &Home) {
    let store = home.open().await;
    let whole = item("whole", 0);
    let parts = [part_of(&whole, "one"), part_of(&whole, "two")];
    plan(&store, &[whole.clone(), parts[0].clone(), parts[1].clone()]).await;
    let held = claim(&store).await;
    end(&store, &held.job, done()).await.expect("it is done");
    cancel(&store, &parts[1], 30).await;
    assert_eq!(status(&store, &whole).await, WorkStatus::InReview, "its other part is done");
    restore(&store, &parts[1], 31).await;
    assert_eq!((status(&store, &whole).await, status(&store, &parts[1]).await), (WorkStatus::Blocked, WorkStatus::Ready));

    cancel(&store, &whole, 40).await;
    assert_eq!(status(&store, &parts[1]).await, WorkStatus::Cancelled);
    let refused = store.restore_item(&parts[1].id, "Bob", at(41)).await.unwrap();
    assert_eq!(refused, Restored::TooLate, "it ended with its whole");
    assert_eq!(restore(&store, &whole, 42).await.len(), 2);
    assert_eq!((status(&store, &whole).await, status(&store, &parts[0]).await), (WorkStatus::Blocked, WorkStatus::Done));
}

async fn a_cancellation_is_taken_back_within_an_hour_and_only_while_nothing_has_changed(home: &Home) {
    let store = home.open().await;
    let base = item("base", 0);
    let (top, other) = (needing("top", &[&base]), needing("other", &[&base]));
    plan(&store, &[base.clone(), top.clone(), other.clone()]).await;
    cancel(&store, &base, 10).await;
    assert_eq!(store.restore_item(&base.id, "Bob", at(11 + HOUR)).await.unwrap(), Restored::TooLate);
    assert!(!store.can_be_restored(&base.id, at(11 + HOUR)).await.unwrap());
    assert_eq!(restore(&store, &base, 10 + HOUR).await.len(), 3);
    assert_eq!(store.restore_item(&base.id, "Bob", at(10 + HOUR)).await.unwrap(), Restored::TooLate, "once");

    cancel(&store, &base, 20 + HOUR).await;
    cancel(&store, &item_of_nobody(&store).await, 21 + HOUR).await;
    assert!(store.retry_item(&base.id, "Ada", at(22 + HOUR)).await.unwrap());
    assert_eq!(store.restore_item(&base.id, "Bob", at(23 + HOUR)).await.unwrap(), Restored::TooLate, "it is tried again");
    assert_eq!(store.restore_item(&"unknown".into(), "Bob", at(23 + HOUR)).await.unwrap(), Restored::TooLate);
}

/// Another item, whose cancellation changes nothing about the first one.
async fn item_of_nobody(store: &Store) -> WorkItem {
    let made = item("nobody's", 0);
    plan(store, std::slice::from_ref(&made)).await;
    made
}

async fn what_has_work_in_it_is_known(home: &Home) {
    let store = home.open().await;
    let whole = item("whole", 0);
    let part = part_of(&whole, "part");
    let fresh = item("fresh", 1);
    plan(&store, &[whole.clone(), part.clone(), fresh.clone()]).await;
    for idle in [&whole, &part, &fresh] {
        assert!(!store.has_work(&idle.id).await.unwrap(), "{}", idle.what);
    }
    let held = claim(&store).await;
    end(&store, &held.job, done()).await.expect("it is done");
    assert!(store.has_work(&part.id).await.unwrap() && store.has_work(&whole.id).await.unwrap());
    assert!(!store.has_work(&fresh.id).await.unwrap());
}
