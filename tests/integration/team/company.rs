//! Several people in one channel: talk among them stays theirs, and each continues with the persona that answered.

use kernel::llm::settings::ProviderKind;
use serde_json::{Value, json};

use crate::support::model::Script;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(
    talk_of_two_people_is_left_alone_and_each_goes_on_with_the_persona_that_answered,
    a_role_of_a_persona_is_the_persona,
    a_thread_that_a_person_opens_on_an_answer_is_the_personas,
);

async fn company(backing: Backing) -> TestTeam {
    let people = |options: &mut sandbox::Options| options.people = vec!["Ann".to_owned(), "Bob".to_owned()];
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).sandbox(people).start().await;
    team.model.on(|asked| Script::say(format!("answer to {}", asked.last_word())));
    team
}

async fn say_as_bob(team: &TestTeam, text: &str) {
    let path = format!("/api/v10/channels/{}/messages", team.channel("general"));
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.post(format!("{}{path}", team.sandbox().api_url())).header("authorization", &team.sandbox().people()[1].token);
    assert!(request.json(&json!({ "content": text })).send().await.unwrap().status().is_success());
}

/// Who answered what.
async fn answered(team: &TestTeam, number: usize) -> Vec<String> {
    team.wait_for_answers("general", number).await;
    team.settle().await;
    team.answers("general").await.into_iter().map(|answer| format!("{}: {}", answer.author, answer.text)).collect()
}

async fn talk_of_two_people_is_left_alone_and_each_goes_on_with_the_persona_that_answered(backing: Backing) {
    let team = company(backing).await;
    let bob = team.person_id(1);
    team.say("general", &format!("<@{}> can you review my PR?", bob.bare())).await;
    say_as_bob(&team, "sure, which one?").await;
    team.say("general", "the one with the cache").await;
    say_as_bob(&team, "does it need a migration?").await;
    team.say("general", "@here the office closes at five").await;
    team.say("general", "vince, what did it cost?").await;
    assert_eq!(answered(&team, 1).await, ["Vince: answer to cost?"]);
    say_as_bob(&team, "echo, how does it sound?").await;
    answered(&team, 2).await;
    team.say("general", "and why so much?").await;
    answered(&team, 3).await;
    say_as_bob(&team, "louder, please").await;
    answered(&team, 4).await;
    team.say("general", "thanks!").await;
    say_as_bob(&team, "👍").await;
    team.say("general", "kelly, the end").await;
    let expected =
        ["Vince: answer to cost?", "Echo: answer to sound?", "Vince: answer to much?", "Echo: answer to please", "Kelly: answer to end"];
    assert_eq!(answered(&team, 5).await, expected);
}

/// Discord creates a role for each bot, and its completion offers the role before the bot.
async fn a_role_of_a_persona_is_the_persona(backing: Backing) {
    let team = company(backing).await;
    let servers = team.call(reqwest::Method::GET, "/users/@me/guilds", None).await;
    let roles = team.call(reqwest::Method::GET, &format!("/guilds/{}/roles", servers[0]["id"].as_str().unwrap()), None).await;
    let is_solus = |role: &&Value| role["tags"]["bot_id"] == json!(team.account("solus"));
    let role = roles.as_array().unwrap().iter().find(is_solus).expect("Solus has a role");
    team.say("general", &format!("<@&{}> is it so", role["id"].as_str().unwrap())).await;
    assert_eq!(answered(&team, 1).await, ["Solus: answer to so"]);
}

async fn a_thread_that_a_person_opens_on_an_answer_is_the_personas(backing: Backing) {
    let team = company(backing).await;
    team.say("general", "eliza, say something").await;
    let answer = team.wait_for_answers("general", 1).await.remove(0);
    let path = format!("/channels/{}/messages/{}/threads", team.channel("general"), answer.raw["id"].as_str().unwrap());
    let thread = team.call(reqwest::Method::POST, &path, Some(json!({ "name": "more" }))).await;
    let inside = format!("/channels/{}/messages", thread["id"].as_str().unwrap());
    team.call(reqwest::Method::POST, &inside, Some(json!({ "content": "a bit more about that" }))).await;
    let eliza = team.account("eliza");
    eventually("Eliza answers", || async {
        let said = team.call(reqwest::Method::GET, &inside, None).await;
        let is_hers = |said: &Value| said["author"]["id"] == json!(eliza) && said["content"] == json!("answer to that");
        said.as_array().unwrap().iter().any(is_hers)
    })
    .await;
}
