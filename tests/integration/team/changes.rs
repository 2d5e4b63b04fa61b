//! Edits and deletions, also those that were made while nobody of the team was connected (CHAT-6).

use kernel::llm::settings::ProviderKind;
use reqwest::Method;
use serde_json::json;

use crate::support::model::Script;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_both_stores, on_one_store};

on_both_stores!(what_was_edited_and_deleted_while_the_team_was_down_is_caught_up);
on_one_store!(a_mention_that_an_edit_adds_within_a_minute_counts, an_edit_that_calls_nobody_new_changes_nothing,);

pub(super) async fn edit(team: &TestTeam, message: &str, text: &str) {
    let path = format!("/channels/{}/messages/{message}", team.channel("general"));
    team.call(Method::PATCH, &path, Some(json!({ "content": text }))).await;
}

async fn delete(team: &TestTeam, message: &str) {
    team.call(Method::DELETE, &format!("/channels/{}/messages/{message}", team.channel("general")), None).await;
}

async fn what_was_edited_and_deleted_while_the_team_was_down_is_caught_up(backing: Backing) {
    let mut team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|_| Script::say("fourteen ships"));
    let first = team.say("general", "The pin is 4711.").await;
    let opening = team.say("general", "The harbour opens in May.").await;
    let file = team.drop_file("general", "plan.md", b"Secret plan.\n".to_vec(), "our plan").await;
    team.say("general", "vince, how many?").await;
    let answer = team.wait_for_answers("general", 1).await.remove(0);
    team.settle().await;
    team.stop_app().await;
    delete(&team, &first).await;
    edit(&team, &opening, "The harbour opens in June.").await;
    delete(&team, &file).await;
    let posted = answer.raw["id"].as_str().expect("an id").to_owned();
    let bot = team.sandbox().bots().into_iter().find(|bot| bot.slug == "vince").expect("Vince");
    team.delete_as_bot("general", &bot.token, &posted).await;
    team.model.on(|_| Script::say("understood"));
    team.start_app().await;
    eventually("the changes are known", || async {
        let before = team.model.count();
        team.say("general", "vince, when does it open?").await;
        team.model.wait_for(before + 1).await;
        team.settle().await;
        let prompt = team.model.requests().pop().expect("the model was asked").prompt();
        assert!(prompt.contains("The harbour opens in "), "{prompt}");
        prompt.contains("opens in June.") && ["4711", "May", "plan", "fourteen ships"].iter().all(|gone| !prompt.contains(gone))
    })
    .await;
}

async fn a_mention_that_an_edit_adds_within_a_minute_counts(backing: Backing) {
    for (by_mention, waits) in [(true, true), (false, true), (false, false)] {
        let team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
        team.model.on(|asked| Script::say(format!("heard: {}", asked.prompt().contains("from May on"))));
        let message = team.say("general", "the harbour is open").await;
        if waits {
            // Messages of a channel are decided in their order.
            team.say("general", "kelly, hello").await;
            team.wait_for_answers("general", 1).await;
        }
        let name = if by_mention { format!("<@{}>", team.account("vince")) } else { "vince,".to_owned() };
        edit(&team, &message, &format!("{name} the harbour is open from May on")).await;
        let answer = team.wait_for_answers("general", 1 + usize::from(waits)).await.pop().expect("an answer");
        assert_eq!((answer.author.as_str(), answer.text.as_str()), ("Vince", "heard: true"));
    }
}

async fn an_edit_that_calls_nobody_new_changes_nothing(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    team.model.on(|_| Script::say("understood"));
    let message = team.say("general", "vince, is the harbour open?").await;
    team.wait_for_answers("general", 1).await;
    edit(&team, &message, "vince, is the harbour open in May?").await;
    let silent = team.say("ops", "the ships are late").await;
    team.settle().await;
    let path = format!("/channels/{}/messages/{silent}", team.channel("ops"));
    team.call(Method::PATCH, &path, Some(json!({ "content": "the ships are very late" }))).await;
    team.say("ops", "kelly, hello").await;
    team.wait_for_answers("ops", 1).await;
    team.wait_for_answers("general", 1).await;
}
