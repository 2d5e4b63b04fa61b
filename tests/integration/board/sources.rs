//! What the members look at: their feeds, the numbers of the question, and tools that read.

use serde_json::json;
use teamroom::features::meeting::model::MeetingState;

use super::stage::{Play, TEAM, comes_to, command, is_turn, open, speaker_of};
use crate::backlog::stage::{Setting, Stage};
use crate::support::model::{Asked, Script};
use crate::support::team::{Backing, on_one_store};

on_one_store!(members_have_their_feeds_and_the_numbers_of_the_question, members_look_things_up_and_change_nothing);

const QUESTION: &str = "Is the latency of the shop low enough?";

async fn hold(stage: &Stage) -> Vec<Asked> {
    command(stage, "create", &[("topic", json!(QUESTION)), ("team", json!(TEAM)), ("rounds", json!(1))]).await;
    comes_to(&stage.store, MeetingState::Done).await;
    stage.team.model.requests().into_iter().filter(is_turn).collect()
}

async fn members_have_their_feeds_and_the_numbers_of_the_question(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let turns = hold(&stage).await;
    assert!(turns.len() >= 3);
    for asked in &turns {
        let (prompt, (who, _)) = (asked.prompt(), speaker_of(asked));
        assert!(prompt.contains("numbers of the team's feeds on it") && prompt.contains(": latency 412"), "{prompt}");
        assert_eq!(prompt.contains("| feed shop, "), who == "Vince", "{who}: {prompt}");
    }
}

async fn members_look_things_up_and_change_nothing(backing: Backing) {
    let stage = open(Setting::on(backing), Play::default()).await;
    let play = Play::default();
    stage.team.model.on(move |asked| {
        let is_vince = is_turn(asked) && speaker_of(asked).0 == "Vince";
        match asked.tool_results() {
            0 if is_vince => Script::call("read_feed", json!({"feed": "shop"})),
            1 if is_vince => Script::call("memory_save", json!({"text": "The shop is fast."})),
            _ => play.answer(asked),
        }
    });
    let turns = hold(&stage).await;
    let of_vince: Vec<_> = turns.iter().filter(|asked| speaker_of(asked).0 == "Vince").collect();
    assert!(of_vince[0].tools.iter().any(|tool| tool == "read_feed") && of_vince[0].prompt().contains("in at most 4 calls"));
    for changes in ["memory_save", "backlog_add", "reminder_set", "board_create", "ask_agent", "workspace_write"] {
        assert!(!of_vince[0].tools.iter().any(|tool| tool == changes), "{:?}", of_vince[0].tools);
    }
    let last = of_vince.last().expect("a turn").prompt();
    assert!(last.contains("412") && last.contains("Not done: you have no such tool"), "{last}");
}
