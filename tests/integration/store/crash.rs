//! Data reported as stored is stored, however the process ends.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use kernel::chat::message::Channel;
use kernel::db::StoreError;
use kernel::ids::MeetingId;
use kernel::jobs::JobError;
use kernel::memory::{Memory, MemorySource};
use secrecy::ExposeSecret;
use teamroom::features::backlog::model::{Origin, WorkItem};
use teamroom::features::backlog::store::ItemFilter;
use teamroom::features::chat::model::decision::{Decision, Reason};
use teamroom::features::chat::store::{Claim, Decided, Finished};
use teamroom::features::meeting::model::{Meeting, MeetingState};
use teamroom::features::meeting::store::{Called, OpenMeeting};
use teamroom::features::standup::store::StandupClosing;
use teamroom::store::Store;

use super::opening::tamper;
use super::sample::{answer, at, finish, finished, line, message, noon, turn};
use super::standup::{closing, item, lesson, prediction, report, run_of, standup, standup_channel};
use super::{Home, on_both};

/// If set, the writers below run as the process that another test kills. Otherwise they do nothing.
const DATABASE: &str = "TEAMROOM_TEST_DATABASE";

/// How often the writer is killed, at different moments.
const ROUNDS: usize = 5;

on_both!(nothing_that_was_acknowledged_is_lost_by_a_kill, a_standup_is_closed_wholly_or_not_at_all_by_a_kill);

async fn nothing_that_was_acknowledged_is_lost_by_a_kill(home: &Home) {
    let mut acknowledged = Vec::new();
    for round in 0..ROUNDS {
        acknowledged.extend(run_and_kill(home, "a_writer_writes_until_it_is_killed", 10 + 7 * round));
        let store = home.open_once_free().await;
        for id in &acknowledged {
            let trace = store.trace(&id.as_str().into()).await.unwrap().expect("the message is there");
            assert_eq!((trace.turns.len(), trace.outbox.len()), (1, 1), "{id}");
            assert!(trace.turns[0].finished_at.is_some(), "{id}");
        }
        assert!(store.summary().await.unwrap().damage.is_empty());
        store.close().await;
    }
}

async fn a_standup_is_closed_wholly_or_not_at_all_by_a_kill(home: &Home) {
    let mut acknowledged = Vec::new();
    for round in 0..ROUNDS {
        acknowledged.extend(run_and_kill(home, "a_team_holds_standups_until_it_is_killed", 5 + 3 * round));
        let store = home.open_once_free().await;
        let meetings = store.list_meetings(u32::MAX).await.unwrap();
        let mut results = list_results(&store).await;
        for meeting in &meetings {
            let expected = if meeting.state == MeetingState::Done { WHOLE } else { [0; 4] };
            assert_eq!(results.remove(&meeting.id).unwrap_or_default(), expected, "{}", meeting.id);
        }
        assert!(results.is_empty(), "each result has its meeting");
        let done: Vec<_> =
            meetings.iter().filter(|meeting| meeting.state == MeetingState::Done).map(|meeting| meeting.id.as_str()).collect();
        assert!(acknowledged.iter().all(|id| done.contains(&id.as_str())));
        // A worker takes the jobs of the killed process back.
        tamper(home, "UPDATE jobs SET state = 'ready' WHERE state = 'running'").await;
        for OpenMeeting { meeting, .. } in store.list_open_meetings().await.unwrap() {
            assert!(close_standup(&store, &meeting).await.unwrap(), "the next start goes on with {}", meeting.id);
        }
        store.close().await;
    }
}

/// The number of reports, items, predictions and memories of a standup by [`close_standup`].
const WHOLE: [usize; 4] = [1, 2, 1, 1];

/// The stored numbers for each meeting with results.
async fn list_results(store: &Store) -> HashMap<MeetingId, [usize; 4]> {
    let mut results: HashMap<MeetingId, [usize; 4]> = HashMap::new();
    let mut count = |meeting: MeetingId, what: usize| results.entry(meeting).or_default()[what] += 1;
    for stored in store.list_reports(u32::MAX).await.unwrap() {
        count(stored.report.meeting, 0);
    }
    for item in store.list_items(&ItemFilter { statuses: &[], owner: None, scope: None, limit: u32::MAX }).await.unwrap() {
        let Origin::Meeting(meeting) = item.origin else { panic!("{:?}", item.origin) };
        count(meeting.id, 1);
    }
    for prediction in store.list_predictions(u32::MAX).await.unwrap() {
        count(prediction.meeting, 2);
    }
    for lesson in store.list_lessons(&"vince".into(), u32::MAX).await.unwrap() {
        let MemorySource::Meeting(meeting) = lesson.source else { panic!("{:?}", lesson.source) };
        count(meeting, 3);
    }
    results
}

/// Runs a writer in a separate process and kills it after `enough` reports of stored data. Returns them.
fn run_and_kill(home: &Home, writer: &str, enough: usize) -> Vec<String> {
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("store::crash::{writer}"), "--nocapture"])
        .env(DATABASE, home.url.expose_secret())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let mut stored = Vec::new();
    while stored.len() < enough {
        let line = lines.next().expect("the writer writes").unwrap();
        stored.extend(line.strip_prefix("stored ").map(str::to_owned));
    }
    process.kill().unwrap();
    process.wait().unwrap();
    // Output of the process that was not read before it was killed.
    stored.extend(lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("stored ").map(str::to_owned)));
    stored
}

