//! Temporary loss of the database or of disk space.

use std::time::Duration;

use kernel::time::{Clock, SystemClock};
use secrecy::ExposeSecret;
use sqlx::{Connection, Executor, SqliteConnection};
use teamroom::features::backlog::model::{WorkItem, WorkStatus};
use teamroom::store::Store;

use super::stage::{all_over, answer, asked_for, document, eventually, expect_done_once, open, question, read, said, subject_of, team};
use crate::support::model::{Asked, Script};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, on_both_stores};
use crate::support::wire::Wire;

on_both_stores!(a_database_that_is_gone_for_thirty_seconds, a_disk_that_is_full_for_a_while);

const GONE: Duration = Duration::from_secs(30);
const FULL: Duration = Duration::from_secs(10);

/// Three items: one whose answer arrives during the outage, one being written, and one that starts after the first.
async fn set_to_work(team: &TestTeam, store: &Store) -> [(WorkItem, &'static str); 3] {
    team.model.on(|asked: &Asked| match (subject_of(asked).as_str(), asked.tool_results()) {
        _ if asked.schema.is_some() => answer(asked),
        ("Apple", _) => Script::SayAfter(Duration::from_secs(3), "The Apple is there.".into()),
        ("Berry", _) => Script::say("The Berry is there."),
        ("Cherry", 1) => Script::SayAfter(Duration::from_secs(3), text_of(answer(asked))),
        _ => answer(asked),
    });
    let [apple, cherry] = [question(team, "vince", "Apple"), document(team, "echo", "Cherry")];
    let berry = WorkItem { depends_on: vec![apple.id.clone()], ..question(team, "eliza", "Berry") };
    let items = [(apple, "Apple"), (berry, "Berry"), (cherry, "Cherry")];
    store.insert_items(&items.clone().map(|(item, _)| item), SystemClock.now()).await.unwrap();
    eventually("they are at it", || async { asked_for(team, "Apple") == 1 && asked_for(team, "Cherry") == 2 }).await;
    items
}

fn text_of(script: Script) -> String {
    match script {
        Script::Say(text) => text,
        other => panic!("a text: {other:?}"),
    }
}

/// A worker that cannot store anything for a while does not count as crashed.
async fn expect_no_crash(store: &Store, item: &WorkItem) -> WorkItem {
    let events = store.list_events(&item.id).await.unwrap();
    let crashes = events.iter().filter(|event| event.note.as_deref().is_some_and(|note| note.contains("died over it")));
    assert_eq!(crashes.count(), 0, "{events:#?}");
    read(store, item).await
}

async fn a_database_that_is_gone_for_thirty_seconds(backing: Backing) {
    let mut team = team(backing).await;
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    let direct = team.config.database_url.clone();
    let wire = match backing {
        Backing::Postgres => Some(Wire::to(&direct).await),
        Backing::Sqlite => None,
    };
    if let Some(wire) = &wire {
        team.config.database_url = wire.lead(&direct);
    }
    let _process = TeamProcess::start(&team, &[]).await;
    let items = set_to_work(&team, &store).await;
    if let Some(wire) = &wire {
        wire.cut();
        tokio::time::sleep(GONE).await;
        wire.mend();
    } else {
        // A file cannot go away, but another program can lock it.
        let mut other = SqliteConnection::connect(direct.expose_secret()).await.unwrap();
        other.execute("BEGIN IMMEDIATE").await.unwrap();
        tokio::time::sleep(GONE).await;
        other.execute("ROLLBACK").await.unwrap();
    }
    all_over(&team, &store).await;
    for (item, subject) in &items {
        let over = expect_no_crash(&store, item).await;
        assert_eq!((over.status, over.attempts), (WorkStatus::Done, 0), "{over:#?}");
        expect_done_once(&team, &store, item, subject).await;
    }
    assert!(asked_for(&team, "Apple") <= 2, "only a reply that could not be stored is paid for again");
    store.close().await;
}

async fn a_disk_that_is_full_for_a_while(backing: Backing) {
    let team = team(backing).await;
    let process = TeamProcess::start(&team, &[]).await;
    let store = open(&team).await;
    let items = set_to_work(&team, &store).await;
    process.fill_disk();
    tokio::time::sleep(FULL).await;
    process.free_disk();
    all_over(&team, &store).await;
    for (item, subject) in &items {
        assert_eq!(expect_no_crash(&store, item).await.status, WorkStatus::Done);
        let announced = said(&team, |text| text.starts_with('✔') && text.contains(subject)).await;
        assert_eq!(announced.len(), 1, "{subject}");
    }
    store.close().await;
}
