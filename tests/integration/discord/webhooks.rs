//! Personas without a token: they speak through the coordinator's webhooks.

use kernel::chat::message::AuthorKind;
use kernel::chat::{ChatPlatform, IdentityState, SendError};
use kernel::time::{Clock, SystemClock};
use sandbox::{Exchange, Switch};
use serde_json::{Value, json};

use super::stage::{Setting, Stage, ours, row};

/// A team in which only the coordinator has a token.
async fn one_token() -> Stage {
    let mut setting = Setting::new();
    setting.mute = vec!["echo", "eliza", "oracle", "sentinel", "solus", "vince"];
    let mut stage = setting.open().await;
    stage.all_ready().await;
    stage
}

/// The number of webhooks created.
fn made(stage: &Stage) -> usize {
    let is_making =
        |exchange: &&Exchange| matches!(exchange, Exchange::Rest(rest) if rest.method == "POST" && rest.path.ends_with("/webhooks"));
    stage.sandbox.journal().iter().filter(is_making).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_of_seven_speaks_with_one_token() {
    let mut stage = one_token().await;
    let general = stage.channel("general");
    assert_eq!((stage.status("vince").state, stage.status("vince").trouble), (IdentityState::Webhook, None));
    for slug in ["vince", "echo"] {
        let posted = stage.discord.send(&row(slug, &general, "@everyone hello")).await.unwrap();
        assert_eq!(stage.sandbox.pings(posted.message.bare()), Some(vec![]));
        let heard = stage.events.message().await;
        assert_eq!((heard.id, heard.author.kind), (posted.message, AuthorKind::Persona(slug.into())));
    }
    let names: Vec<_> = stage.history(&general).await.iter().map(|message| message["author"]["username"].clone()).collect();
    assert_eq!(names, ["Echo", "Vince"]);
    assert_eq!(made(&stage), 1);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_reached_through_the_webhook_of_its_parent() {
    let mut stage = one_token().await;
    let general = stage.channel("general");
    let thread = stage.person("POST", &format!("/channels/{general}/threads"), json!({ "name": "plan", "type": 11 })).await;
    let thread = thread["id"].as_str().unwrap();
    stage.say(thread, "inside").await;
    while stage.events.message().await.text != "inside" {}
    stage.discord.send(&row("vince", thread, "me too")).await.unwrap();
    assert_eq!(stage.history(thread).await[0]["content"], "me too");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_webhook_posted_is_found_by_reading_back() {
    let stage = one_token().await;
    let general = stage.channel("general");
    let since = SystemClock.now();
    let answer = row("vince", &general, "said through a webhook");
    let posted = stage.discord.send(&answer).await.unwrap();
    assert_eq!(stage.discord.find_posted(&answer, since).await.unwrap(), Some(posted));
    assert_eq!(stage.discord.find_posted(&row("echo", &general, "said through a webhook"), since).await.unwrap(), None);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_webhook_is_made_anew_and_one_from_an_earlier_run_is_used_again() {
    let stage = one_token().await;
    let general = stage.channel("general");
    stage.discord.send(&row("vince", &general, "one")).await.unwrap();
    let webhooks = stage.person("GET", &format!("/channels/{general}/webhooks"), Value::Null).await;
    let id = webhooks[0]["id"].as_str().unwrap();
    stage.person("DELETE", &format!("/webhooks/{id}"), Value::Null).await;
    stage.discord.send(&row("vince", &general, "two")).await.unwrap();
    assert_eq!((stage.history(&general).await.len(), made(&stage)), (2, 2));

    stage.discord.close().await;
    let (again, mut events) = super::stage::connect(stage.settings.clone(), super::stage::hurried(), &stage.memory).await;
    let again = again.unwrap();
    events.next(|event| matches!(event, kernel::chat::PlatformEvent::Ready { .. })).await;
    // Messages through the old webhook are recognised as the team's, even before the new run has used a webhook.
    let last = stage.history(&general).await[1]["id"].as_str().unwrap().to_owned();
    let listed = again.list_messages_after(&ours(&general), &ours(&last), 10).await.unwrap();
    assert_eq!(listed[0].author.kind, AuthorKind::Persona("vince".into()));
    again.send(&row("echo", &general, "three")).await.unwrap();
    assert_eq!(made(&stage), 2);
    again.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strangers_webhook_with_a_personas_name_is_a_foreign_bot() {
    let mut stage = one_token().await;
    let general = stage.channel("general");
    let webhook = stage.person("POST", &format!("/channels/{general}/webhooks"), json!({ "name": "Vince" })).await;
    let path = format!("/webhooks/{}/{}", webhook["id"].as_str().unwrap(), webhook["token"].as_str().unwrap());
    stage.person("POST", &path, json!({ "content": "I am Vince", "username": "Vince" })).await;
    assert_eq!(stage.events.message().await.author.kind, AuthorKind::ForeignBot);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_coordinators_token_others_speak_for_the_mute() {
    let mut setting = Setting::new();
    setting.mute = vec!["kelly", "vince"];
    let mut stage = setting.open().await;
    stage.all_ready().await;
    let general = stage.channel("general");
    stage.discord.send(&row("vince", &general, "through a webhook of another")).await.unwrap();
    let said = stage.history(&general).await[0].clone();
    assert_eq!((said["author"]["username"].as_str(), said["webhook_id"].is_string()), (Some("Vince"), true));
    assert_eq!(stage.status("vince").trouble, None);
    stage.close().await;
}

/// Takes a permission in a channel away from a bot.
fn deny(stage: &Stage, bot: &str, channel: &str, permission: &str) {
    let (bot, channel, permission) = (bot.to_owned(), channel.to_owned(), permission.to_owned());
    stage.misbehave(Switch::Deny { bot, channel, permission, on: true });
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_webhook_is_possible_another_persona_says_for_whom_it_speaks() {
    let mut setting = Setting::new();
    setting.mute = vec!["kelly", "vince", "oracle", "sentinel", "solus"];
    let mut stage = setting.open().await;
    stage.all_ready().await;
    let general = stage.channel("general");
    for slug in ["echo", "eliza"] {
        deny(&stage, slug, &general, "MANAGE_WEBHOOKS");
    }
    deny(&stage, "echo", &general, "SEND_MESSAGES");
    let since = SystemClock.now();
    let notice = row("kelly", &general, "the standup begins");
    let posted = stage.discord.send(&notice).await.unwrap();
    let said = stage.history(&general).await[0].clone();
    println!("{}: {}", said["author"]["username"], said["content"]);
    assert_eq!((&said["author"]["id"], &said["content"]), (&json!(stage.bot_id("eliza")), &json!("**For Kelly:** the standup begins")));
    assert_eq!(stage.discord.find_posted(&notice, since).await.unwrap().as_ref(), Some(&posted), "it is found when it is read back");
    stage.discord.edit(&row("kelly", &general, "the standup is over"), &posted.message).await.unwrap();
    assert_eq!(stage.history(&general).await[0]["content"], "**For Kelly:** the standup is over");

    // No persona may post here. That is a missing permission, and the message is not lost.
    deny(&stage, "eliza", &general, "SEND_MESSAGES");
    let denied = stage.discord.send(&row("kelly", &general, "hello?")).await;
    assert_eq!(denied, Err(SendError::Denied { needs: "Send Messages".to_owned() }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_coordinator_without_a_right_is_spoken_for_and_others_do_what_it_may_not() {
    let stage = Stage::ready().await;
    let general = stage.channel("general");
    for permission in ["SEND_MESSAGES", "MANAGE_WEBHOOKS", "CREATE_PUBLIC_THREADS"] {
        deny(&stage, "kelly", &general, permission);
    }
    let posted = stage.discord.send(&row("kelly", &general, "hello")).await.unwrap();
    let said = stage.history(&general).await[0].clone();
    assert_eq!((said["author"]["username"].as_str(), said["webhook_id"].is_string()), (Some("Kelly"), true));
    let thread = stage.discord.open_thread(&ours(&general), &posted.message, "plan").await.unwrap();
    stage.discord.send(&row("echo", thread.bare(), "inside")).await.unwrap();
    stage.close().await;
}
