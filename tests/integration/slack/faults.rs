//! What goes wrong with Slack.

use std::collections::HashSet;
use std::time::Duration;

use kernel::time::{Clock as _, SystemClock};
use slack_sandbox::{ApiFault, ChannelConfig, Cut, DisconnectReason, Switch};
use teamroom::store::Store;

use crate::platforms::slack::{SlackTeam, TEAM};
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    every_message_is_answered_once_whatever_comes_twice,
    every_post_is_there_once_whatever_answer_is_lost,
    a_message_that_slack_refuses_goes_out_as_plain_text_or_as_a_file,
    what_waits_for_a_scope_follows_once_it_is_there,
    that_names_cannot_be_used_is_told_once,
);

fn api(method: &str, times: u32, with: ApiFault) -> Switch {
    Switch::Api { app: None, method: method.to_owned(), times, with }
}

async fn every_message_is_answered_once_whatever_comes_twice(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.model.on(|_| Script::say("Yes."));
    let personas = ["vince", "eliza", "echo", "oracle", "solus", "sentinel", "kelly"];
    team.misbehave(Switch::Duplicate { app: None, times: 4 });
    team.misbehave(Switch::LoseAcknowledgements { app: None, times: 2 });
    for (number, persona) in personas.iter().enumerate() {
        team.say("general", &format!("{persona}, is this number {number}?"));
        match number {
            2 => team.misbehave(Switch::Disconnect { app: None, reason: DisconnectReason::RefreshRequested }),
            4 => team.misbehave(Switch::Drop { app: None, how: Cut::Reset }),
            _ => {}
        }
    }
    eventually("all have answered", || async { team.said("general").len() >= personas.len() }).await;
    team.settle().await;
    let said = team.said("general");
    let authors: HashSet<&str> = said.iter().map(|said| said.by.as_str()).collect();
    assert_eq!((said.len(), authors.len()), (personas.len(), personas.len()), "{said:#?}");
    team.stop().await;
}

async fn every_post_is_there_once_whatever_answer_is_lost(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.model.on(|_| Script::say("Yes."));
    let faults =
        [ApiFault::ResetAfter, ApiFault::ResetBefore, ApiFault::Status(503), ApiFault::Html, ApiFault::Error("internal_error".to_owned())];
    for (number, fault) in faults.into_iter().enumerate() {
        team.misbehave(api("chat.postMessage", 1, fault.clone()));
        team.say("general", &format!("vince, is this number {number}?"));
        eventually(&format!("it is posted in spite of {fault:?}"), || async { team.said("general").len() > number }).await;
        team.settle().await;
        assert_eq!(team.said("general").len(), number + 1, "{fault:?}: {:#?}", team.said("general"));
    }
    team.misbehave(api("chat.postMessage", 1, ApiFault::RateLimited(1)));
    team.say("general", "vince, and at last?");
    eventually("it is posted after its wait", || async { team.said("general").len() == 6 }).await;
    team.stop().await;
}

async fn a_message_that_slack_refuses_goes_out_as_plain_text_or_as_a_file(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.model.on(|_| Script::say("#### Harbour\nIt **silts** up."));
    let codes = ["msg_blocks_too_long", "invalid_blocks", "invalid_blocks_format", "msg_too_long", "invalid_attachments"];
    for (number, code) in codes.into_iter().enumerate() {
        team.misbehave(api("chat.postMessage", 1, ApiFault::Blocks(code.to_owned())));
        team.say("general", &format!("vince, how is harbour {number}?"));
        eventually(&format!("it is posted in spite of {code}"), || async { team.said("general").len() > number }).await;
        let said = team.said("general").pop().unwrap();
        assert!(said.raw["text"].as_str().unwrap().starts_with("*Harbour*\nIt *silts* up."), "{code}: {said:#?}");
        team.settle().await;
    }
    // Plain text is refused too, so that only the file is left.
    team.misbehave(api("chat.postMessage", 2, ApiFault::Error("msg_too_long".to_owned())));
    team.say("general", "vince, and the last harbour?");
    eventually("it is posted as a file", || async { team.said("general").len() > codes.len() }).await;
    let said = team.said("general").pop().unwrap();
    let text = said.raw["text"].as_str().unwrap();
    assert!(text.contains("All of it is in the file.") && text.contains("|message.md>"), "{text}");
    team.settle().await;
    assert_eq!(team.said("general").len(), codes.len() + 1);
    assert!(team.said("ops").is_empty(), "nothing was given up: {:#?}", team.said("ops"));
    team.stop().await;
}

