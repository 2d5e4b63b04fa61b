//! Old rows that are deleted, and those that stay because something open refers to them.

use chrono::{DateTime, TimeDelta, Utc};
use kernel::agent::ask::AskState;
use kernel::chat::outbound::{OutboundMessage, Posted};
use kernel::chat::store::FileText;
use kernel::ids::LedgerId;
use kernel::llm::budget::Budgets;
use kernel::money::{CostGroup, Money, Purpose, Reservation};
use kernel::persona::Tier;
use teamroom::features::backlog::model::{WorkItem, WorkStatus};
use teamroom::features::chat::store::{AskUpdate, Claim};
use teamroom::store::Store;

use super::sample::{ask, at, decided, finish, finished, general, item, line, message, seen, turn};
use super::{Home, on_both};

on_both!(
    messages_go_with_their_files_when_nothing_about_them_is_open,
    a_message_that_a_backfill_would_bring_again_stays,
    turns_and_asks_go_when_all_of_their_chain_is_over,
    posts_go_when_they_were_sent_or_given_up,
    what_people_are_told_of_their_costs_stays_as_it_is,
);

/// A time long after everything in these tests.
fn later() -> DateTime<Utc> {
    at(1_000_000)
}

async fn is_known(store: &Store, id: &str) -> bool {
    store.find_message(&id.into()).await.unwrap().is_some()
}

async fn count(store: &Store, table: &str) -> i64 {
    let tables = store.summary().await.unwrap().tables;
    tables.into_iter().find(|(name, _)| name == table).map(|(_, rows)| i64::try_from(rows).unwrap()).expect("a table")
}

async fn messages_go_with_their_files_when_nothing_about_them_is_open(home: &Home) {
    let store = home.open().await;
    for id in ["m1", "m2"] {
        decided(&store, id, &[]).await;
    }
    let file = FileText {
        id: "f1".into(),
        message: "m1".into(),
        channel: general().id,
        name: "plan.md".into(),
        size: 4,
        text: Some("plan".into()),
        note: None,
        by: "Ada".into(),
        at: at(0),
    };
    store.record_files(&[file]).await.unwrap();
    store.claim(&message("undecided", "hello", 0), at(0)).await.unwrap();
    let answering = [turn("m3", "vince")];
    decided(&store, "m3", &answering).await;
    decided(&store, "asked", &[]).await;
    let open = ask("asked");
    store.record_ask(&open).await.unwrap();
    store.record_channels_seen(&[seen(general(), "m9", at(100))]).await.unwrap();

    assert_eq!(store.delete_messages_before(at(0), 9).await.unwrap(), 0, "none is that old");
    assert_eq!(store.delete_messages_before(later(), 1).await.unwrap(), 1, "no more than the limit");
    assert_eq!(store.delete_messages_before(later(), 9).await.unwrap(), 1);
    assert!(store.list_message_files(&"m1".into(), None).await.unwrap().is_empty());
    for (id, known) in [("m1", false), ("m2", false), ("m3", true), ("undecided", true), ("asked", true)] {
        assert_eq!(is_known(&store, id).await, known, "{id}");
    }
    finish(&store, &finished(&answering[0])).await.unwrap();
    store.settle_ask(&AskUpdate { ask: &open.id, state: AskState::Answered, answer: Some("fine") }, &[], at(9)).await.unwrap();
    assert_eq!(store.delete_messages_before(later(), 9).await.unwrap(), 2, "they are over now");
}

async fn a_message_that_a_backfill_would_bring_again_stays(home: &Home) {
    let store = home.open().await;
    for id in ["m1", "m2"] {
        decided(&store, id, &[]).await;
    }
    // Of this channel only the end of its history is known.
    store.record_channels_seen(&[seen(general(), "m0", DateTime::UNIX_EPOCH)]).await.unwrap();
    assert_eq!(store.delete_messages_before(later(), 9).await.unwrap(), 0);
    assert_eq!(store.claim(&message("m1", "which of you is right?", 0), later()).await.unwrap(), Claim::Known);
    // `m2` has the same time as the last-read message and stands behind it, so a backfill would bring it again.
    store.record_channels_seen(&[seen(general(), "m1", at(0))]).await.unwrap();
    assert_eq!(store.delete_messages_before(later(), 9).await.unwrap(), 1);
    assert!(!is_known(&store, "m1").await && is_known(&store, "m2").await);
    store.record_channels_seen(&[seen(general(), "m3", at(1))]).await.unwrap();
    assert_eq!(store.delete_messages_before(later(), 9).await.unwrap(), 1);
}

