//! People talk with personas. Discord is left out where a story of the feature runs on it anyway.

use serde_json::json;

use super::room::{Place, Platform, Post, story};
use crate::support::model::Script;

story!(a_named_persona_answers_once: discord, slack);
story!(one_persona_asks_another: slack, corner);
story!(a_file_is_read_and_a_long_answer_comes_as_one: slack);
story!(a_command_is_said_to_a_persona: discord, slack, corner);
story!(a_very_long_answer_goes_along_as_a_file: slack, corner);
story!(stop_ends_what_runs: slack, corner);

async fn a_named_persona_answers_once(place: Place) {
    let room = place.with_model().await;
    room.model().on(|_| Script::say("**Two** of them."));
    room.say("general", "vince, how many are there?").await;
    room.hears("general", |post| !post.text.is_empty()).await;
    let posts = room.settled("general").await;
    assert_eq!(posts.len(), 1, "{posts:#?}");
    let bold = match place.platform {
        Platform::Discord => "**Two**",
        Platform::Slack => "*Two*",
        Platform::Corner => "'''Two'''",
    };
    assert_eq!((posts[0].by.as_str(), posts[0].text.as_str()), ("Vince", format!("{bold} of them.").as_str()));
    assert!(room.model().requests().remove(0).prompt().contains("how many are there?"));
    room.say("general", "@here I told my sister about the weekend.").await;
    assert_eq!(room.settled("general").await.len(), 1, "talk among people is left alone");
    room.stop().await;
}

async fn one_persona_asks_another(place: Place) {
    let room = place.with_model().await;
    room.model().on(|asked| match (asked.system.contains("You are Vince"), asked.tool_results()) {
        (true, 0) => Script::call("ask_agent", json!({"persona": "solus", "question": "go or no go?"})),
        (true, _) => Script::say(format!("Solus said go: {}", asked.prompt().contains("a clear go"))),
        (false, _) => Script::say("a clear go"),
    });
    room.say("general", "vince, shall we?").await;
    let answer = room.hears("general", |post| post.by == "Vince").await;
    assert_eq!(answer.text, "Solus said go: true");
    assert_eq!(room.settled("general").await.len(), 1);
    room.stop().await;
}

async fn a_file_is_read_and_a_long_answer_comes_as_one(place: Place) {
    let room = place.with_model().await;
    room.model().on(|_| Script::say("It is on the 9th."));
    room.upload("general", "plan.md", &"The launch is on the 9th of May.\n".repeat(3), "vince, summarise it").await;
    room.hears("general", |post| post.text == "It is on the 9th.").await;
    assert!(room.model().requests().iter().any(|request| request.prompt().contains("The launch is on the 9th of May.")));
    // A later question is answered from the same file.
    room.say("general", "vince, and when does the plan say that it launches?").await;
    room.hears("general", |post| post.text == "It is on the 9th.").await;
    room.settled("general").await;
    let asked = room.model().requests();
    assert!(asked.last().expect("asked").prompt().contains("The launch is on the 9th of May."), "{asked:#?}");
    room.stop().await;
}

/// A sentence is taken as a command only if the whole of it is one.
async fn a_command_is_said_to_a_persona(place: Place) {
    let room = place.with_model().await;
    room.model().on(|_| Script::say("It is not."));
    let kelly = room.kelly();
    room.say("general", &format!("{kelly}: backlog add Water the plants --owner me")).await;
    let added = room.hears("general", |post| post.text.contains("Ann added for Ann")).await;
    assert!(added.by == "Kelly" && added.text.contains("Water the plants"), "{added:#?}");
    let answers = |posts: Vec<Post>| posts.iter().filter(|post| post.by == "Kelly" && post.buttons.is_empty()).count();
    assert_eq!(answers(room.settled("general").await), 1);
    assert_eq!(room.model().requests().len(), 0, "no model is asked for a command");
    room.say("general", &format!("{kelly} backlog is too long, is it not?")).await;
    room.hears("general", |post| post.text.starts_with("It is not.")).await;
    room.say("general", &format!("{kelly} backlog list")).await;
    // The team also tells the owner about the item. That message may come before or after this one.
    let listed = room.hears("general", |post| post.text.starts_with("The backlog:") && post.text.contains("Water the plants")).await;
    assert_eq!((listed.by.as_str(), answers(room.settled("general").await)), ("Kelly", 3), "{listed:#?}");
    room.stop().await;
}

async fn a_very_long_answer_goes_along_as_a_file(place: Place) {
    let room = place.with_model().await;
    room.model().on(|_| Script::say("And so on. ".repeat(900)));
    room.say("general", "vince, all of it please?").await;
    let post = room.hears("general", |post| !post.files.is_empty()).await;
    assert!(post.text.contains("is in the file") && post.files == ["answer.md"], "{post:#?}");
    assert_eq!(room.settled("general").await.len(), 1);
    room.stop().await;
}

async fn stop_ends_what_runs(place: Place) {
    let room = place.with_model().await;
    room.model().on(|_| Script::Hang);
    room.say("general", "vince, how many are there?").await;
    let asked = async || room.model().count() > 0;
    crate::support::team::eventually("the model is asked", asked).await;
    room.say("general", "stop").await;
    let posts = room.settled("general").await;
    assert!(posts.iter().all(|post| post.by != "Vince"), "{posts:#?}");
    room.stop().await;
}