impl Home {
    /// PostgreSQL takes a moment to notice that a process is gone.
    async fn open_once_free(&self) -> Store {
        loop {
            match Store::open(&self.url, noon()).await {
                Ok(store) => return store,
                Err(StoreError::Locked { .. }) => tokio::task::yield_now().await,
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// A file size limit simulates a full disk. SQLite's write-ahead log reaches it first.
#[tokio::test]
async fn a_full_disk_is_told_and_loses_nothing() {
    let home = Home::sqlite();
    let limited = "trap '' XFSZ; ulimit -f 4000; exec \"$0\" --exact store::crash::a_writer_writes_until_it_is_killed --nocapture";
    let writer = Command::new("sh")
        .args(["-c", limited])
        .arg(std::env::current_exe().unwrap())
        .env(DATABASE, home.url.expose_secret())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8(writer.stdout).unwrap();
    assert!(said.contains("refused, retryable: true"), "{said}");

    let store = home.open().await;
    let acknowledged: Vec<_> = said.lines().filter_map(|line| line.strip_prefix("stored ")).collect();
    assert!(acknowledged.len() > 10, "{said}");
    for id in acknowledged {
        assert!(store.trace(&id.into()).await.unwrap().expect("the message is there").turns[0].finished_at.is_some(), "{id}");
    }
    assert!(store.summary().await.unwrap().damage.is_empty());
    assert_eq!(store.claim(&message("m1", "there is room again", 0), at(0)).await.unwrap(), Claim::New);
}

/// A writer for messages up to the outbox. Prints each success and each error of the store. Does nothing unless another test starts it.
#[tokio::test]
async fn a_writer_writes_until_it_is_killed() {
    #[expect(clippy::disallowed_methods, reason = "how one process of a test tells another")]
    let Ok(url) = std::env::var(DATABASE) else { return };
    let store = Store::open(&url.into(), noon()).await.unwrap();
    for number in 0.. {
        let id = format!("{}-{number}", std::process::id());
        match answer_one(&store, &id, number).await {
            Ok(()) => writeln!(std::io::stdout(), "stored {id}").expect("somebody reads, or has killed this"),
            Err(error) => return println!("refused, retryable: {}", error.is_retryable()),
        }
    }
}

async fn answer_one(store: &Store, id: &str, number: i64) -> Result<(), StoreError> {
    assert_eq!(store.claim(&message(id, &"hello ".repeat(500), number), at(0)).await?, Claim::New);
    let turns = [turn(id, "vince")];
    let decision = Decision::one("vince".into(), Reason::Named);
    let decided = Decided { messages: &[id.into()], decision: &decision, turns: &turns, asks: &[], outbox: &[], effect: None, at: at(1) };
    assert!(store.decide(&decided).await?);
    let post = answer(&turns[0], "Solus is.");
    assert!(finish(store, &Finished { outbox: std::slice::from_ref(&post), ..finished(&turns[0]) }).await?);
    Ok(())
}

/// A writer for standups, each in a separate channel. Prints each success. Does nothing unless another test starts it.
#[tokio::test]
async fn a_team_holds_standups_until_it_is_killed() {
    #[expect(clippy::disallowed_methods, reason = "how one process of a test tells another")]
    let Ok(url) = std::env::var(DATABASE) else { return };
    let store = Store::open(&url.into(), noon()).await.unwrap();
    for number in 0.. {
        let channel = Channel { id: format!("{}-{number}", std::process::id()).into(), ..standup_channel() };
        let meeting = Meeting { channel, ..standup() };
        assert_eq!(store.call_meeting(&meeting).await.unwrap(), Called::Opened);
        assert!(close_standup(&store, &meeting).await.unwrap());
        writeln!(std::io::stdout(), "stored {}", meeting.id).expect("somebody reads, or has killed this");
    }
}

/// Completes a standup from any state.
async fn close_standup(store: &Store, meeting: &Meeting) -> Result<bool, JobError> {
    let run = run_of(store, meeting).await;
    run.open(&[], &[line("good morning")], at(1)).await?;
    let meeting = run.begin_closing(at(2)).await?.expect("it is open");
    let origin = Origin::Meeting(meeting.id.clone().into());
    let items = [WorkItem { origin: origin.clone(), ..item("profile checkout", 2) }, WorkItem { origin, ..item("roll it back", 2) }];
    let (report, call) = (report(&meeting, 1), prediction(&meeting, "512 commits?"));
    let memory =
        Memory { source: MemorySource::Meeting(meeting.id.clone()), ..lesson(&format!("Latency follows traffic, says {}.", meeting.id)) };
    let post = line("the Day Report");
    let whole = StandupClosing {
        items: &items,
        prediction: Some(&call),
        memories: std::slice::from_ref(&memory),
        outbox: std::slice::from_ref(&post),
        ..closing(&run, &meeting, &report, &post.id)
    };
    whole.store().await
}
