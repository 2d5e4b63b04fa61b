//! The log of events: what it contains, who may read it, and that no reader misses an event.

use std::sync::Arc;
use std::time::Duration;

use kernel::agent::ask::AskState;
use kernel::chat::message::Speaker;
use kernel::db::Transaction;
use kernel::events::{self, Audience, Cursor, Event, More, Recorded, Topic};
use kernel::time::{ManualClock, SharedClock, SystemClock};
use secrecy::ExposeSecret;
use serde_json::json;
use teamroom::features::backlog::model::WorkStatus;
use teamroom::features::backlog::store::ITEMS;
use teamroom::features::chat::model::decision::Block;
use teamroom::features::chat::store::{AskUpdate, Blocked, CancelScope, Finished};
use teamroom::features::meeting::model::MeetingState;
use teamroom::store::Store;

use super::meeting_sample::{ben, meeting_channel, opened, spoke, vince};
use super::opening::tamper;
use super::sample::{answer, ask, at, decided, finish, finished, general, item, noon, turn};
use super::{Home, on_both};
use crate::support::patience::PATIENCE;

on_both!(
    what_becomes_of_a_message_is_told_once_and_without_its_text,
    a_turn_that_is_stopped_says_why,
    a_meeting_is_told_step_by_step,
    a_reader_goes_through_the_log_page_by_page_and_sees_what_is_meant_for_it,
    what_is_rolled_back_has_not_happened,
    old_events_go_except_the_newest_and_those_of_items,
    the_events_of_an_earlier_program_are_taken_over,
    a_subscriber_is_woken_by_a_commit_of_its_topic,
    a_subscriber_is_woken_by_another_process,
);

const TRIALS: Topic = Topic::new("trial");

async fn of(store: &Store, subject: &str) -> Vec<Recorded> {
    store.list_events_of(subject, &Audience::Operators).await.unwrap()
}

fn kinds(events: &[Recorded]) -> Vec<&str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}

fn actor(event: &Recorded) -> Option<&str> {
    event.actor.as_ref().map(|actor| actor.key.as_str())
}

async fn trial(transaction: &mut Transaction, subject: &str, seconds: i64) {
    events::record(transaction, &Event::new(TRIALS, subject, "made", at(seconds)).seen_by(Audience::Team)).await.unwrap();
}

async fn record_trial(store: &Store, subject: &str, seconds: i64) {
    let mut transaction = store.db().begin().await.unwrap();
    trial(&mut transaction, subject, seconds).await;
    transaction.commit().await.unwrap();
}

async fn what_becomes_of_a_message_is_told_once_and_without_its_text(home: &Home) {
    let store = home.open().await;
    let turns = [turn("m1", "vince")];
    decided(&store, "m1", &turns).await;
    let asked = ask("m1");
    store.record_ask(&asked).await.unwrap();
    let update = AskUpdate { ask: &asked.id, state: AskState::Answered, answer: Some("it will rise") };
    for done in [true, false] {
        assert_eq!(store.settle_ask(&update, &[], at(4)).await.unwrap(), done);
    }
    let vince = Speaker::Persona("vince".into());
    let blocked =
        Blocked { channel: &general().id, chain: &"m1".into(), from: &vince, to: &"solus".into(), block: Block::Chain, at: at(5) };
    store.record_block(&blocked).await.unwrap();
    let post = answer(&turns[0], "Solus is.");
    for done in [true, false] {
        assert_eq!(finish(&store, &Finished { outbox: std::slice::from_ref(&post), ..finished(&turns[0]) }).await.unwrap(), done);
    }

    let events = of(&store, "m1").await;
    assert_eq!(kinds(&events), ["decided", "asked", "ask_ended", "blocked", "turn_ended"]);
    assert_eq!(events[0].payload, json!({"responders": ["vince"], "reason": "mentioned by account"}));
    let turn = json!({"turn": turns[0].id, "state": "answered", "attempts": 1, "started_at": at(3)});
    assert_eq!((&events[4].payload, events[4].at, actor(&events[4])), (&turn, at(5), Some("persona:vince")));
    assert_eq!(actor(&events[2]), Some("persona:vince"), "who was asked answers");
    for event in &events {
        assert_eq!((event.topic.as_str(), &event.audience), ("message", &Audience::Channel(general().id)));
        let text = event.payload.to_string();
        assert!(!["right", "SOL", "rise", "Solus is"].iter().any(|said| text.contains(said)), "{text}");
    }
    assert_eq!(store.list_events_of("m1", &Audience::Channel("30".into())).await.unwrap(), [], "who does not read the channel");
    assert_eq!(store.trace(&"m1".into()).await.unwrap().unwrap().events, events);
}