async fn what_waits_for_a_scope_follows_once_it_is_there(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.model.on(|_| Script::say("Yes."));
    let lost = |on| Switch::DropScope { app: TEAM.to_owned(), scope: "chat:write".to_owned(), on };
    team.misbehave(lost(true));
    team.say("general", "vince, are you there?");
    let store = Store::open_shared(&team.config.database_url, SystemClock.now()).await.unwrap();
    eventually("it is held", || async { store.list_held(10).await.unwrap().1 >= 1 }).await;
    assert!(team.said("general").is_empty());
    team.misbehave(lost(false));
    // After somebody has invited the app to a channel, the team tries the held messages again.
    let more = team.workspace.add_channel(&ChannelConfig::new("more"));
    team.ann().invite(&more, &team.workspace.app(TEAM).user);
    team.hears("general", |said| said.by == "Vince" && said.text == "Yes.").await;
    store.close().await;
    team.settle().await;
    assert_eq!(team.said("general").iter().filter(|said| said.by == "Vince").count(), 1);
    team.stop().await;
}

async fn that_names_cannot_be_used_is_told_once(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.model.on(|_| Script::say("Yes."));
    team.misbehave(Switch::DropScope { app: TEAM.to_owned(), scope: "chat:write.customize".to_owned(), on: true });
    team.say("general", "vince, are you there?");
    let told = team.hears("ops", |said| said.text.contains("chat:write.customize")).await;
    assert!(told.text.contains("without an app of their own"), "{told:#?}");
    team.say("general", "vince, still there?");
    eventually("both are answered", || async { team.said("general").len() == 2 }).await;
    team.settle().await;
    assert_eq!(team.said("ops").len(), 1);
    team.stop().await;
}

#[tokio::test]
async fn a_token_that_is_taken_away_is_told_and_what_waited_follows() {
    let team = SlackTeam::start(Backing::Sqlite).await;
    team.model.on(|_| Script::say("Yes."));
    team.misbehave(api("chat.postMessage", 1, ApiFault::Error("token_revoked".to_owned())));
    team.say("general", "vince, are you there?");
    let told = team.hears("ops", |said| said.text.contains("does not accept the bot token")).await;
    assert!(told.text.contains("token_revoked") && told.text.contains("Kelly's app"), "{told:#?}");
    team.hears("general", |said| said.text == "Yes.").await;
    team.settle().await;
    assert_eq!((team.said("general").len(), team.said("ops").len()), (1, 1));
    team.stop().await;
}

#[tokio::test]
async fn a_connection_that_cannot_be_replaced_at_once_is_nobodys_trouble_while_another_is_open() {
    let team = SlackTeam::start(Backing::Sqlite).await;
    team.model.on(|_| Script::say("Yes."));
    eventually("there are two", || async { team.workspace.connections(TEAM) >= 2 }).await;
    team.misbehave(api("apps.connections.open", 1, ApiFault::Status(503)));
    team.misbehave(Switch::Disconnect { app: None, reason: DisconnectReason::Warning });
    team.say("general", "vince, are you there?");
    team.hears("general", |said| said.text == "Yes.").await;
    eventually("there are two again", || async { team.workspace.connections(TEAM) >= 2 }).await;
    let status = team.run("general", "/team status").await;
    assert!(!status.contains("cannot connect"), "{status}");
    team.settle().await;
    assert!(team.said("ops").is_empty(), "{:#?}", team.said("ops"));
    team.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_whose_person_is_looked_up_slowly_does_not_hold_up_the_others() {
    let team = SlackTeam::start(Backing::Sqlite).await;
    team.model.on(|_| Script::say("Yes."));
    team.misbehave(api("users.info", 1, ApiFault::Hang));
    team.say("general", "vince, are you there?");
    team.say("general", "vince, really?");
    eventually("it is looked up", || async { team.workspace.unacknowledged(TEAM) == 0 }).await;
    team.person("Bob").say(&team.channel("ops"), "vince, and here?").unwrap();
    team.hears("ops", |said| said.text == "Yes.").await;
    assert!(team.said("general").is_empty(), "{:#?}", team.said("general"));
    team.stop().await;
}

#[tokio::test]
async fn a_connection_that_is_about_to_end_is_replaced_first() {
    let team = SlackTeam::start(Backing::Sqlite).await;
    team.model.on(|_| Script::say("Yes."));
    for number in 0..4 {
        team.misbehave(Switch::Disconnect { app: None, reason: DisconnectReason::Warning });
        team.say("general", &format!("vince, is this number {number}?"));
        eventually("it is answered", || async { team.said("general").len() > number }).await;
        eventually("there are two again", || async { team.workspace.connections(TEAM) >= 2 }).await;
    }
    team.settle().await;
    assert_eq!(team.said("general").len(), 4);
    team.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_falls_silent_is_replaced() {
    let team = SlackTeam::start(Backing::Sqlite).await;
    team.model.on(|_| Script::say("Yes."));
    team.misbehave(Switch::WithholdHello { app: None, times: 1 });
    team.misbehave(Switch::Drop { app: None, how: Cut::WithoutCloseFrame });
    team.say("general", "vince, are you there?");
    eventually("it is answered", || async { team.said("general").len() == 1 }).await;
    tokio::time::timeout(Duration::from_mins(1), team.settle()).await.unwrap();
    team.stop().await;
}
