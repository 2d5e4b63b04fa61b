//! Buttons from click to answer, on messages of every account and age.

use kernel::chat::outbound::{Button, ButtonStyle, OutboundMessage};
use kernel::chat::{ChatPlatform, PlatformEvent};
use kernel::commands::{Caller, CommandReply};
use sandbox::Exchange;
use serde_json::{Value, json};

use super::stage::{Setting, Stage, connect, hurried, row, until};

const EPHEMERAL: u64 = 64;

async fn stage() -> Stage {
    let mut setting = Setting::new();
    setting.mute = vec!["vince"];
    let mut stage = setting.open().await;
    stage.all_ready().await;
    stage
}

fn question(persona: &str, channel: &str) -> OutboundMessage {
    let button = |id: &str, label: &str, style| Button { id: id.to_owned(), label: label.to_owned(), style };
    OutboundMessage {
        buttons: vec![button("work:7:approve", "Approve", ButtonStyle::Success), button("work:7:reject", "Reject", ButtonStyle::Danger)],
        ..row(persona, channel, "shall we?")
    }
}

/// The person clicks a button of `message`, which belongs to the application of `account`.
async fn press(stage: &Stage, account: &str, message: &str, button: &str) {
    let body = json!({ "type": 3, "application_id": stage.bot_id(account), "guild_id": stage.sandbox.guild_id(),
        "channel_id": stage.channel("general"), "message_id": message, "session_id": "s", "nonce": "1",
        "data": { "component_type": 2, "custom_id": button } });
    stage.person("POST", "/interactions", body).await;
}

/// Waits for a message newer than `below`.
async fn answer(stage: &Stage, below: &str) -> Value {
    for _ in 0..3000 {
        let newest = stage.history(&stage.channel("general")).await.remove(0);
        if newest["id"] != below {
            return newest;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("no answer came");
}

fn acknowledgements(stage: &Stage) -> Vec<Value> {
    let of = |exchange| match exchange {
        Exchange::Rest(rest) if rest.path.ends_with("/callback") => Some(rest.request["type"].clone()),
        _ => None,
    };
    stage.sandbox.journal().into_iter().filter_map(of).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_press_reaches_its_handler_whoever_posted_the_button_and_is_answered_to_the_presser_alone() {
    let stage = stage().await;
    let general = stage.channel("general");
    *stage.memory.reply.lock().unwrap() = Some(CommandReply::private("Noted, <@7>."));
    // Vince has no account: the coordinator's application owns the webhook he posts through.
    for (persona, account) in [("kelly", "kelly"), ("echo", "echo"), ("vince", "kelly")] {
        let posted = stage.discord.send(&question(persona, &general)).await.unwrap();
        press(&stage, account, posted.message.bare(), "work:7:approve").await;
        let said = answer(&stage, posted.message.bare()).await;
        assert_eq!((&said["content"], said["flags"].as_u64()), (&json!("Noted, <@7>."), Some(EPHEMERAL)), "{persona}");
        assert_eq!(said["message_reference"]["message_id"], posted.message.bare());
        let question = &stage.history(&general).await[1];
        assert_eq!(question["components"][0]["components"].as_array().unwrap().len(), 2, "the question stands as it was");
    }
    let calls = stage.memory.calls.lock().unwrap().clone();
    let person = &stage.sandbox.people()[0];
    assert_eq!(calls.len(), 3);
    for call in calls {
        assert_eq!((call.name.as_str(), call.channel.map(|channel| channel.name)), ("work:7:approve", Some("general".to_owned())));
        assert!(matches!(call.caller, Caller::Person { id, .. } if id.bare() == person.id));
    }
    assert_eq!(acknowledgements(&stage), [json!(6), json!(6), json!(6)]);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decided_question_loses_its_buttons_and_everybody_hears() {
    let stage = stage().await;
    let general = stage.channel("general");
    *stage.memory.reply.lock().unwrap() = Some(CommandReply::public("Approved.").retiring_buttons());
    for (persona, account) in [("echo", "echo"), ("vince", "kelly")] {
        let posted = stage.discord.send(&question(persona, &general)).await.unwrap();
        press(&stage, account, posted.message.bare(), "work:7:approve").await;
        let said = answer(&stage, posted.message.bare()).await;
        assert_eq!((&said["content"], said["flags"].as_u64()), (&json!("Approved."), Some(0)));
        let question = &stage.history(&general).await[1];
        assert_eq!((&question["components"], &question["content"]), (&json!([]), &json!("shall we?")), "{persona}");
    }
    // Two questions with an acknowledgement, an edit and an answer each, plus the person's requests.
    if let Some(checked) = crate::support::requests::check_requests(&stage.sandbox.journal()) {
        assert!(checked >= 8, "only {checked} requests were checked");
    }
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_button_of_an_earlier_run_still_works() {
    let stage = stage().await;
    let general = stage.channel("general");
    let posted = stage.discord.send(&question("echo", &general)).await.unwrap();
    stage.discord.close().await;
    let (again, mut events) = connect(stage.settings.clone(), hurried(), &stage.memory).await;
    events.next(|event| matches!(event, PlatformEvent::Ready { persona, .. } if persona.as_str() == "echo")).await;
    press(&stage, "echo", posted.message.bare(), "work:7:reject").await;
    until(|| !stage.memory.calls.lock().unwrap().is_empty(), || "the press was not heard".to_owned()).await;
    assert_eq!(stage.memory.calls.lock().unwrap()[0].name, "work:7:reject");
    again.unwrap().close().await;
}
