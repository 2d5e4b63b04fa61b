//! Board meetings without a model. The contributions come from feeds and files, and say so.

use std::process::Command;

use serde_json::{Value as Json, json};
use teamroom::features::meeting::model::MeetingState;

use super::stage::{HERE, begin_at_once, comes_to, command, document, file, last, thread};
use crate::backlog::stage::Setting;
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    each_says_once_what_feeds_and_files_have_on_it,
    a_board_whose_model_is_down_says_what_feeds_and_files_have_on_it,
    a_question_for_opinions_gets_what_there_is_on_it_or_one_word_that_it_needs_a_model,
);

async fn each_says_once_what_feeds_and_files_have_on_it(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    let path = stage.team.path("notes.md");
    std::fs::write(&path, "# Queue\n\nThe queue moves to PostgreSQL once it has 5,000 jobs an hour. Today it has 900.\n").unwrap();
    let board = teamroom_board(
        &stage,
        &["create", "When does the queue move to PostgreSQL?", "--channel", HERE, "--file", path.to_str().unwrap(), "--json"],
    );
    assert_eq!(board["board"]["artefact"], "recommendations", "{board}");
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    let card = document(&stage.team, &stage.store, &meeting.id).await;
    let said = thread(&stage.team, &stage.store, &meeting.id).await;
    assert!(
        said.iter().any(|shown| shown.text.contains("once it has 5,000 jobs an hour") && shown.text.contains("without AI")),
        "{said:#?}"
    );
    let text = file(&card).await;
    assert!(
        text.contains("Over after one round: without a model nobody can answer what others say.") && text.contains("generated without AI"),
        "{text}"
    );
    assert!(text.contains("5,000 jobs"), "{text}");
    let html = command(&stage, "export", &[("format", json!("html"))]).await;
    assert!(html.contains("When does the queue move"), "{html}");
    let exported = teamroom_board(&stage, &["export", "--json"]);
    assert_eq!(exported["ending"], "no_model", "{exported}");
}

async fn a_board_whose_model_is_down_says_what_feeds_and_files_have_on_it(backing: Backing) {
    let stage = Setting::on(backing).configure(begin_at_once).with_model().open().await;
    stage.team.model.on(|_| Script::status(401));
    let path = stage.team.path("notes.md");
    std::fs::write(&path, "# Queue\n\nThe queue moves to PostgreSQL once it has 5,000 jobs an hour. Today it has 900.\n").unwrap();
    let file_of_it = path.to_str().unwrap();
    teamroom_board(&stage, &["create", "When does the queue move to PostgreSQL?", "--channel", HERE, "--file", file_of_it, "--json"]);
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    let text = file(&document(&stage.team, &stage.store, &meeting.id).await).await;
    assert!(text.contains("Over after one round: without a model") && text.contains("once it has 5,000 jobs an hour"), "{text}");
}

async fn a_question_for_opinions_gets_what_there_is_on_it_or_one_word_that_it_needs_a_model(backing: Backing) {
    let stage = Setting::on(backing).open().await;
    stage.team.say(HERE, "kelly, remember: the queue lost two jobs on SQLite in May").await;
    stage.team.wait_for_answers(HERE, 1).await;
    let path = stage.team.path("notes.md");
    std::fs::write(&path, "# Queue\n\nPostgreSQL costs $20 a month more than SQLite for the queue.\n").unwrap();
    let path = path.to_str().unwrap();
    teamroom_board(&stage, &["create", "Should we move the queue from SQLite to PostgreSQL?", "--channel", HERE, "--file", path, "--json"]);
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    let text = file(&document(&stage.team, &stage.store, &meeting.id).await).await;
    assert!(text.contains("$20 a month more") && text.contains("lost two jobs on SQLite"), "{text}");

    teamroom_board(&stage, &["create", "Should we buy a zeppelin?", "--channel", HERE, "--json"]);
    let result = async || stage.team.answers(HERE).await.into_iter().any(|shown| shown.text.contains("A debate needs a language model"));
    eventually("the second board says so", || async { result().await }).await;
    let meeting = last(&stage.store).await.unwrap();
    let said = thread(&stage.team, &stage.store, &meeting.id).await;
    assert!(said.iter().all(|shown| !shown.text.contains("has found nothing")), "{said:#?}");
}

/// `teamroom board …` beside the running team.
fn teamroom_board(stage: &crate::backlog::stage::Stage, arguments: &[&str]) -> Json {
    use secrecy::ExposeSecret as _;
    let output = Command::new(env!("CARGO_BIN_EXE_teamroom"))
        .arg("board")
        .args(arguments)
        .current_dir(stage.team.dir.path())
        .env("DATABASE_URL", stage.team.config.database_url.expose_secret())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