async fn a_turn_that_is_stopped_says_why(home: &Home) {
    let store = home.open().await;
    decided(&store, "m1", &[turn("m1", "vince"), turn("m1", "solus")]).await;
    store.cancel_turns(CancelScope::Message(&"m1".into()), "a person said stop", at(3)).await.unwrap();
    let events = of(&store, "m1").await;
    assert_eq!(kinds(&events), ["decided", "turn_ended", "turn_ended"]);
    assert_eq!((events[1].text("state"), events[1].text("error")), (Some("cancelled"), Some("a person said stop")));
    assert_eq!((actor(&events[1]), actor(&events[2])), (Some("persona:vince"), Some("persona:solus")), "in their order");
}

async fn a_meeting_is_told_step_by_step(home: &Home) {
    let store = home.open().await;
    let (meeting, run) = opened(&store).await;
    let seat = run.begin_seat((0, 0), &[], at(2)).await.unwrap().unwrap();
    // After a crash the same turn begins again.
    let again = run.begin_seat((0, 0), &[], at(3)).await.unwrap().unwrap();
    assert!(!run.finish_seat(&spoke(&seat), &[], at(4)).await.unwrap());
    assert!(run.finish_seat(&spoke(&again), &[], at(4)).await.unwrap());
    assert!(store.pause_meeting(&meeting.id, "Ada", at(5)).await.unwrap());
    assert!(store.resume_meeting(&meeting.id, at(6)).await.unwrap());
    assert!(store.skip_seat(&meeting.id, &ben(), "not here", at(7)).await.unwrap());
    assert!(store.ask_wrap(&meeting.id, at(8)).await.unwrap());
    let closing = run.begin_closing(at(9)).await.unwrap().unwrap();
    assert!(run.close(&closing, &[], at(10)).await.unwrap());
    assert!(!store.end_meeting(&meeting.id, MeetingState::Failed, "late", &[], at(11)).await.unwrap());

    let events = of(&store, meeting.id.as_str()).await;
    let expected = ["called", "opened", "turn_began", "turn_ended", "paused", "resumed", "turn_ended", "wrap_asked", "closing", "closed"];
    assert_eq!(kinds(&events), expected);
    let who: Vec<_> = events.iter().map(actor).collect();
    assert_eq!((who[0], who[2], who[4], who[6]), (Some("person:1"), Some("persona:vince"), Some("person:"), Some("person:7")));
    assert_eq!(events[6].payload, json!({"state": "skipped", "reason": "not here"}));
    assert!(events.iter().all(|event| event.audience == Audience::Channel(meeting_channel().id)));
    assert_eq!(again.who, vince());
}

async fn a_reader_goes_through_the_log_page_by_page_and_sees_what_is_meant_for_it(home: &Home) {
    let store = home.open().await;
    for number in 0..5 {
        record_trial(&store, &format!("t{number}"), number).await;
    }
    let mut transaction = store.db().begin().await.unwrap();
    for audience in [Audience::Operators, Audience::Channel("10".into())] {
        events::record(&mut transaction, &Event::new(TRIALS, "hidden", "made", at(9)).seen_by(audience)).await.unwrap();
    }
    transaction.commit().await.unwrap();

    let (mut cursor, mut read) = (Cursor::START, Vec::new());
    loop {
        // Events are held back while other tests write on the same PostgreSQL server, so this reads again and again.
        let page = store.list_events_after(cursor, 2, &Audience::Team).await.unwrap();
        assert!(page.events.len() <= 2);
        read.extend(page.events);
        cursor = page.next;
        match page.more {
            More::Now => {}
            More::Soon => tokio::time::sleep(Duration::from_millis(5)).await,
            More::None => break,
        }
    }
    assert_eq!(read.iter().map(|event| event.subject.as_str()).collect::<Vec<_>>(), ["t0", "t1", "t2", "t3", "t4"]);
    assert_eq!(store.list_events_after(cursor, 9, &Audience::Operators).await.unwrap().events, []);
    assert_eq!(of(&store, "hidden").await.len(), 2, "operators see everything");
    assert_eq!(store.list_events_of("hidden", &Audience::Channel("10".into())).await.unwrap().len(), 1);
}

