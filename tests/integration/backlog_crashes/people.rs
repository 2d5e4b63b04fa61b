//! `kill -9` while an item waits for people or its reviewer.

use std::time::Duration;

use kernel::ids::MeetingId;
use kernel::time::{Clock, SystemClock};
use kernel::tools::approval::ApprovalState;
use serde_json::json;
use teamroom::features::backlog::model::{Evidence, Execution, JournalEntry, Origin, Owner, Wait, WorkItem, WorkStatus};
use teamroom::store::Store;

use super::stage::{
    all_over, answer, asked_for, document, eventually, expect_done_once, expect_written_once, item, open, press, read, said, team, texts,
};
use super::wall::{self, Before};
use crate::support::database::{allow, forbid};
use crate::support::grading::is_grading;
use crate::support::model::{Asked, Script};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, on_both_stores};

on_both_stores!(
    killed_while_it_is_judged,
    killed_before_a_verdict_is_stored,
    killed_around_a_persons_answer,
    killed_around_a_persons_leave,
    killed_before_a_question_is_judged_and_handed_on,
);

/// Starts a process, waits for a condition and kills it; twice.
pub(super) async fn kill_twice_once<F: Future<Output = bool>>(team: &TestTeam, what: &str, mut holds: impl FnMut() -> F) {
    for _ in 0..2 {
        let process = TeamProcess::start(team, &[]).await;
        eventually(what, &mut holds).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        process.kill();
    }
}

pub(super) async fn note(store: &Store, item: &WorkItem) {
    store.insert_items(std::slice::from_ref(item), SystemClock.now()).await.unwrap();
}

pub(super) fn reviews(team: &TestTeam) -> usize {
    let judges = |asked: &&Asked| {
        asked.schema.as_ref().is_some_and(|schema| ["grades", "verdict"].iter().any(|word| schema.to_string().contains(word)))
    };
    team.model.requests().iter().filter(judges).count()
}

async fn killed_while_it_is_judged(backing: Backing) {
    let team = team(backing).await;
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    team.model.on(|asked| if is_grading(asked) { Script::Hang } else { answer(asked) });
    let item = document(&team, "vince", "Nettle");
    note(&store, &item).await;
    for round in 1..=2 {
        let process = TeamProcess::start(&team, &[]).await;
        eventually("the reviewer was asked", || async { reviews(&team) == round }).await;
        process.kill();
        assert_eq!(read(&store, &item).await.status, WorkStatus::InReview);
    }
    team.model.on(answer);
    let process = TeamProcess::start(&team, &[]).await;
    all_over(&team, &store).await;
    process.kill();
    expect_written_once(&team, &store, &item, "Nettle").await;
    assert_eq!((asked_for(&team, "Nettle"), reviews(&team)), (2, 3), "two verdicts were lost, and no work");
    store.close().await;
}

/// The grader's reply is in the journal, so it is not paid again, and it is no pass before it is stored.
async fn killed_before_a_verdict_is_stored(backing: Backing) {
    let team = team(backing).await;
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    let item = document(&team, "vince", "Saffron");
    let judged = format!("OLD.id = '{}' AND OLD.status = 'in_review' AND NEW.status <> 'in_review'", item.id);
    forbid(&team, "judged", "UPDATE OF status ON work_items", &judged).await;
    note(&store, &item).await;
    let replied = || async {
        let journal = store.list_journal(&item.id, 0).await.unwrap();
        let is_reply =
            |entry: &JournalEntry| matches!(entry, JournalEntry::Graded { entry, .. } if matches!(**entry, JournalEntry::Replied { .. }));
        journal.iter().any(|(entry, _)| is_reply(entry))
    };
    kill_twice_once(&team, "the grader has replied", replied).await;
    assert_eq!(read(&store, &item).await.status, WorkStatus::InReview, "nothing is decided");
    allow(&team, "judged").await;
    let process = TeamProcess::start(&team, &[]).await;
    all_over(&team, &store).await;
    process.kill();
    expect_written_once(&team, &store, &item, "Saffron").await;
    assert_eq!((asked_for(&team, "Saffron"), reviews(&team)), (2, 1), "neither the work nor the verdict is paid twice");
    store.close().await;
}

async fn killed_around_a_persons_answer(backing: Backing) {
    let team = team(backing).await;
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    let person = team.sandbox().people().remove(0);
    let owner = Owner::Person { id: team.person_id(0), name: person.name };
    let item = item(&team, owner, "Water the Olive", Execution::Remind { whom: None });
    note(&store, &item).await;
    let waits = || async { matches!(read(&store, &item).await.wait, Some(Wait::Answer { .. })) };
    kill_twice_once(&team, "it waits for an answer", waits).await;

    let process = TeamProcess::start(&team, &[]).await;
    eventually("it is told", || async { !said(&team, |text| text.starts_with('⏰')).await.is_empty() }).await;
    let reminders = said(&team, |text| text.starts_with('⏰')).await;
    assert_eq!(reminders.len(), 1, "{:#?}", texts(&team).await);
    press(&team, &reminders[0], "work:done:").await;
    eventually("the answer is stored", || async { read(&store, &item).await.status == WorkStatus::Done }).await;
    process.kill();
    let _process = TeamProcess::start(&team, &[]).await;
    all_over(&team, &store).await;
    expect_done_once(&team, &store, &item, "Olive").await;
    let evidence = read(&store, &item).await.evidence;
    assert_eq!(evidence.iter().filter(|evidence| matches!(evidence, Evidence::Answer { .. })).count(), 1, "{evidence:#?}");
    store.close().await;
}

