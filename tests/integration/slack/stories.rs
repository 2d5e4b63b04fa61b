//! What people do on Slack.

use serde_json::json;
use slack_sandbox::Progress;

use super::stage::{SlackTeam, TEAM};
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_both_stores};

on_both_stores!(
    a_named_persona_answers_once_under_its_name,
    a_thread_on_an_answer_goes_on,
    a_file_is_read_and_a_long_answer_comes_as_one,
    a_command_is_answered_and_a_button_works,
    what_is_said_while_the_team_is_away_is_answered_once,
);

async fn a_named_persona_answers_once_under_its_name(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.model.on(|_| Script::say("**Two** of them & more."));
    team.say("general", "vince, how many are there?");
    let said = team.hears("general", |said| !said.text.is_empty()).await;
    team.settle().await;
    assert_eq!(team.said("general").len(), 1, "{:#?}", team.said("general"));
    assert_eq!((said.by.as_str(), said.text.as_str()), ("Vince", "*Two* of them &amp; more."));
    assert!(said.raw["icons"]["emoji"].as_str().is_some_and(|emoji| emoji.contains("circle")), "{}", said.raw);
    assert!(team.model.requests().remove(0).prompt().contains("how many are there?"));
    // A mention of the app is for the coordinator.
    let app = team.workspace.app(TEAM);
    team.say("general", &format!("<@{}> and you?", app.user));
    team.hears("general", |said| said.by == "Kelly" || said.by == "Teamroom").await;
    team.say("general", "<!here> I told my sister about the weekend.");
    team.person("Bob").say(&team.channel("general"), &format!("<@{}> can you review my change?", team.ann().id())).unwrap();
    team.settle().await;
    assert_eq!(team.said("general").len(), 2, "talk among people is left alone: {:#?}", team.said("general"));
    team.stop().await;
}

async fn a_thread_on_an_answer_goes_on(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.model.on(|request| Script::say(if request.prompt().contains("and why?") { "Because of the cache." } else { "It is slow." }));
    team.say("general", "solus, how is the build?");
    let said = team.hears("general", |said| said.text == "It is slow.").await;
    team.ann().reply(&team.channel("general"), said.ts(), "and why?").unwrap();
    let reply = team.hears("general", |said| said.text == "Because of the cache.").await;
    assert_eq!((reply.by.as_str(), &reply.raw["thread_ts"]), ("Solus", &json!(said.ts())));
    team.settle().await;
    // In a direct conversation the app is the coordinator, in its threads too.
    let direct = team.ann().open_direct(&[&team.workspace.app(TEAM).user]);
    let asked = team.ann().say(&direct, "how is the build?").unwrap();
    team.hears(&direct, |said| said.text == "It is slow.").await;
    team.ann().reply(&direct, &asked, "and why?").unwrap();
    let reply = team.hears(&direct, |said| said.text == "Because of the cache.").await;
    assert_eq!(reply.raw["thread_ts"], json!(asked));
    team.settle().await;
    assert_eq!(team.said_in(&direct).len(), 2);
    team.stop().await;
}

async fn a_file_is_read_and_a_long_answer_comes_as_one(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.model.on(|_| Script::say("And so on. ".repeat(900)));
    let plan = "The launch is on the 9th of May.\n".repeat(3);
    team.ann().upload(&team.channel("general"), None, "plan.md", plan.into_bytes(), "vince, summarise it").unwrap();
    let said = team.hears("general", |said| said.text.contains("is in the file")).await;
    assert!(team.model.requests().iter().any(|request| request.prompt().contains("The launch is on the 9th of May.")));
    assert!(said.text.contains("|answer.md>"), "{}", said.text);
    team.settle().await;
    assert_eq!(team.said("general").len(), 1);
    team.stop().await;
}

async fn a_command_is_answered_and_a_button_works(backing: Backing) {
    let team = SlackTeam::start(backing).await;
    team.model.on(|_| Script::say("Fine."));
    let general = team.channel("general");
    let call = team.ann().command(&general, "/team backlog add Sign the contract --owner me").unwrap();
    assert!(matches!(call.ended().await, Progress::Acknowledged(_)), "{:?}", call.progress());
    let reminder = team.hears("general", |said| said.text.contains("Reminder for")).await;
    assert!(reminder.text.contains(&format!("<@{}>", team.ann().id())), "{}", reminder.text);
    let done = || {
        let blocks = reminder.raw["blocks"].as_array().unwrap().iter();
        let mut elements = blocks.filter(|block| block["type"] == "actions").flat_map(|block| block["elements"].as_array().unwrap());
        elements.find(|element| element["text"]["text"] == "Done").unwrap()["action_id"].as_str().unwrap().to_owned()
    };
    team.ann().press(&general, reminder.ts(), &done()).unwrap().ended().await;
    team.hears("general", |said| said.text.starts_with('✔')).await;
    eventually("the question is decided", || async {
        let shown = team.ann().message(&general, reminder.ts()).unwrap();
        !shown["blocks"].to_string().contains("actions")
    })
    .await;
    let help = team.ann().command(&general, "/team nonsense").unwrap();
    help.ended().await;
    let told = || {
        team.ann()
            .messages(&general)
            .into_iter()
            .any(|message| message["text"].as_str().is_some_and(|text| text.contains("There is no command")))
    };
    eventually("what there is is told", || async { told() }).await;
    team.settle().await;
    team.stop().await;
}

async fn what_is_said_while_the_team_is_away_is_answered_once(backing: Backing) {
    let mut team = SlackTeam::start(backing).await;
    team.model.on(|_| Script::say("Here I am."));
    team.say("general", "vince, are you there?");
    let first = team.hears("general", |said| said.text == "Here I am.").await;
    team.settle().await;
    team.stop_app().await;
    team.say("general", "echo, and you?");
    team.ann().reply(&team.channel("general"), first.ts(), "still there?").unwrap();
    team.start_app().await;
    team.hears("general", |said| said.by == "Echo").await;
    team.settle().await;
    assert_eq!(team.said("general").iter().filter(|said| said.by == "Echo").count(), 1);
    team.stop().await;
}