async fn what_is_rolled_back_has_not_happened(home: &Home) {
    let store = home.open().await;
    let mut woken = store.subscribe(TRIALS, &clock());
    woken.next().await; // Other processes are watched now.
    let mut transaction = store.db().begin().await.unwrap();
    trial(&mut transaction, "t1", 0).await;
    drop(transaction);
    assert!(tokio::time::timeout(Duration::from_millis(100), woken.next()).await.is_err());
    assert_eq!(of(&store, "t1").await, []);
}

async fn old_events_go_except_the_newest_and_those_of_items(home: &Home) {
    let store = home.open().await;
    let made = item("an item", 0);
    store.insert_items(std::slice::from_ref(&made), at(0)).await.unwrap();
    for number in 0..4 {
        record_trial(&store, &format!("t{number}"), number).await;
    }
    assert_eq!(store.delete_events_before(at(0), 9).await.unwrap(), 0, "none is that old");
    assert_eq!(store.delete_events_before(at(2), 1).await.unwrap(), 1, "no more than the limit");
    assert_eq!(store.delete_events_before(at(2), 9).await.unwrap(), 1);
    assert_eq!(store.delete_events_before(at(1_000_000), 9).await.unwrap(), 1);
    assert_eq!((of(&store, "t2").await.len(), of(&store, "t3").await.len()), (0, 1), "its position is not used again");
    assert_eq!(kinds(&of(&store, made.id.as_str()).await), ["new"], "it goes with the item's other details");
}