/// Oracle does not know, then Amy, whose field is numbers. The verdict and the handing on are each killed, and so is the wait for help.
async fn killed_before_a_question_is_judged_and_handed_on(backing: Backing) {
    let team = team(backing).await;
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    let unknown = Script::Json(json!({"verdict": "does_not_know"}));
    team.model.on(move |asked| if asked.schema.is_some() { unknown.clone() } else { Script::say("I have no figure for that.") });
    let oracle = Owner::Persona("oracle".into());
    let asked = Execution::ask(oracle.clone(), "Describe the Quince: what are the odds, in numbers?".to_owned());
    let item = item(&team, oracle, "Describe the Quince", asked);
    wall::raise(&team, &item, Before::Entry(2)).await;
    note(&store, &item).await;
    let judged = async |times: usize| {
        let journal = store.list_journal(&item.id, 0).await.unwrap();
        journal.iter().filter(|(entry, _)| matches!(entry, JournalEntry::Judged { .. })).count() == times
    };
    let process = TeamProcess::start(&team, &[]).await;
    eventually("a verdict was given", || async { reviews(&team) >= 1 }).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    process.kill();
    assert!(judged(0).await, "it could not be stored");
    wall::fall(&team, &item).await;

    wall::raise(&team, &item, Before::End).await;
    let process = TeamProcess::start(&team, &[]).await;
    eventually("the verdict is stored", || judged(1)).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    process.kill();
    assert_eq!(read(&store, &item).await.status, WorkStatus::InProgress, "it could not be handed on");
    wall::fall(&team, &item).await;

    let waits = || async { matches!(read(&store, &item).await.wait, Some(Wait::Help { .. })) };
    kill_twice_once(&team, "it waits for help", waits).await;
    let _process = TeamProcess::start(&team, &[]).await;
    eventually("people are asked", || async { !said(&team, |text| text.starts_with('❓')).await.is_empty() }).await;
    let questions = said(&team, |text| text.starts_with('❓')).await;
    assert_eq!(questions.len(), 1, "{:#?}", texts(&team).await);
    let Some(Execution::Ask { unanswered, .. }) = read(&store, &item).await.execution else { panic!("it asks somebody") };
    assert_eq!(unanswered.iter().map(|reply| reply.by.as_str()).collect::<Vec<_>>(), ["oracle", "amy"]);
    let replies = team.model.requests().iter().filter(|asked| asked.schema.is_none()).count();
    assert_eq!(replies, 2, "no reply was lost");
    store.close().await;
}

/// A run that has read agents' text needs approval before it may save anything.
async fn killed_around_a_persons_leave(backing: Backing) {
    let team = team(backing).await;
    TeamProcess::start(&team, &[]).await.kill();
    let store = open(&team).await;
    let item = WorkItem { origin: Origin::Meeting(MeetingId::from("meeting-1").into()), ..document(&team, "vince", "Poppy") };
    note(&store, &item).await;
    let waits = || async { matches!(read(&store, &item).await.wait, Some(Wait::Approval { .. })) };
    kill_twice_once(&team, "it waits for leave", waits).await;

    let process = TeamProcess::start(&team, &[]).await;
    let asks = async || said(&team, |text| text.contains("memory_save")).await;
    eventually("a person is asked", || async { !asks().await.is_empty() }).await;
    assert_eq!(asks().await.len(), 1, "{:#?}", texts(&team).await);
    wall::raise(&team, &item, Before::Leaving("ready")).await;
    press(&team, &asks().await[0], "work:allow:").await;
    let allowed = async || store.list_approvals(&item.id).await.unwrap().iter().all(|asked| asked.state == ApprovalState::Allowed);
    eventually("it is allowed", || async { allowed().await }).await;
    process.kill();
    kill_twice_once(&team, "it may go on", || async { read(&store, &item).await.status == WorkStatus::Ready }).await;
    wall::fall(&team, &item).await;

    let _process = TeamProcess::start(&team, &[]).await;
    all_over(&team, &store).await;
    expect_written_once(&team, &store, &item, "Poppy").await;
    assert_eq!((asked_for(&team, "Poppy"), store.list_approvals(&item.id).await.unwrap().len()), (2, 1));
    store.close().await;
}
