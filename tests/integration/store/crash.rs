//! Data reported as stored is stored, however the process ends.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use kernel::db::StoreError;
use secrecy::ExposeSecret;
use teamroom::features::chat::model::decision::{Decision, Reason};
use teamroom::features::chat::store::{Claim, Decided, Finished};
use teamroom::store::Store;

use super::sample::{answer, at, finish, finished, message, noon, turn};
use super::{Home, on_both};

/// If set, the writers below run as the process that another test kills. Otherwise they do nothing.
pub(crate) const DATABASE: &str = "TEAMROOM_TEST_DATABASE";

/// How often the writer is killed, at different moments.
pub(crate) const ROUNDS: usize = 5;

on_both!(nothing_that_was_acknowledged_is_lost_by_a_kill);

async fn nothing_that_was_acknowledged_is_lost_by_a_kill(home: &Home) {
    let mut acknowledged = Vec::new();
    for round in 0..ROUNDS {
        acknowledged.extend(run_and_kill(home, "store::crash::a_writer_writes_until_it_is_killed", 10 + 7 * round));
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

/// Runs a writer, a test, in a separate process and kills it after `enough` reports of stored data. Returns them.
pub(crate) fn run_and_kill(home: &Home, writer: &str, enough: usize) -> Vec<String> {
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", writer, "--nocapture"])
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
    pub(crate) async fn open_once_free(&self) -> Store {
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
