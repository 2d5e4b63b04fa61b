//! Live updates of the kanban page.

use std::time::Duration;

use futures_util::StreamExt as _;
use reqwest::StatusCode;
use secrecy::ExposeSecret;
use teamroom::features::backlog::model::WorkStatus;
use tokio::process::Command;

use super::stage::{Stage, item};
use crate::support::patience::PATIENCE;
use crate::support::team::{Backing, on_both_stores, on_one_store};

on_both_stores!(a_page_that_listens_hears_of_a_change_by_another_process);
on_one_store!(a_page_that_listens_hears_of_a_change, nobody_asks_the_store_while_nobody_listens);

const ROUND: Duration = Duration::from_millis(500);

/// An open page.
struct Listener {
    response: reqwest::Response,
    heard: String,
}

impl Listener {
    async fn open(stage: &Stage) -> Self {
        let response = stage.http.get(stage.url("/backlog/live")).send().await.expect("an answer");
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, heard: String::new() }
    }

    /// The next counter value.
    async fn hear(&mut self) -> i64 {
        let next = async {
            loop {
                if let Some((event, rest)) = self.heard.split_once("\n\n") {
                    let mark = event.lines().find_map(|line| line.strip_prefix("data: ")).map(|mark| mark.parse().expect("a mark"));
                    self.heard = rest.into();
                    if let Some(mark) = mark {
                        return mark;
                    }
                    continue;
                }
                let chunk = self.response.chunk().await.expect("the connection lasts").expect("the events go on");
                self.heard.push_str(std::str::from_utf8(&chunk).expect("text"));
            }
        };
        tokio::time::timeout(PATIENCE, next).await.expect("an event in time")
    }
}

/// Waits until the watch for other processes and each connection's two timers sleep.
async fn until_sleepers(stage: &Stage, expected: usize) {
    let asleep = async {
        while stage.clock.sleepers() != expected {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, asleep).await;
    assert!(waited.is_ok(), "{} sleep, not {expected}", stage.clock.sleepers());
}

async fn a_page_that_listens_hears_of_a_change(backing: Backing) {
    let stage = Stage::start(backing).await;
    let mut page = Listener::open(&stage).await;
    // The first value may be the present one. A page compares it with its own.
    let mut mark = page.hear().await;
    for round in 0..3 {
        // No time passes on the clock.
        stage.insert(&[item(&format!("change {round}"), WorkStatus::Ready, 1)]).await;
        let shown = stage.json("/backlog.json").await["mark"].as_i64().expect("a mark");
        assert!(shown > mark, "the page shows a newer state");
        while mark < shown {
            mark = page.hear().await;
        }
        assert_eq!(mark, shown);
    }
}

async fn a_page_that_listens_hears_of_a_change_by_another_process(backing: Backing) {
    let stage = Stage::start(backing).await;
    let mut page = Listener::open(&stage).await;
    let mut mark = page.hear().await;
    for round in 0..2 {
        let mut add = Command::new(env!("CARGO_BIN_EXE_teamroom"));
        let dir = tempfile::tempdir().expect("a directory");
        add.args(["backlog", "add", &format!("Change {round}")]).current_dir(dir.path()).env_clear();
        let output = add.env("DATABASE_URL", stage.database.expose_secret()).output().await.expect("the binary runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let shown = stage.json("/backlog.json").await["mark"].as_i64().expect("a mark");
        assert!(shown > mark, "the page shows a newer state");
        while mark < shown {
            // SQLite is queried twice a second. PostgreSQL notifies by itself.
            if backing == Backing::Sqlite {
                until_sleepers(&stage, 3).await;
                stage.clock.advance(ROUND);
            }
            mark = page.hear().await;
        }
        assert_eq!(mark, shown);
    }
}

async fn nobody_asks_the_store_while_nobody_listens(backing: Backing) {
    let stage = Stage::start(backing).await;
    until_sleepers(&stage, 0).await;
    let page = Listener::open(&stage).await;
    until_sleepers(&stage, 3).await;
    drop(page);
    // The server notices a closed page at its next write, or at once.
    let rounds = async {
        while stage.clock.sleepers() > 0 {
            stage.clock.advance(Duration::from_secs(20));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, rounds).await.expect("the watch of the store rests");
    until_sleepers(&stage, 0).await;
    let _again = Listener::open(&stage).await;
    until_sleepers(&stage, 3).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_so_many_pages_listen_and_a_place_that_is_left_is_free_again() {
    let stage = Stage::start(Backing::Sqlite).await;
    let mut pages = futures_util::stream::iter(0..32).then(|_| Listener::open(&stage)).collect::<Vec<_>>().await;
    let one_more = stage.http.get(stage.url("/backlog/live")).send().await.expect("an answer");
    assert_eq!(one_more.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(stage.get("/backlog").await.contains("Backlog"), "the page itself is there for everybody");

    drop(pages.pop());
    let freed = async {
        while stage.http.get(stage.url("/backlog/live")).send().await.expect("an answer").status() != StatusCode::OK {
            stage.clock.advance(Duration::from_secs(15));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, freed).await.expect("the place is free again");
}
