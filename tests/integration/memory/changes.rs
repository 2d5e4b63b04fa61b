//! What becomes of a fact when the message that taught it is edited or deleted, also while nobody was connected.

use reqwest::Method;
use serde_json::json;

use super::stage::{HERE, Stage, id_in};
use crate::support::database::count;
use crate::support::team::{Backing, eventually, on_both_stores, on_one_store};

on_both_stores!(a_message_deleted_while_nobody_was_connected_does_too, an_edit_while_nobody_was_connected_counts_too,);
on_one_store!(a_deleted_message_takes_its_fact_along, an_edited_message_teaches_what_it_says_now);

async fn holds(stage: &Stage, text: &str) -> i64 {
    count(&stage.team, &format!("SELECT COUNT(*) FROM memories WHERE text LIKE '%{text}%' OR words LIKE '%{text}%'")).await
}

/// Teaches a fact. The ids of the message and of the fact.
async fn teach(stage: &Stage, text: &str) -> (String, String) {
    let before = stage.team.answers(HERE).await.len();
    let message = stage.team.say(HERE, text).await;
    eventually("it is remembered", || async { stage.team.answers(HERE).await.len() > before }).await;
    stage.team.settle().await;
    let answer = stage.team.answers(HERE).await.remove(before).text;
    (message, id_in(&answer))
}

async fn edit(stage: &Stage, message: &str, text: &str) {
    let path = format!("/channels/{}/messages/{message}", stage.team.channel(HERE));
    stage.team.call(Method::PATCH, &path, Some(json!({ "content": text }))).await;
}

async fn a_deleted_message_takes_its_fact_along(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    let (message, id) = teach(&stage, "remember: the vault code is zq4711").await;
    teach(&stage, "remember: we deploy on Thursdays").await;
    stage.team.delete(HERE, &message).await;
    eventually("it is forgotten", || async { holds(&stage, "zq4711").await == 0 }).await;
    assert_eq!(holds(&stage, "Thursdays").await, 1);
    assert!(stage.command("show", &[("id", &id)]).await.ends_with("by the deletion of its message."));
    assert!(!stage.answer_to("what is the vault code?").await.contains("zq4711"));
}

async fn a_message_deleted_while_nobody_was_connected_does_too(backing: Backing) {
    let mut stage = Stage::start(backing, None).await;
    let (message, _) = teach(&stage, "remember: the vault code is zq4711").await;
    stage.team.stop_app().await;
    stage.team.call(Method::DELETE, &format!("/channels/{}/messages/{message}", stage.team.channel(HERE)), None).await;
    stage.team.start_app().await;
    eventually("it is forgotten", || async { holds(&stage, "zq4711").await == 0 }).await;
}

async fn an_edited_message_teaches_what_it_says_now(backing: Backing) {
    let stage = Stage::start(backing, None).await;
    let (message, old) = teach(&stage, "remember: we deploy on Thursdays").await;
    edit(&stage, &message, "remember: we deploy on Fridays").await;
    let told = || async { stage.team.answers(HERE).await.into_iter().map(|answer| answer.text).collect::<Vec<_>>() };
    eventually("the new one is confirmed", || async { told().await.len() == 2 }).await;
    stage.team.settle().await;
    let answers = told().await;
    assert_eq!(answers.len(), 2, "each identity hears the edit, and it counts once: {answers:?}");
    let new = id_in(&answers[1]);
    assert!(answers[1].starts_with("I'll remember that for the whole team (`") && new != old, "{answers:?}");
    assert_eq!((holds(&stage, "Thursdays").await, holds(&stage, "Fridays").await), (0, 1));
    // A change of punctuation changes nothing.
    edit(&stage, &message, "remember: we deploy on Fridays!").await;
    edit(&stage, &message, "we deploy on Fridays, I think").await;
    eventually("it is taken back", || async { told().await.len() == 3 }).await;
    assert_eq!(told().await[2], "I've forgotten that, as your message doesn't ask me to remember it any more.");
    assert_eq!(holds(&stage, "Fridays").await, 0);
}

async fn an_edit_while_nobody_was_connected_counts_too(backing: Backing) {
    let mut stage = Stage::start(backing, None).await;
    let (message, _) = teach(&stage, "remember: we deploy on Thursdays").await;
    stage.team.stop_app().await;
    edit(&stage, &message, "remember: we deploy on Fridays").await;
    stage.team.start_app().await;
    eventually("the new one is known", || async { holds(&stage, "Fridays").await == 1 }).await;
    assert_eq!(holds(&stage, "Thursdays").await, 0);
}