async fn turns_and_asks_go_when_all_of_their_chain_is_over(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "vince"), turn("m1", "solus"), turn("m2", "vince")];
    decided(&store, "m1", &turns[..2]).await;
    decided(&store, "m2", &turns[2..]).await;
    for turn in [&turns[0], &turns[2]] {
        assert!(finish(&store, &finished(turn)).await.unwrap());
    }
    let asks = [ask("m1"), ask("m2"), ask("m3"), ask("m3")];
    for (number, ask) in asks.iter().enumerate() {
        store.record_ask(ask).await.unwrap();
        if number < 3 {
            store.settle_ask(&AskUpdate { ask: &ask.id, state: AskState::Answered, answer: Some("fine") }, &[], at(9)).await.unwrap();
        }
    }
    assert_eq!(store.delete_turns_before(at(1), 9).await.unwrap(), 0, "none is that old");
    assert_eq!(store.delete_turns_before(later(), 9).await.unwrap(), 1, "the chain of the first is open");
    assert!(store.find_turn(&turns[2].id).await.unwrap().is_none());
    assert_eq!(store.count_chain_turns(&"m1".into()).await.unwrap(), 3, "the guard counts what it counted");
    assert_eq!(store.delete_asks_before(later(), 9).await.unwrap(), 1);
    assert!(store.find_ask(&asks[1].id).await.unwrap().is_none());
    assert!(finish(&store, &finished(&turns[1])).await.unwrap());
    assert_eq!(store.delete_turns_before(later(), 1).await.unwrap(), 1, "no more than the limit");
    assert_eq!(store.delete_turns_before(later(), 9).await.unwrap(), 1);
    assert_eq!(store.delete_asks_before(later(), 9).await.unwrap(), 1);
    assert_eq!(count(&store, "asks").await, 2, "one of them is open");
}

async fn posts_go_when_they_were_sent_or_given_up(home: &Home) {
    let store = home.open().await;
    let posts = ["sent", "given up", "waits", "young"].map(line);
    let named = OutboundMessage { id: "work-1-0-done".into(), ..line("told once") };
    store.enqueue(&posts[..3], at(0)).await.unwrap();
    store.enqueue_once(&named, at(0)).await.unwrap();
    store.enqueue(&posts[3..], later()).await.unwrap();
    for post in [&posts[0], &named, &posts[3]] {
        store.record_sent(&post.id, &Posted { channel: general().id, message: post.id.as_str().into(), at: at(1) }).await.unwrap();
    }
    store.record_failed(&posts[1], "the channel is gone", at(9)).await.unwrap();

    assert_eq!(store.delete_outbound_before(at(0), 9).await.unwrap(), 0, "none is that old");
    assert_eq!(store.delete_outbound_before(later(), 1).await.unwrap(), 1, "no more than the limit");
    assert_eq!(store.delete_outbound_before(later(), 9).await.unwrap(), 1);
    assert_eq!(store.next_pending(&general().id, later()).await.unwrap().unwrap().message.id, posts[2].id);
    assert!(store.find_posted(&posts[3].id).await.unwrap().is_some());
    assert!(!store.enqueue_once(&named, later()).await.unwrap(), "it is not said again");
    // A day later the last row is old too.
    assert_eq!(store.delete_outbound_before(later() + TimeDelta::days(1), 9).await.unwrap(), 1);
}

fn call(purpose: Purpose, subject: &str, when: DateTime<Utc>) -> Reservation {
    Reservation {
        id: LedgerId::generate(),
        at: when,
        persona: Some("vince".into()),
        purpose,
        subject: subject.into(),
        allowance: None,
        provider: "openai".into(),
        model: "small".into(),
        tier: Tier::T1,
        tokens: 100,
        cost: Money::from_dollars(0.25),
    }
}

async fn what_people_are_told_of_their_costs_stays_as_it_is(home: &Home) {
    let store = home.open().await;
    let (open, over) = (item("open", 0), WorkItem { status: WorkStatus::Done, ..item("over", 0) });
    store.insert_items(&[open.clone(), over.clone()], at(0)).await.unwrap();
    let old = later() - TimeDelta::days(401);
    let calls = [
        call(Purpose::Chat, "t1", old),
        call(Purpose::Step, open.id.as_str(), old),
        call(Purpose::Step, over.id.as_str(), old),
        call(Purpose::Chat, "t2", later() - TimeDelta::days(29)),
        call(Purpose::Step, over.id.as_str(), later()),
    ];
    for call in &calls {
        store.reserve(call, &Budgets::default()).await.unwrap();
    }
    let month = async || store.costs(later() - TimeDelta::days(30), later(), CostGroup::Day).await.unwrap();
    let told = (month().await, store.spent_today(later()).await.unwrap(), store.spent_today(old).await.unwrap());
    let before = later() - TimeDelta::days(400);
    assert_eq!(store.delete_calls_before(before, 9).await.unwrap(), 1);
    assert_eq!(store.delete_work_calls_before(before, 9).await.unwrap(), 1);
    assert_eq!(told, (month().await, store.spent_today(later()).await.unwrap(), store.spent_today(old).await.unwrap()));
    assert_eq!(store.spent_on(open.id.as_str()).await.unwrap().0, Money::from_dollars(0.25), "its budget counts all of its calls");
    assert_eq!(count(&store, "ledger").await, 3);
}
