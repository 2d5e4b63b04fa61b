//! `kill -9` behind every stored step of a board meeting: each turn is posted once, and what was paid is not paid again.

use kernel::llm::settings::ProviderKind;
use kernel::time::{Clock as _, SystemClock};
use teamroom::features::board::model::message_id;
use teamroom::features::meeting::model::MeetingState;
use teamroom::store::Store;

use super::stage::{HERE, Play, QUESTION, TEAM, comes_to, document, file, is_turn, last, speaker_of, thread};
use crate::mission::stage::SETTINGS;
use crate::support::command::{give, sub_command};
use crate::support::database::{allow, count, execute, forbid};
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, Wanted, eventually, on_both_stores};

on_both_stores!(killed_behind_each_stored_step);

/// The writes of a meeting, in this order.
const WALLS: [(&str, &str); 9] = [
    ("UPDATE OF state ON meetings", "NEW.state = 'running'"),
    ("UPDATE OF material ON meetings", "NEW.material IS NOT NULL"),
    ("UPDATE OF state ON seats", "NEW.state = 'spoke' AND NEW.round = 0 AND NEW.position = 2"),
    ("INSERT ON board_comments", "NEW.kind <> 'remark'"),
    ("INSERT ON seats", "NEW.round = 1"),
    ("UPDATE OF state ON seats", "NEW.state = 'spoke' AND NEW.round = 1 AND NEW.position = 1"),
    ("UPDATE OF state ON meetings", "NEW.state = 'closing'"),
    ("UPDATE OF document ON boards", "NEW.document IS NOT NULL"),
    ("UPDATE OF trust ON relationships", "NEW.trust > 0"),
];

async fn killed_behind_each_stored_step(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).without_app().start().await;
    let play = Play::default();
    team.model.on(move |asked| play.answer(asked));
    std::fs::write(team.path("teamroom.toml"), format!("{SETTINGS}[board]\nlead = \"0s\"\n")).unwrap();
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();

    for (number, (change, when)) in WALLS.into_iter().enumerate() {
        forbid(&team, "wall", change, when).await;
        let process = TeamProcess::start(&team, &[]).await;
        if number == 0 {
            give(&team, HERE, "board", sub_command("create", &[("topic", QUESTION), ("team", TEAM)])).await;
        }
        let stands = async || {
            count(&team, "SELECT COUNT(*) FROM jobs WHERE kind = 'meeting.run' AND attempts > 0 AND finished_at IS NULL").await == 1
        };
        eventually(&format!("it stands before {change} {when}"), || async { stands().await }).await;
        process.kill();
        allow(&team, "wall").await;
        // Resets all counts of attempts. No process runs meanwhile.
        let reset = "state = 'ready', holder = NULL, attempts = 0, crashes = 0, suspicions = 0, run_at = '2026-01-01T00:00:00+00:00'";
        execute(&team, &format!("UPDATE jobs SET {reset} WHERE finished_at IS NULL")).await;
        execute(&team, "UPDATE seats SET attempts = 0 WHERE state = 'speaking'").await;
        execute(&team, "UPDATE meetings SET closings = 0 WHERE ended_at IS NULL").await;
    }
    let _process = TeamProcess::start(&team, &[]).await;
    comes_to(&store, MeetingState::Done).await;
    let meeting = last(&store).await.unwrap();
    let text = file(&document(&team, &store, &meeting.id).await).await;
    assert!(text.contains("Over after 3 rounds: nothing new was said"), "{text}");
    let result = message_id(&meeting.id, "result");
    eventually("the result is posted", || async { store.find_posted(&result).await.unwrap().is_some() }).await;

    assert_eq!(count(&team, "SELECT COUNT(*) FROM meetings").await, 1);
    // The relationship of each pair has changed once.
    assert_eq!(count(&team, "SELECT COUNT(*) FROM relationships WHERE agreed = 1 AND disagreed = 0 AND trust < 0.11").await, 3);
    let said = thread(&team, &store, &meeting.id).await;
    for text in
        ["Listeners wake a worker", "Backups of one server", "Nobody here has ever tuned", "Our provider tunes it", "**The question**"]
    {
        assert_eq!(
            said.iter().filter(|shown| shown.text.contains(text) && !shown.text.starts_with("**Round")).count(),
            1,
            "{text}: {said:#?}"
        );
    }
    let rounds = count(&team, "SELECT COUNT(*) FROM seats WHERE state = 'spoke'").await;
    assert_eq!(count(&team, "SELECT COUNT(*) FROM board_comments").await, 5);
    // Only the two turns that could not be stored because of a wall were paid twice.
    let asked: Vec<_> = team.model.requests().iter().filter(|asked| is_turn(asked)).map(speaker_of).collect();
    let paid = i64::try_from(asked.len()).unwrap();
    assert!((rounds..=rounds + 4).contains(&paid), "{paid} calls for {rounds} turns: {asked:?}");
    store.close().await;
}