async fn the_events_of_an_earlier_program_are_taken_over(home: &Home) {
    let store = home.open().await;
    let made = item("an item", 0);
    store.insert_items(std::slice::from_ref(&made), at(0)).await.unwrap();
    store.close().await;
    // Brings the database into the state that the last program without this log left.
    let is_sqlite = home.url.expose_secret().starts_with("sqlite:");
    let (position, time) = if is_sqlite {
        ("INTEGER PRIMARY KEY AUTOINCREMENT", "TEXT")
    } else {
        ("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "TIMESTAMPTZ")
    };
    for sql in [
        "DROP TABLE events".to_owned(),
        format!(
            "CREATE TABLE work_events (position {position}, item TEXT NOT NULL, from_status TEXT, to_status TEXT NOT NULL, at {time} NOT NULL, note TEXT)"
        ),
        format!(
            "INSERT INTO work_events (item, from_status, to_status, at, note)
             VALUES ('{0}', NULL, 'new', '2026-11-21T12:00:00+00:00', NULL), ('{0}', 'new', 'ready', '2026-11-21T12:00:07+00:00', 'it was \"new\"')",
            made.id
        ),
        "DELETE FROM _sqlx_migrations WHERE version = 13".to_owned(),
    ] {
        tamper(home, &sql).await;
    }
    let store = home.open().await;
    let events = store.list_events(&made.id).await.unwrap();
    let told: Vec<_> = events.iter().map(|event| (event.from, event.to, event.note.as_deref(), event.at)).collect();
    let ready = (Some(WorkStatus::New), WorkStatus::Ready, Some("it was \"new\""), at(7));
    assert_eq!(told, [(None, WorkStatus::New, None, at(0)), ready]);
    assert!(store.backlog_mark().await.unwrap() > 0);
    assert_eq!(store.list_items_changed(at(5), at(9)).await.unwrap().len(), 1);
}

fn clock() -> SharedClock {
    Arc::new(SystemClock)
}

async fn a_subscriber_is_woken_by_a_commit_of_its_topic(home: &Home) {
    let store = home.open().await;
    // Time stands still on this clock, so nothing polls again.
    let still: SharedClock = Arc::new(ManualClock::new(noon()));
    let (mut trials, mut items) = (store.subscribe(TRIALS, &still), store.subscribe(ITEMS, &still));
    // Each subscription is woken once when it starts to watch other processes.
    for subscription in [&mut trials, &mut items] {
        tokio::time::timeout(PATIENCE, subscription.next()).await.expect("they are watched");
    }
    record_trial(&store, "t1", 0).await;
    tokio::time::timeout(PATIENCE, trials.next()).await.expect("it is woken");
    assert!(tokio::time::timeout(Duration::from_millis(50), items.next()).await.is_err(), "of another topic");
}

async fn a_subscriber_is_woken_by_another_process(home: &Home) {
    let (store, other) = (home.open().await, Store::open_shared(&home.url, noon()).await.unwrap());
    let mut woken = store.subscribe(TRIALS, &clock());
    tokio::time::timeout(PATIENCE, woken.next()).await.expect("other processes are watched");
    for number in 0..3 {
        record_trial(&other, &format!("t{number}"), number).await;
        tokio::time::timeout(PATIENCE, woken.next()).await.expect("it is woken");
        assert_eq!(of(&store, &format!("t{number}")).await.len(), 1);
    }
    // A second subscription works like the first.
    drop(woken);
    let mut woken = store.subscribe(TRIALS, &clock());
    tokio::time::timeout(PATIENCE, woken.next()).await.expect("other processes are watched again");
    record_trial(&other, "t9", 9).await;
    tokio::time::timeout(PATIENCE, woken.next()).await.expect("it is woken");
}

/// Reads until the expected events have come.
async fn read_until(store: &Store, cursor: &mut Cursor, expected: &[&str]) {
    let mut read: Vec<String> = Vec::new();
    let reading = async {
        while read.len() < expected.len() {
            let page = store.list_events_after(*cursor, 9, &Audience::Operators).await.unwrap();
            read.extend(page.events.into_iter().map(|event| event.subject));
            *cursor = page.next;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, reading).await.expect("they are read");
    assert_eq!(read, expected);
}

#[tokio::test]
async fn an_event_that_is_committed_late_is_not_missed() {
    let Some(home) = Home::postgres().await else { return };
    let store = home.open().await;
    let mut cursor = Cursor::START;
    record_trial(&store, "before", 0).await;
    read_until(&store, &mut cursor, &["before"]).await;

    let mut slow = store.db().begin().await.unwrap();
    trial(&mut slow, "slow", 1).await;
    // This transaction has the higher position, but commits first.
    record_trial(&store, "fast", 2).await;
    let page = store.list_events_after(cursor, 9, &Audience::Operators).await.unwrap();
    assert_eq!((page.events, page.next, page.more), (Vec::new(), cursor, More::Soon), "the slow one would come first");
    slow.commit().await.unwrap();
    read_until(&store, &mut cursor, &["slow", "fast"]).await;

    // The transaction that begins first may also get the higher position.
    let mut first = store.db().begin().await.unwrap();
    kernel::db::sql!(first.on(), fetch_one, "SELECT CAST(pg_current_xact_id()::text AS BIGINT)").map(|(_,): (i64,)| ()).unwrap();
    record_trial(&store, "second", 3).await;
    trial(&mut first, "first", 4).await;
    let page = store.list_events_after(cursor, 9, &Audience::Operators).await.unwrap();
    assert_eq!(page.events, [], "neither is shown before both are over");
    first.commit().await.unwrap();
    read_until(&store, &mut cursor, &["first", "second"]).await;
}

#[tokio::test]
async fn a_dump_that_was_restored_on_another_server_is_read() {
    let Some(home) = Home::postgres().await else { return };
    let store = home.open().await;
    record_trial(&store, "restored", 0).await;
    store.close().await;
    tamper(&home, "UPDATE events SET xid = 4000000000000").await;
    let store = home.open().await;
    let mut cursor = Cursor::START;
    read_until(&store, &mut cursor, &["restored"]).await;
}
