//! Slash commands from input to answer.

use std::time::Duration;

use kernel::chat::IdentityState;
use kernel::chat::message::{Channel, Place, SERVER_MANAGER};
use kernel::commands::{Caller, CommandReply, Right, Services, Surface};
use sandbox::{Exchange, RestExchange, RestFault, Switch};
use serde_json::{Value, json};

use super::stage::{Setting, Stage, connect, hurried, ours, until};

fn rest(stage: &Stage, wanted: impl Fn(&RestExchange) -> bool) -> Vec<RestExchange> {
    let rest = stage.sandbox.journal().into_iter().filter_map(|exchange| match exchange {
        Exchange::Rest(rest) => Some(rest),
        Exchange::Frame(_) => None,
    });
    rest.filter(wanted).collect()
}

fn registrations(stage: &Stage) -> Vec<RestExchange> {
    rest(stage, |exchange| exchange.method == "PUT" && exchange.path.ends_with("/commands"))
}

/// A team whose commands are registered.
async fn with_commands(setting: Setting) -> Stage {
    let mut stage = setting.open().await;
    stage.all_ready().await;
    until(|| !stage.memory.registered.lock().unwrap().is_empty(), || "no commands were registered".to_owned()).await;
    stage
}

/// The person uses a command, or types one.
async fn interact(stage: &Stage, channel: &str, kind: u64, name: &str, options: Value) {
    let body = json!({ "type": kind, "application_id": stage.bot_id("kelly"), "guild_id": stage.sandbox.guild_id(),
        "channel_id": channel, "session_id": "s", "nonce": "1", "data": { "name": name, "type": 1, "options": options } });
    stage.person("POST", "/interactions", body).await;
}

