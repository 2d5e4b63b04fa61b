//! What happens on Slack while the team is not connected, for a moment and for longer than Slack repeats its reports.

use std::time::Duration;

use serde_json::json;

use crate::platforms::slack::{Said, SlackTeam, TEAM};
use crate::support::model::Script;
use crate::support::team::{Backing, eventually, on_both_stores};

on_both_stores!(
    what_is_said_in_a_short_absence_is_answered_once,
    a_reply_in_a_new_thread_and_a_first_private_message_are_answered,
    the_team_knows_what_it_said_and_what_was_taken_back,
);

impl SlackTeam {
    /// Slack gives up what nobody acknowledges.
    fn wait_until_nothing_is_repeated(&self) {
        self.workspace.advance(Duration::from_mins(10));
    }

    /// What the model was told for the last question.
    fn last_prompt(&self) -> String {
        self.model.requests().pop().expect("the model was asked").prompt()
    }
}

/// A team that has left, and the answer of Vince on which people may hang a thread.
async fn leave(backing: Backing) -> (SlackTeam, Said) {
    let mut team = SlackTeam::start(backing).await;
    team.model.on(|_| Script::say("Here I am."));
    team.say("general", "vince, are you there?");
    let answer = team.hears("general", |said| said.text == "Here I am.").await;
    team.settle().await;
    team.stop_app().await;
    (team, answer)
}

async fn what_is_said_in_a_short_absence_is_answered_once(backing: Backing) {
    let (mut team, first) = leave(backing).await;
    team.say("general", "echo, and you?");
    team.ann().reply(&team.channel("general"), first.ts(), "still there?").unwrap();
    team.start_app().await;
    eventually("both are answered", || async { team.said("general").len() == 3 }).await;
    // Slack repeats what nobody has acknowledged.
    team.workspace.advance(Duration::from_mins(2));
    team.settle().await;
    let mut by: Vec<String> = team.said("general").into_iter().map(|said| said.by).collect();
    by.sort();
    assert_eq!(by, ["Echo", "Vince", "Vince"]);
    team.stop().await;
}

async fn a_reply_in_a_new_thread_and_a_first_private_message_are_answered(backing: Backing) {
    let (mut team, first) = leave(backing).await;
    let bob = team.person("Bob");
    bob.reply(&team.channel("general"), first.ts(), "still there?").unwrap();
    let direct = bob.open_direct(&[&team.workspace.app(TEAM).user]);
    bob.say(&direct, "and here?").unwrap();
    team.wait_until_nothing_is_repeated();
    team.start_app().await;
    let reply = team.hears("general", |said| said.raw["thread_ts"] == json!(first.ts()) && said.ts() != first.ts()).await;
    assert_eq!(reply.by, "Vince");
    let private = || bob.messages(&direct).iter().filter(|message| !message["bot_id"].is_null()).count();
    eventually("the private message is answered", || async { private() == 1 }).await;
    team.settle().await;
    assert_eq!((team.said("general").len(), private()), (2, 1));
    team.stop().await;
}

async fn the_team_knows_what_it_said_and_what_was_taken_back(backing: Backing) {
    let mut team = SlackTeam::start(backing).await;
    let general = team.channel("general");
    team.model.on(|_| Script::say("fourteen ships"));
    let pin = team.say("general", "The pin is 4711.");
    team.ann().reply(&general, &pin, "Bob, don't write that here").unwrap();
    let code = team.say("general", "The code is 0815.");
    team.person("Bob").reply(&general, &code, "oh").unwrap();
    let opening = team.say("general", "The harbour opens in May.");
    team.say("general", "vince, how many?");
    team.hears("general", |said| said.text == "fourteen ships").await;
    team.settle().await;
    // The places of both stay, because of their threads.
    team.ann().delete(&general, &pin).unwrap();
    team.model.on(|_| Script::say("of course"));
    eventually("the deletion is heard", || async {
        let before = team.model.count();
        team.say("general", "vince, are you sure?");
        team.model.wait_for(before + 1).await;
        team.settle().await;
        !team.last_prompt().contains("4711")
    })
    .await;
    assert!(team.last_prompt().contains("0815"));
    team.stop_app().await;
    team.ann().delete(&general, &code).unwrap();
    team.ann().edit(&general, &opening, "The harbour opens in June.").unwrap();
    team.wait_until_nothing_is_repeated();
    team.model.on(|_| Script::say("understood"));
    team.start_app().await;
    eventually("it is known", || async {
        let before = team.model.count();
        team.say("general", "vince, when does it open?");
        team.model.wait_for(before + 1).await;
        team.settle().await;
        let prompt = team.last_prompt();
        assert!(prompt.contains("fourteen ships"), "the team's own words are there: {prompt}");
        prompt.contains("opens in June.")
            && ["4711", "0815", "opens in May", "This message was deleted"].iter().all(|gone| !prompt.contains(gone))
    })
    .await;
    team.stop().await;
}
