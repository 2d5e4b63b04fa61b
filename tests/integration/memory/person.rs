//! What is stored of one person: a copy, and its removal.

use reqwest::Method;
use serde_json::{Value, json};
use teamroom::app::{people, personal};
use teamroom::features::FEATURES;
use teamroom::store::Store;

use kernel::people::Erasure;
use kernel::time::Clock as _;

use super::stage::{HERE, Stage};
use crate::support::command::{invoke, sub_command, text};
use crate::support::team::{Backing, built_in_roster, eventually, on_both_stores, on_one_store};

on_both_stores!(a_removal_that_was_cut_off_is_finished_by_the_next);
on_one_store!(a_copy_has_what_a_person_said_alone_and_who_is_forgotten_leaves_no_trace,);

const BOB: usize = 1;

/// What Ann says, in places of every kind. Each has a word that nobody else uses.
const ANN_SAID: [&str; 6] = ["zebra", "giraffe", "walrus", "penguin", "ocelot", "badger"];

async fn speak(stage: &Stage) -> Store {
    let team = &stage.team;
    stage.answer_in(HERE, "kelly, what do you know about the zebra?").await;
    stage.answer_in(HERE, "remember: herons eat fish").await;
    // Only the name is stored of the person who had it forgotten.
    stage.answer_in(HERE, "forget that").await;
    stage.answer_in(HERE, "kelly, remember: the giraffe eats on Thursdays").await;
    invoke(team, HERE, "backlog", sub_command("add", &[("what", "Ask Kelly about the budget")])).await;
    invoke(team, HERE, "remind", sub_command("new", &[("what", "to feed the walrus"), ("when", "in 3 days")])).await;
    stage.private_answer_to("what about the penguin?").await;
    stage.private_answer_to("remember: the ocelot sleeps in the office").await;
    let dropped = team.drop_file(HERE, "plan.md", b"# Plan\n\nThe badger moves in on Friday.\n".to_vec(), "here is our plan").await;
    let react = format!("/channels/{}/messages/{dropped}/reactions/%F0%9F%91%8D/@me", team.channel(HERE));
    team.call(Method::PUT, &react, None).await;
    team.say_as(BOB, HERE, "kelly, remember: the llama eats on Mondays").await;
    team.settle().await;
    let store = Store::open_shared(&team.config.database_url, stage.clock.now()).await.unwrap();
    eventually("all of it is stored", || async {
        let all = dump(&store).await;
        ANN_SAID.iter().chain(&["llama"]).all(|word| all.contains(word)) && all.contains("👍")
    })
    .await;
    store
}

async fn dump(store: &Store) -> String {
    let mut all = String::new();
    let take = |row: &Value| {
        all.push_str(&row.to_string());
        all.push('\n');
        Ok(())
    };
    personal::export_all(store, take).await.unwrap();
    all
}

async fn forget(stage: &Stage, store: &Store) -> personal::Forgotten {
    let config = &stage.team.config;
    let ann = people(config, store).directory().await.unwrap().find("Ann").unwrap();
    personal::forget_person(store, (config, &built_in_roster()), &ann, stage.clock.now()).await.unwrap()
}

async fn a_copy_has_what_a_person_said_alone_and_who_is_forgotten_leaves_no_trace(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    let store = speak(&stage).await;
    let copy = personal::export_person(&store, &stage.team.person_id(0)).await.unwrap();
    let all = copy.to_string();
    for word in ANN_SAID {
        assert!(all.contains(word), "{word} is missing");
    }
    assert!(!all.contains("llama"), "Bob said that");
    for table in ["inbox", "people", "memories", "reminders", "files", "annotations", "turns", "work_items", "outbox"] {
        assert!(copy["tables"][table].as_array().is_some_and(|rows| !rows.is_empty()), "{table}: {}", copy["tables"][table]);
    }
    assert_eq!(copy["tables"]["inbox"][0]["message"]["author"]["name"], "Ann", "documents are readable");

    assert!(forget(&stage, &store).await.rewritten > 0);

    let left = dump(&store).await;
    let id = stage.team.person_id(0);
    for trace in ANN_SAID.iter().copied().chain([id.as_str(), "\"Ann\"", "👍"]) {
        let rows: Vec<&str> = left.lines().filter(|row| row.contains(trace)).collect();
        assert!(rows.is_empty(), "{trace} is still there: {rows:#?}");
    }
    assert!(left.contains("llama") && left.contains("\"Bob\""));
    let nobody = personal::export_person(&store, &id).await.unwrap();
    assert_eq!(nobody["tables"], json!({}));

    // The team goes on, with Ann as somebody new.
    let answer = stage.answer_in(HERE, "kelly, what eats on Mondays?").await;
    assert!(answer.text.contains("llama"), "{}", answer.text);
    let reminders = text(&invoke(&stage.team, HERE, "remind", sub_command("list", &[])).await).to_owned();
    assert!(!reminders.contains("walrus"), "{reminders}");
    store.close().await;
}

async fn a_removal_that_was_cut_off_is_finished_by_the_next(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    let store = speak(&stage).await;
    let person = stage.team.person_id(0);
    let erasure = Erasure { private: store.list_private_channels_of(&person).await.unwrap(), person, at: stage.clock.now() };
    FEATURES[0].forget_person(&store, &erasure).await.unwrap();
    forget(&stage, &store).await;
    let left = dump(&store).await;
    assert!(!left.contains(erasure.person.as_str()) && ANN_SAID.iter().all(|word| !left.contains(word)));
    store.close().await;
}