/// The newest message of a channel once it has text.
async fn answer(stage: &Stage, channel: &str) -> Value {
    for _ in 0..3000 {
        if let Some(message) = stage.history(channel).await.first()
            && message["content"].as_str().is_some_and(|text| !text.is_empty())
        {
            return message.clone();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no answer came");
}

#[tokio::test(flavor = "multi_thread")]
async fn each_command_reaches_its_handler_and_is_answered() {
    let stage = with_commands(Setting::new()).await;
    let general = stage.channel("general");
    let option = |name: &str, value: &str| json!({ "name": name, "type": 3, "value": value });
    let sub = |name: &str, options: Value| json!([{ "name": name, "type": 1, "options": options }]);
    let vince = || json!([option("persona", "Vince")]);
    let cases = [
        ("ask", json!([option("persona", "Vince"), option("question", "up or down?")]), "ask Vince up or down?", false),
        ("team", sub("list", json!([])), "team list", true),
        ("team", sub("show", vince()), "team show Vince", true),
        ("team", sub("pause", vince()), "team pause Vince", true),
        ("status", json!([]), "status", true),
        ("halt", json!([]), "halt", false),
        ("costs", json!([]), "costs", true),
        ("costs", json!([{ "name": "raise", "type": 10, "value": 2.5 }]), "costs", false),
        ("help", json!([]), "help", true),
    ];
    for (name, options, command, ephemeral) in cases {
        interact(&stage, &general, 2, name, options).await;
        let answered = answer(&stage, &general).await;
        assert_eq!(answered["content"], command, "{name}");
        assert_eq!(answered["flags"].as_u64().unwrap() & 64 != 0, ephemeral, "{name}");
        assert_eq!(answered["author"]["id"], stage.bot_id("kelly"));
        let path = format!("/channels/{general}/messages/{}", answered["id"].as_str().unwrap());
        stage.person("DELETE", &path, Value::Null).await;
    }
    let first = stage.memory.calls.lock().unwrap()[0].clone();
    let person = &stage.sandbox.people()[0];
    assert_eq!(first.caller, Caller::Person { id: ours(&person.id), name: person.name.clone(), roles: vec![SERVER_MANAGER.to_owned()] });
    assert_eq!(first.channel.map(|channel| (channel.name, channel.place)), Some(("general".to_owned(), Place::Server)));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_personas_are_completed() {
    let stage = with_commands(Setting::new()).await;
    let general = stage.channel("general");
    let typed = json!([{ "name": "persona", "type": 3, "value": "e", "focused": true }]);
    interact(&stage, &general, 4, "ask", typed).await;
    let callback = |exchange: &RestExchange| exchange.path.ends_with("/callback") && exchange.request["type"] == 8;
    until(|| !rest(&stage, callback).is_empty(), || "nothing was completed".to_owned()).await;
    let choices = rest(&stage, callback)[0].request["data"]["choices"].clone();
    assert_eq!(choices, json!([{ "name": "Echo", "value": "Echo" }, { "name": "Eliza", "value": "Eliza" }]));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_jobs_are_completed() {
    let stage = with_commands(Setting::new()).await;
    let general = stage.channel("general");
    let typed = json!([{ "name": "name", "type": 3, "value": "st", "focused": true }]);
    interact(&stage, &general, 4, "schedule", json!([{ "name": "pause", "type": 1, "options": typed }])).await;
    let callback = |exchange: &RestExchange| exchange.path.ends_with("/callback") && exchange.request["type"] == 8;
    until(|| !rest(&stage, callback).is_empty(), || "nothing was completed".to_owned()).await;
    assert_eq!(rest(&stage, callback)[0].request["data"]["choices"], json!([{ "name": "standup", "value": "standup" }]));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_comes_in_pieces_and_pings_nobody() {
    let stage = with_commands(Setting::new()).await;
    let general = stage.channel("general");
    let person = stage.sandbox.people()[0].id.clone();
    let text = format!("<@{person}> @everyone\n").repeat(150);
    let reply = CommandReply::public(text.clone());
    *stage.memory.reply.lock().unwrap() = Some(reply);
    interact(&stage, &general, 2, "halt", json!([])).await;
    let mut posted = vec![];
    for _ in 0..3000 {
        posted = stage.history(&general).await;
        if posted.len() == 3 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let texts: Vec<_> = posted.iter().rev().map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(texts.join("\n"), text.trim());
    for message in &posted {
        assert_eq!(stage.sandbox.pings(message["id"].as_str().unwrap()), Some(vec![]));
    }
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_comes_too_late_for_the_interaction_is_said_in_the_channel() {
    let mut setting = Setting::new();
    setting.timing.interaction = Duration::ZERO;
    let stage = with_commands(setting).await;
    let general = stage.channel("general");
    interact(&stage, &general, 2, "halt", json!([])).await;
    let said = answer(&stage, &general).await;
    assert_eq!(said["content"], "halt");
    assert!(rest(&stage, |exchange| exchange.path.contains("/webhooks/")).is_empty());
    // A private answer is not posted publicly.
    interact(&stage, &general, 2, "status", json!([])).await;
    until(|| stage.memory.calls.lock().unwrap().len() == 2, || "the command was not run".to_owned()).await;
    let direct = stage.direct("kelly").await;
    assert_eq!(answer(&stage, &direct).await["content"], "status");
    assert!(!stage.history(&general).await.iter().any(|message| message["content"] == "status"));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_passes_the_filter_for_secrets_and_a_long_one_is_a_file() {
    let stage = with_commands(Setting::new()).await;
    let general = stage.channel("general");
    let secret = "the key is correct-horse-battery";
    *stage.memory.reply.lock().unwrap() = Some(CommandReply::public(format!("Added: {secret}")));
    interact(&stage, &general, 2, "halt", json!([])).await;
    let said = answer(&stage, &general).await["content"].clone();
    println!("{said}");
    assert!(said.as_str().unwrap().starts_with("Added: the key is ") && !said.as_str().unwrap().contains("horse"), "{said}");

    *stage.memory.reply.lock().unwrap() = Some(CommandReply::public(format!("{secret}\n").repeat(300)));
    interact(&stage, &general, 2, "halt", json!([])).await;
    let with_file = async || stage.history(&general).await.into_iter().find(|message| message["attachments"][0].is_object());
    let mut found = None;
    for _ in 0..3000 {
        found = with_file().await;
        if found.is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let found = found.expect("a file");
    assert!(found["content"].as_str().unwrap().ends_with('…'), "{found}");
    let file = reqwest::get(found["attachments"][0]["url"].as_str().unwrap()).await.unwrap().text().await.unwrap();
    assert!(file.lines().count() >= 300 && !file.contains("horse"), "{file}");
    assert_eq!(stage.history(&general).await.len(), 2, "one message, not many pieces");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_posted_though_the_interaction_is_gone() {
    let stage = with_commands(Setting::new()).await;
    let general = stage.channel("general");
    let with = RestFault::Status(404);
    stage.misbehave(Switch::Rest { bot: None, method: Some("PATCH".to_owned()), path: "/webhooks".to_owned(), times: 1, with });
    interact(&stage, &general, 2, "halt", json!([])).await;
    until(|| !stage.memory.calls.lock().unwrap().is_empty(), || "the command was not run".to_owned()).await;
    assert_eq!(answer(&stage, &general).await["content"], "halt");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_which_discord_tells_nothing_is_there_once() {
    let stage = with_commands(Setting::new()).await;
    let general = stage.channel("general");
    let with = RestFault::ResetAfter;
    stage.misbehave(Switch::Rest { bot: None, method: Some("PATCH".to_owned()), path: "/webhooks".to_owned(), times: 2, with });
    interact(&stage, &general, 2, "halt", json!([])).await;
    let edits = || rest(&stage, |exchange| exchange.method == "PATCH" && exchange.path.ends_with("/@original"));
    until(|| edits().len() == 3, || format!("{} edits", edits().len())).await;
    assert_eq!(answer(&stage, &general).await["content"], "halt");
    assert_eq!(stage.history(&general).await.len(), 1);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_halt_is_carried_out_though_its_acknowledgement_fails() {
    let stage = with_commands(Setting::new()).await;
    let general = stage.channel("general");
    let callback = Switch::Rest { bot: None, method: None, path: "/interactions/".to_owned(), times: 1, with: RestFault::Status(500) };
    stage.misbehave(callback);
    interact(&stage, &general, 2, "halt", json!([])).await;
    assert_eq!(answer(&stage, &general).await["content"], "halt");
    assert!(rest(&stage, |exchange| exchange.path.ends_with("/callback") && exchange.status < 300).is_empty());
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_from_a_server_that_is_not_allowed_is_turned_away() {
    let mut setting = Setting::new();
    setting.adapt = Box::new(|settings| settings.allowed_guilds = vec!["4242".to_owned()]);
    let stage = with_commands(setting).await;
    let general = stage.channel("general");
    interact(&stage, &general, 2, "halt", json!([])).await;
    let text = answer(&stage, &general).await["content"].clone();
    assert!(text.as_str().unwrap().contains("does not work on this server"), "{text}");
    assert!(stage.memory.calls.lock().unwrap().is_empty());
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unchanged_commands_are_not_registered_again() {
    let stage = with_commands(Setting::new()).await;
    assert_eq!(registrations(&stage).len(), 1);
    assert_eq!(registrations(&stage)[0].path, format!("/api/v10/applications/{}/commands", stage.bot_id("kelly")));
    let names: Vec<_> = registrations(&stage)[0].request.as_array().unwrap().iter().map(|c| c["name"].clone()).collect();
    let everybody = std::sync::Arc::new(|_: Right, _: &Caller, _: &Channel| Ok(()));
    let registry = teamroom::features::registry("discord", &Services::new("nowhere"), everybody);
    let commands: Vec<_> = registry.commands().iter().filter(|spec| spec.surface != Surface::CommandLine).map(|spec| spec.name).collect();
    assert_eq!((names.first(), names.last()), (Some(&json!("ask")), Some(&json!("help"))));
    assert_eq!(names, commands);
    stage.discord.close().await;
    let (again, mut events) = connect(stage.settings.clone(), hurried(), &stage.memory).await;
    let again = again.unwrap();
    for _ in 0..7 {
        events.next(|event| matches!(event, kernel::chat::PlatformEvent::Ready { .. })).await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(registrations(&stage).len(), 1);
    // A different set of commands, like in a later version.
    again.close().await;
    stage.memory.registered.lock().unwrap().values_mut().for_each(|digest| *digest = "older".to_owned());
    let (third, _events) = connect(stage.settings.clone(), hurried(), &stage.memory).await;
    until(|| registrations(&stage).len() == 2, || "the new set was not registered".to_owned()).await;
    third.unwrap().close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_registered_on_one_server_where_the_settings_say_so() {
    let mut setting = Setting::new();
    let sandbox = setting.sandbox().await;
    let server = sandbox.guild_id();
    sandbox.stop().await;
    setting.adapt = Box::new(move |settings| settings.guild = Some(server.clone()));
    let stage = with_commands(setting).await;
    let path = format!("/api/v10/applications/{}/guilds/{}/commands", stage.bot_id("kelly"), stage.sandbox.guild_id());
    assert_eq!(registrations(&stage).iter().map(|exchange| exchange.path.as_str()).collect::<Vec<_>>(), [path]);
    assert_eq!(stage.status("kelly").state, IdentityState::Ready);
    stage.close().await;
}
