//! Sides are compared by their meaning, and a meeting whose members agree ends.

use serde_json::{Value as Json, json};
use teamroom::features::meeting::model::MeetingState;

use super::stage::{Play, comes_to, comment, create, document, file, is_turn, open, speaker_of, thread, turn};
use crate::backlog::stage::{Setting, Stage};
use crate::support::model::Asked;
use crate::support::team::{Backing, on_one_store};

on_one_store!(one_answer_in_two_wordings_is_one_side, once_all_agree_a_round_without_a_new_point_is_the_last);

const EXACT: &str = "Yes, within one working day";

/// A turn that joins a side by its letter, and words it in its own way.
fn joins(letter: &str, side: &str, because: &str) -> Json {
    let mut given = turn(side, &[]);
    given["joins"] = json!(letter);
    given["changed_because"] = json!(because);
    given
}

async fn held(backing: Backing, lines: impl Fn(&str, u32) -> Json + Send + Sync + 'static) -> (Stage, String) {
    let stage = open(Setting::on(backing), Play::with_lines(lines)).await;
    create(&stage).await;
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    let text = file(&document(&stage.team, &stage.store, &meeting.id).await).await;
    let between = thread(&stage.team, &stage.store, &meeting.id).await;
    assert_eq!(between.iter().filter(|shown| shown.text.starts_with("**Round ")).count(), 1, "one round follows the first");
    (stage, text)
}

fn in_second_round(stage: &Stage, who: &str) -> Asked {
    let asked = stage.team.model.requests().into_iter().filter(is_turn);
    asked.into_iter().find(|asked| speaker_of(asked) == (who.to_owned(), 2)).expect("a turn in the second round")
}

async fn one_answer_in_two_wordings_is_one_side(backing: Backing) {
    let lines = |who: &str, round: u32| match (who, round) {
        ("Echo", 1) => turn(EXACT, &[comment("detail", "Customers leave for other shops after two days without a reply.", None)]),
        (_, 1) => turn("Yes", &[]),
        ("Echo", _) => joins("A", "Yes, but fast", ""),
        _ => joins("A", "Certainly", ""),
    };
    let (stage, text) = held(backing, lines).await;
    let prompt = in_second_round(&stage, "Echo").prompt();
    assert!(prompt.contains(&format!("Sides so far: A \"Yes\" (Vince and Solus); B \"{EXACT}\" (Echo).")), "{prompt}");
    assert!(text.contains("Over after 2 rounds: nothing new was said, and nobody changed sides."), "{text}");
    assert!(text.contains("## In the end\n\n- Yes: Vince, Echo and Solus.") && !text.contains("## Another view"), "{text}");
    assert_eq!(stage.team.model.requests().iter().filter(|asked| is_turn(asked)).count(), 6);
}

async fn once_all_agree_a_round_without_a_new_point_is_the_last(backing: Backing) {
    let lines = |who: &str, round: u32| match (who, round) {
        ("Vince", 1) => turn("move", &[comment("support", "I agree with that.", None)]),
        ("Solus", 1) => turn("stay", &[]),
        ("Solus", 2) => joins("A", "Move it then", "1.1.1 is true"),
        _ => turn("move", &[]),
    };
    let (_stage, text) = held(backing, lines).await;
    assert!(text.contains("Over after 2 rounds: all have come to the same answer, and nothing new was said."), "{text}");
    // Its words are nothing new, but Solus changed sides for it.
    assert!(text.contains("`1.1.1` Vince, support: I agree with that."), "{text}");
    assert!(text.contains("- `1.3` Round 1, Solus: stay") && text.contains("- `2.3` Round 2, Solus: move"), "{text}");
}
