//! `kill -9` around what is to be remembered: it is stored once and confirmed once.

use kernel::time::SystemClock;

use super::stage::{HERE, wanted};
use crate::support::database::{allow, count, forbid};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, eventually, on_both_stores};

on_both_stores!(killed_before_it_is_stored, killed_after_it_is_stored);

const SAID: &str = "remember: we deploy on Thursdays";

async fn expect_once(team: &TestTeam) {
    let confirmed = async || {
        let answers = team.answers(HERE).await;
        answers.iter().filter(|shown| shown.text.starts_with("I'll remember that for the whole team")).count()
    };
    eventually("it is confirmed", || async { confirmed().await > 0 }).await;
    tokio::time::sleep(std::time::Duration::from_millis(700)).await;
    assert_eq!(confirmed().await, 1);
    assert_eq!(count(team, "SELECT COUNT(*) FROM memories WHERE text = 'we deploy on Thursdays'").await, 1);
    assert_eq!(count(team, "SELECT COUNT(*) FROM events WHERE topic = 'memory' AND kind = 'taught'").await, 1);
}

async fn killed_before_it_is_stored(backing: Backing) {
    for (change, when) in [
        ("INSERT ON memories", "NEW.kind = 'fact'"),
        ("INSERT ON events", "NEW.topic = 'memory'"),
        ("INSERT ON outbox", "NEW.message LIKE '%remember that%'"),
        ("UPDATE ON inbox", "NEW.decided_at IS NOT NULL"),
    ] {
        let team = wanted(backing).clock(SystemClock).without_app().start().await;
        forbid(&team, "wall", change, when).await;
        let process = TeamProcess::start(&team, &[]).await;
        team.say(HERE, SAID).await;
        eventually("it is heard", || async { count(&team, "SELECT COUNT(*) FROM inbox").await > 0 }).await;
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        process.kill();
        allow(&team, "wall").await;
        for table in ["memories", "outbox", "events WHERE topic = 'memory'"] {
            assert_eq!(count(&team, &format!("SELECT COUNT(*) FROM {table}")).await, 0, "{change}: {table}");
        }
        let _process = TeamProcess::start(&team, &[]).await;
        expect_once(&team).await;
    }
}

async fn killed_after_it_is_stored(backing: Backing) {
    let team = wanted(backing).clock(SystemClock).without_app().start().await;
    let process = TeamProcess::start(&team, &[]).await;
    team.say(HERE, SAID).await;
    eventually("it is stored", || async { count(&team, "SELECT COUNT(*) FROM memories").await == 1 }).await;
    process.kill();
    let _process = TeamProcess::start(&team, &[]).await;
    expect_once(&team).await;
}
