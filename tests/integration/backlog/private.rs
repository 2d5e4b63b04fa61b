//! What was asked for in a direct conversation is told, listed and shown there, and nowhere else.

use reqwest::Method;
use serde_json::{Value as Json, json};
use teamroom::features::backlog::model::{Execution, Owner, Wait, WorkItem, WorkStatus};

use super::part::{MORE, Part, Play};
use super::stage::{HERE, Setting, Stage};
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(a_private_item_with_its_file_is_told_in_the_conversation_alone);

/// A word that stands only in the items.
const SECRET: &str = "severance";

/// The channel of the conversation of the first person with a persona.
pub(super) async fn find_conversation(stage: &Stage, slug: &str) -> String {
    let with = json!({ "recipient_id": stage.team.account(slug) });
    stage.team.call(Method::POST, "/users/@me/channels", Some(with)).await["id"].as_str().unwrap().to_owned()
}

async fn conversation(stage: &Stage, slug: &str) -> Vec<Json> {
    let channel = find_conversation(stage, slug).await;
    stage.team.call(Method::GET, &format!("/channels/{channel}/messages"), None).await.as_array().cloned().unwrap_or_default()
}

pub(super) async fn hears_in_private(stage: &Stage, slug: &str, text: &str) -> Json {
    let find =
        async || conversation(stage, slug).await.into_iter().find(|said| said["content"].as_str().is_some_and(|said| said.contains(text)));
    eventually(text, || async { find().await.is_some() }).await;
    find().await.expect("it is there")
}

async fn a_private_item_with_its_file_is_told_in_the_conversation_alone(backing: Backing) {
    let setting = Setting::on(backing).with_model().configure(|config| config.chat.direct_messages = true);
    let stage = setting.open().await;
    let letter = Script::say(format!("# Letter\n\nDear Dora, here is your {SECRET} package.{MORE}\n"));
    Play::of(vec![Part::new(SECRET, vec![letter])]).perform(&stage.team.model);
    let private = |item: WorkItem| WorkItem { channel: None, private_to: Some("discord:4711".into()), ..item };
    let written = private(stage.item(&format!("Write the letter on the {SECRET} of Dora"), "", Execution::Write));
    let you = Owner::Person { id: stage.team.person_id(0), name: stage.team.sandbox().people()[0].name.clone() };
    let told = private(WorkItem { owner: you, ..stage.item(&format!("Sign the {SECRET} papers"), "", Execution::Remind { whom: None }) });
    stage.put(&[&written, &told]).await;
    stage.comes_to(&written.id, WorkStatus::Done).await;
    stage.until(&told.id, "asked", |item| matches!(item.wait, Some(Wait::Answer { .. }))).await;

    let done = hears_in_private(&stage, "eliza", "✔ Eliza: Write the letter").await;
    assert_eq!(done["attachments"].as_array().map(Vec::len), Some(1), "with its file: {done}");
    let reminder = hears_in_private(&stage, "kelly", "Reminder for").await;
    assert!(reminder["content"].as_str().unwrap().contains(SECRET));

    // Nobody else hears of them, whatever they ask.
    for answer in [
        stage.backlog("list", &[("status", "all")]).await,
        stage.backlog("list", &[]).await,
        stage.backlog("show", &[("id", written.short_id())]).await,
        stage.backlog("files", &[("id", written.short_id())]).await,
        stage.backlog("cancel", &[("id", told.short_id())]).await,
        stage.backlog("add", &[("what", "Ask somebody"), ("parent", told.short_id())]).await,
    ] {
        assert!(!answer.contains(SECRET), "{answer}");
    }
    let missing = stage.backlog("files", &[("id", written.short_id())]).await;
    assert!(missing.contains(&format!("There is no item #{}", written.short_id())), "{missing}");
    let said = stage.team.answers(HERE).await;
    assert!(said.iter().all(|shown| !shown.raw.to_string().contains(SECRET)), "{said:#?}");
    let again = stage.backlog("add", &[("what", &format!("Sign the {SECRET} papers"))]).await;
    assert!(again.contains("added for") && !again.contains("looks like"), "a repetition is not told of: {again}");
}
