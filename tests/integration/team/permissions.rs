//! Permissions and tokens taken away and given back, one by one: what people see meanwhile, and that each question has one answer in the end.

use serde_json::{Value, json};

use sandbox::Switch;

use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_one_store};

on_one_store!(
    permission_by_permission_is_taken_away_and_given_back,
    token_by_token_is_revoked_and_each_persona_still_answers,
    a_team_of_one_token_answers_under_each_name,
);

/// Permissions in a text channel, and in its threads.
const IN_CHANNEL: [&str; 6] = ["VIEW_CHANNEL", "SEND_MESSAGES", "READ_MESSAGE_HISTORY", "ATTACH_FILES", "EMBED_LINKS", "ADD_REACTIONS"];
const IN_THREAD: [&str; 3] = ["VIEW_CHANNEL", "SEND_MESSAGES_IN_THREADS", "READ_MESSAGE_HISTORY"];

/// Asks in a channel or thread, given by its id. Returns the question's id.
async fn ask(team: &TestTeam, place: &str, persona: &str) -> String {
    let question = json!({ "content": format!("{persona}, what do you think about our costs?") });
    let sent = team.call(reqwest::Method::POST, &format!("/channels/{place}/messages"), Some(question)).await;
    sent["id"].as_str().expect("an id").to_owned()
}

/// What was said after a message, oldest first.
async fn said_after(team: &TestTeam, place: &str, question: &str) -> Vec<(String, String)> {
    let page = team.call(reqwest::Method::GET, &format!("/channels/{place}/messages?limit=100&after={question}"), None).await;
    let mut said: Vec<Value> = page.as_array().expect("a list").clone();
    said.reverse();
    let author = |raw: &Value| raw["author"]["global_name"].as_str().or(raw["author"]["username"].as_str()).unwrap_or_default().to_owned();
    said.iter().map(|raw| (author(raw), raw["content"].as_str().unwrap_or_default().replace('\n', " "))).collect()
}

fn deny(team: &TestTeam, permission: &str, on: bool) {
    let switch = Switch::Deny { bot: "vince".into(), channel: "general".into(), permission: permission.into(), on };
    team.sandbox().misbehaviour().set(switch).expect("a switch");
}

async fn take_and_give(team: &TestTeam, kind: &str, place: &str, permission: &str) {
    deny(team, permission, true);
    let question = ask(team, place, "vince").await;
    eventually("somebody says something", || async {
        !said_after(team, place, &question).await.is_empty() || told(team, permission).await
    })
    .await;
    let meanwhile = said_after(team, place, &question).await;
    deny(team, permission, false);
    let answers = async || said_after(team, place, &question).await.iter().filter(|(author, _)| author == "Vince").count();
    eventually(&format!("Vince answers with {permission} again"), || async { answers().await > 0 }).await;
    team.settle().await;
    assert_eq!(answers().await, 1, "{permission} in a {kind}: {:#?}", said_after(team, place, &question).await);
    let shown: Vec<String> = meanwhile.iter().map(|(author, text)| format!("{author}: {text}")).collect();
    println!("{kind} | {permission} | {}", if shown.is_empty() { "(only operators are told)".to_owned() } else { shown.join(" / ") });
}

/// Whether operators were told about a permission.
async fn told(team: &TestTeam, permission: &str) -> bool {
    let words = permission.to_lowercase().replace('_', " ");
    team.answers("ops").await.iter().any(|shown| shown.text.to_lowercase().contains(&words))
}

async fn permission_by_permission_is_taken_away_and_given_back(backing: Backing) {
    let mut team = Wanted::on(backing).start().await;
    let general = team.channel("general");
    for permission in IN_CHANNEL {
        take_and_give(&team, "channel", &general, permission).await;
    }
    let thread = json!({ "name": "Costs", "type": 11 });
    let thread = team.call(reqwest::Method::POST, &format!("/channels/{general}/threads"), Some(thread)).await;
    let thread = thread["id"].as_str().expect("an id").to_owned();
    for permission in IN_THREAD {
        take_and_give(&team, "thread", &thread, permission).await;
    }
    team.stop_app().await;
}

async fn token_by_token_is_revoked_and_each_persona_still_answers(backing: Backing) {
    let mut team = Wanted::on(backing).start().await;
    let general = team.channel("general");
    for persona in ["kelly", "vince", "echo", "solus"] {
        let revoked = Switch::RevokeToken { bot: persona.into(), on: true };
        team.sandbox().misbehaviour().set(revoked).expect("a switch");
        let question = ask(&team, &general, persona).await;
        let name = format!("{}{}", persona[..1].to_uppercase(), &persona[1..]);
        let answers = async || {
            let said = said_after(&team, &general, &question).await;
            said.into_iter().filter(|(author, text)| *author == name || text.contains(&format!("**For {name}:**"))).collect::<Vec<_>>()
        };
        eventually(&format!("{name} answers without a token"), || async { !answers().await.is_empty() }).await;
        team.settle().await;
        let answers = answers().await;
        assert_eq!(answers.len(), 1, "{answers:#?}");
        println!("without the token of {name} | {}: {}", answers[0].0, answers[0].1);
    }
    let ops = team.answers("ops").await;
    assert!(ops.iter().any(|shown| shown.text.contains("DISCORD_TOKEN_VINCE")), "{ops:#?}");
    team.stop_app().await;
}

async fn a_team_of_one_token_answers_under_each_name(backing: Backing) {
    let one = |config: &mut teamroom::config::Config| config.discord.tokens.retain(|persona, _| persona.as_str() == "kelly");
    let mut team = Wanted::on(backing).configure(one).start().await;
    let general = team.channel("general");
    for (persona, name) in [("kelly", "Kelly"), ("vince", "Vince"), ("solus", "Solus")] {
        let question = ask(&team, &general, persona).await;
        eventually("an answer", || async { !said_after(&team, &general, &question).await.is_empty() }).await;
        team.settle().await;
        let said = said_after(&team, &general, &question).await;
        assert!(matches!(&said[..], [(author, _)] if author == name), "{said:#?}");
        println!("one token | {}: {}", said[0].0, said[0].1);
    }
    team.stop_app().await;
}
