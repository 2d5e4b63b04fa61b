//! Board meetings change trust and tension, and later prompts say who agreed before.

use kernel::db::Transaction;
use kernel::time::{Clock as _, SystemClock};
use serde_json::json;
use teamroom::features::meeting::model::MeetingState;
use teamroom::features::relationships::{Cause, Move, move_relationships};

use super::stage::{HERE, Play, QUESTION, comes_to, command, comment, create, is_turn, lines, open, speaker_of, turn};
use crate::backlog::stage::{Setting, Stage};
use crate::support::command::{invoke, text};
use crate::support::database::{count, execute};
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    who_agreed_before_is_told_in_the_next_meeting,
    those_who_differ_are_in_tension_and_the_advocate_is_not,
    a_hundred_meetings_leave_one_row_for_each_pair,
    who_has_left_takes_the_relationships_along,
);

async fn shown(stage: &Stage) -> String {
    text(&invoke(&stage.team, HERE, "team", json!([{"type": 1, "name": "relationships", "options": []}])).await).to_owned()
}

fn cause(cause: Cause, by: &str, with: &str) -> Move {
    Move { cause, by: by.into(), with: with.into(), about: Some("A question".to_owned()) }
}

async fn move_them(stage: &Stage, times: usize, of: Cause, by: &str, with: &str) {
    for _ in 0..times {
        let mut transaction: Transaction = stage.store.database().db().begin().await.unwrap();
        move_relationships(&mut transaction, vec![cause(of, by, with)], stage.clock.now()).await.unwrap();
        transaction.commit().await.unwrap();
    }
}

async fn who_agreed_before_is_told_in_the_next_meeting(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    assert!(shown(&stage).await.starts_with("No relationships yet."));
    create(&stage).await;
    comes_to(&stage.store, MeetingState::Done).await;
    let told = shown(&stage).await;
    assert!(
        told.contains("- **Echo and Vince**: some trust. Last: ")
            && told.contains(&format!("were on the same side of a board meeting (\"{QUESTION}\"), "))
            && told.contains("On the same side in 1 of 1 board meeting."),
        "{told}"
    );
    let again = "Should the queue leave PostgreSQL again?";
    command(&stage, "create", &[("topic", json!(again)), ("team", json!("vince, echo"))]).await;
    let asked = async || {
        stage
            .team
            .model
            .requests()
            .into_iter()
            .filter(is_turn)
            .find(|asked| asked.prompt().contains(again) && speaker_of(asked).0 == "Vince")
    };
    eventually("the next meeting is held", || async { asked().await.is_some() }).await;
    let prompt = asked().await.unwrap().prompt();
    assert!(prompt.contains("you and the others in earlier board meetings"), "{prompt}");
    assert!(prompt.contains("Echo: on your side in the end in 1 of 1 meeting"), "{prompt}");
    // One meeting is not enough for a strong relationship.
    assert!(!prompt.contains("sets the tone only"), "{prompt}");
}

async fn those_who_differ_are_in_tension_and_the_advocate_is_not(backing: Backing) {
    let play = Play::with_lines(|who, _| {
        let side = if who == "Echo" { "move" } else { "stay" };
        turn(side, &[comment("detail", &format!("{who} stays with the plan of the old cellar."), None)])
    });
    let stage = open(Setting::on(backing), play).await;
    move_them(&stage, 6, Cause::Rejected, "vince", "echo").await;
    command(&stage, "create", &[("topic", json!(QUESTION)), ("team", json!("vince, echo")), ("advocate", json!("solus"))]).await;
    comes_to(&stage.store, MeetingState::Done).await;
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM relationships").await, 1, "the advocate has none");
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM relationships WHERE disagreed = 1 AND tension > 0.6 AND tension < 1").await, 1);
    for asked in stage.team.model.requests().iter().filter(|asked| is_turn(asked)) {
        let (who, prompt) = (speaker_of(asked).0, asked.prompt());
        let friction = "There was friction between you and ";
        assert_eq!(prompt.matches(friction).count(), usize::from(who != "Solus"), "{who}: {prompt}");
    }
    let told = shown(&stage).await;
    assert!(told.contains("much tension") && told.contains("were on different sides of a board meeting"), "{told}");
}

/// The size of a prompt, and of what is read for it, does not grow with the number of meetings.
async fn a_hundred_meetings_leave_one_row_for_each_pair(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    move_them(&stage, 1, Cause::Agreed, "vince", "echo").await;
    move_them(&stage, 100, Cause::Agreed, "echo", "vince").await;
    move_them(&stage, 100, Cause::Disagreed, "solus", "vince").await;
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM relationships").await, 2);
    assert_eq!(
        count(&stage.team, "SELECT COUNT(*) FROM relationships WHERE trust <= 1 AND tension <= 1 AND agreed + disagreed > 99").await,
        2
    );
    create(&stage).await;
    comes_to(&stage.store, MeetingState::Done).await;
    let asked = stage.team.model.requests();
    let prompt = asked.iter().find(|asked| is_turn(asked) && speaker_of(asked) == ("Vince".to_owned(), 1)).unwrap().prompt();
    let block = prompt.split("earlier board meetings>>").nth(1).and_then(|rest| rest.split("<<end").next()).unwrap_or_default();
    let lines: Vec<&str> = block.trim().lines().collect();
    assert_eq!(
        lines,
        ["Echo: on your side in the end in 101 of 101 meetings", "Solus: on your side in the end in 0 of 100 meetings"],
        "{prompt}"
    );
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM relationships").await, 3);
}

async fn who_has_left_takes_the_relationships_along(backing: Backing) {
    let mut stage = open(Setting::on(backing), Play::with_lines(lines)).await;
    move_them(&stage, 1, Cause::Agreed, "vince", "echo").await;
    move_them(&stage, 1, Cause::Agreed, "vince", "somebody-who-left").await;
    stage.team.stop_app().await;
    stage.team.start_app().await;
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM relationships").await, 1);
    // Trust returns to neutral over time. Nothing is written for that.
    execute(&stage.team, "UPDATE relationships SET trust = 0.9").await;
    assert!(shown(&stage).await.contains("much trust"));
    let later = SystemClock.now() + chrono::TimeDelta::days(365);
    let known = stage.store.list_relationships(later).await.unwrap();
    assert!(known.partiality(&"vince".into(), &"echo".into()) < 0.01);
}
