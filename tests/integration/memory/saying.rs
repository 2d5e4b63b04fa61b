//! What people say in channels is found again by what it is about, by who said it and when, where it may be told.

use kernel::llm::settings::ProviderKind;
use reqwest::Method;
use serde_json::json;

use super::stage::{BOARD, HERE, Stage};
use crate::support::database::count;
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    what_somebody_said_is_told_with_who_when_and_where,
    an_edit_corrects_it_and_a_deletion_removes_it,
    a_prompt_has_what_lies_behind_its_transcript,
);

async fn said(stage: &Stage) -> i64 {
    count(&stage.team, "SELECT COUNT(*) FROM memories WHERE kind = 'conversation'").await
}

async fn say(stage: &Stage, channel: &str, text: &str) -> String {
    let before = said(stage).await;
    let id = stage.team.say(channel, text).await;
    eventually("it is remembered", || async { said(stage).await > before }).await;
    id
}

async fn what_somebody_said_is_told_with_who_when_and_where(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    say(&stage, HERE, "The launch party moves to the fifth of May.").await;
    stage.say_as_bob("The launch video is nearly cut, two scenes are missing.").await;
    say(&stage, BOARD, "The launch budget is forty thousand.").await;
    eventually("all is remembered", || async { said(&stage).await == 3 }).await;
    // Greetings, thanks and praise are not remembered.
    for nothing in ["good morning all", "thanks", "nice"] {
        stage.team.say(HERE, nothing).await;
    }
    let answer = stage.answer_to("kelly, what did I say about the launch?").await;
    assert!(answer.starts_with("Ann said on ") && answer.contains(" in #general: The launch party moves to the fifth of May."), "{answer}");
    let answer = stage.answer_to("kelly, what did Bob say today about the launch?").await;
    assert!(answer.starts_with("Bob said on ") && answer.contains(" in #general: The launch video is nearly cut"), "{answer}");
    assert!(!answer.contains("forty thousand"), "{answer}");
    let answer = stage.answer_in(BOARD, "kelly, what did I say about the launch budget?").await.text;
    assert!(answer.contains("The launch budget is forty thousand."), "{answer}");
    let found = stage.command("search", &[("words", "launch video")]).await;
    assert!(found.contains("(Bob said on ") && found.contains(" in #general)") && !found.contains("forty"), "{found}");
    assert_eq!(said(&stage).await, 3);
}

async fn an_edit_corrects_it_and_a_deletion_removes_it(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    let id = say(&stage, HERE, "The launch party moves to the fifth of May.").await;
    let path = format!("/channels/{}/messages/{id}", stage.team.channel(HERE));
    stage.team.call(Method::PATCH, &path, Some(json!({ "content": "The launch party moves to the ninth of May." }))).await;
    let corrected = "SELECT COUNT(*) FROM memories WHERE text LIKE '%ninth of May%' AND words LIKE '%ninth%'";
    eventually("it is corrected", || async { count(&stage.team, corrected).await == 1 }).await;
    let answer = stage.answer_to("kelly, what did I say about the launch party?").await;
    assert!(answer.contains("ninth of May") && !answer.contains("fifth"), "{answer}");
    stage.team.call(Method::DELETE, &path, None).await;
    eventually("it is gone", || async { said(&stage).await == 0 }).await;
    assert!(!stage.answer_to("kelly, what did I say about the launch party?").await.contains("May"));
}

async fn a_prompt_has_what_lies_behind_its_transcript(backing: Backing) {
    let stage = Stage::start(backing, Some(ProviderKind::OpenAi)).await;
    stage.team.model.on(|_| Script::say("I see."));
    say(&stage, HERE, "The landlord wants the archive boxes gone by Friday.").await;
    say(&stage, BOARD, "The landlord offered to sell us the house.").await;
    for number in 0..40 {
        say(&stage, HERE, &format!("Pallet {number} was weighed and labelled.")).await;
    }
    stage.answer_to("kelly, what does the landlord want?").await;
    let prompt = stage.team.model.requests().last().unwrap().prompt();
    assert!(prompt.contains("what was said before>>\n- Ann said on"), "{prompt}");
    assert!(prompt.contains("in #general: The landlord wants the archive boxes gone by Friday."), "{prompt}");
    assert!(!prompt.contains("sell us the house"), "{prompt}");
    assert_eq!(prompt.matches("what does the landlord want?").count(), 1, "the question itself is no memory: {prompt}");
}
