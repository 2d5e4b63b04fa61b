//! `kill -9` after every step of a run, twice in a row, and once more before the lease is reclaimed.

use std::time::Duration;

use kernel::time::{Clock, SystemClock};
use teamroom::features::backlog::model::{Execution, JournalEntry, Owner, WorkItem, WorkStatus};
use teamroom::store::Store;

use super::crew::runs_for_the;
use super::stage::{
    all_over, asked_for, document, eventually, expect_done_once, expect_written_once, item, open, press, question, read, said, say,
    subject_of, team, texts,
};
use super::wall::{self, Before};
use crate::support::database::count;
use crate::support::model::Script;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, on_both_stores};

on_both_stores!(killed_behind_each_step_of_a_run, killed_before_a_run, killed_before_a_person_is_told,);

/// The state of an item when the process is killed, and its persona.
struct Boundary {
    persona: &'static str,
    subject: &'static str,
    before: Before,
    /// The reply cannot be stored, so it is paid again.
    reply_is_lost: bool,
}

const fn boundary(persona: &'static str, subject: &'static str, before: Before, reply_is_lost: bool) -> Boundary {
    Boundary { persona, subject, before, reply_is_lost }
}

/// All are tested at once, one per persona. The journal of each run: prompt, reply, began, returned, reply, saved.
const BOUNDARIES: [Boundary; 8] = [
    boundary("echo", "Acorn", Before::Entry(0), false),
    boundary("eliza", "Birch", Before::Entry(1), true),
    boundary("oracle", "Cedar", Before::Entry(2), false),
    boundary("sentinel", "Dahlia", Before::Entry(3), false),
    boundary("solus", "Elder", Before::Entry(4), true),
    boundary("vince", "Fern", Before::Entry(5), false),
    boundary("amy", "Ginger", Before::Product, false),
    boundary("ben", "Hazel", Before::End, false),
];

/// The model requests of an undisturbed run.
const REPLIES: usize = 2;

impl Boundary {
    /// Whether the `round`th claim of the item has reached the blocked step.
    async fn is_reached(&self, team: &TestTeam, store: &Store, item: &WorkItem, round: usize) -> bool {
        if !runs_for_the(team, item, round).await {
            return false;
        }
        let journal = store.list_journal(&item.id, 0).await.unwrap().len();
        let stored = match self.before {
            Before::Entry(position) => journal == position,
            Before::Product => journal == 6,
            Before::End | Before::Leaving(_) => store.find_product(&item.id).await.unwrap().is_some(),
        };
        let replies = journal.saturating_sub(1).div_ceil(3).min(REPLIES);
        stored && (!self.reply_is_lost || asked_for(team, self.subject) >= replies + round)
    }
}

async fn killed_behind_each_step_of_a_run(backing: Backing) {
    let team = team(backing).await;
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    let items: Vec<WorkItem> = BOUNDARIES.iter().map(|boundary| document(&team, boundary.persona, boundary.subject)).collect();
    for (boundary, item) in BOUNDARIES.iter().zip(&items) {
        wall::raise(&team, item, boundary.before).await;
    }
    store.insert_items(&items, SystemClock.now()).await.unwrap();

    for round in 1..=2 {
        let process = TeamProcess::start(&team, &[]).await;
        for (boundary, item) in BOUNDARIES.iter().zip(&items) {
            let what = format!("{} stands before {:?} for the {round}. time", boundary.subject, boundary.before);
            eventually(&what, || boundary.is_reached(&team, &store, item, round)).await;
        }
        // Gives steps in progress, such as the effect after a `Began`, time to reach the blocked step.
        tokio::time::sleep(Duration::from_millis(300)).await;
        process.kill();
    }
    // Killed once more before it may reclaim the leases of the last process, which takes seven polls, one per second.
    let process = if matches!(backing, Backing::Sqlite) {
        TeamProcess::start(&team, &[]).await
    } else {
        // Polls count from here, not from when all identities are online.
        let workers = async || count(&team, "SELECT COUNT(*) FROM job_workers").await;
        let before = workers().await;
        let process = TeamProcess::spawn(&team, &[]);
        eventually("it looks for jobs", || async { workers().await > before }).await;
        process
    };
    tokio::time::sleep(Duration::from_secs(3)).await;
    process.kill();
    for item in &items {
        assert_eq!(read(&store, item).await.status, WorkStatus::InProgress, "nothing is let go of early, and nothing is done");
        wall::fall(&team, item).await;
    }

    let _process = TeamProcess::start(&team, &[]).await;
    all_over(&team, &store).await;
    for (boundary, item) in BOUNDARIES.iter().zip(&items) {
        expect_written_once(&team, &store, item, boundary.subject).await;
        // On SQLite the third process, which is the only one, need not wait before it runs items again.
        let most = if matches!(backing, Backing::Sqlite) { 3 } else { 2 };
        let lost = if boundary.reply_is_lost { 2..=most } else { 0..=0 };
        let paid = asked_for(&team, boundary.subject);
        assert!(lost.contains(&(paid - REPLIES)), "{} was paid for {paid} times", boundary.subject);
        let journal = store.list_journal(&item.id, 0).await.unwrap();
        let begun = journal.iter().filter(|(entry, _)| matches!(entry, JournalEntry::Began { .. })).count();
        assert_eq!(begun, 1, "the call that changes something was begun once: {journal:#?}");
    }
    let of_the_unknown = store.list_journal(&items[3].id, 0).await.unwrap();
    let told =
        |(entry, _): &(JournalEntry, _)| matches!(entry, JournalEntry::Returned { text, .. } if text.contains("It is not known whether"));
    assert!(of_the_unknown.iter().any(told), "a call into which the kill fell is not repeated, and says so: {of_the_unknown:#?}");
    store.close().await;
}

/// A new item and a planned one have no holder, so the next start continues at once.
async fn killed_before_a_run(backing: Backing) {
    let team = team(backing).await;
    team.model.on(|asked| say(asked, Script::say(format!("The {} is there.", subject_of(asked)))));
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    for (status, subject) in [("new", "Iris"), ("ready", "Juniper")] {
        let item = question(&team, "vince", subject);
        wall::raise(&team, &item, Before::Leaving(status)).await;
        store.insert_items(std::slice::from_ref(&item), SystemClock.now()).await.unwrap();
        for _ in 0..2 {
            let process = TeamProcess::start(&team, &[]).await;
            eventually("it stands there", || async { read(&store, &item).await.status.as_str() == status }).await;
            tokio::time::sleep(Duration::from_millis(300)).await;
            process.kill();
        }
        wall::fall(&team, &item).await;
        let process = TeamProcess::start(&team, &[]).await;
        all_over(&team, &store).await;
        expect_done_once(&team, &store, &item, subject).await;
        assert_eq!(asked_for(&team, subject), 1);
        process.kill();
    }
    store.close().await;
}

/// A reminder is stored together with the wait for its answer: it is posted once, and never before.
async fn killed_before_a_person_is_told(backing: Backing) {
    let team = team(backing).await;
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    let told = item(&team, Owner::Persona("vince".into()), "Mind the Laurel", Execution::Remind { whom: None });
    wall::raise(&team, &told, Before::End).await;
    store.insert_items(std::slice::from_ref(&told), SystemClock.now()).await.unwrap();
    for round in 1..=2 {
        let process = TeamProcess::start(&team, &[]).await;
        eventually("it is claimed", || runs_for_the(&team, &told, round)).await;
        tokio::time::sleep(Duration::from_millis(800)).await;
        process.kill();
        assert!(said(&team, |text| text.contains("Laurel")).await.is_empty(), "nobody could answer it yet");
    }
    wall::fall(&team, &told).await;
    let _process = TeamProcess::start(&team, &[]).await;
    eventually("it waits for a person's word", || async { read(&store, &told).await.status == WorkStatus::Waiting }).await;
    eventually("it is told", || async { !said(&team, |text| text.starts_with('⏰')).await.is_empty() }).await;
    let reminder = said(&team, |text| text.starts_with('⏰')).await.remove(0);
    press(&team, &reminder, "work:done:").await;
    all_over(&team, &store).await;
    expect_done_once(&team, &store, &told, "Laurel").await;
    assert_eq!(said(&team, |text| text.starts_with('⏰')).await.len(), 1, "{:#?}", texts(&team).await);
    store.close().await;
}
