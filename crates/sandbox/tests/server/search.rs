//! The search of the chat page.

use serde_json::{Value, json};

use super::harness::{Api, start};

/// The texts that a person finds, and how many there are.
async fn find(api: &Api, words: &str) -> (u64, Vec<String>) {
    let url = format!("{}/sandbox/search?text={}", api.base, words.replace(' ', "+"));
    let request = reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("a client")
        .get(url)
        .header("authorization", api.token.trim_start_matches("Bot "));
    let answer: Value = request.send().await.expect("an answer").json().await.expect("JSON");
    let texts = answer["found"].as_array().expect("messages").iter();
    (answer["count"].as_u64().expect("a number"), texts.map(|found| found["text"].as_str().expect("a text").to_owned()).collect())
}

#[tokio::test]
async fn a_person_finds_what_they_may_read_wherever_it_was_said() {
    let world = start().await;
    let (person, kelly, general, ops) = (world.person(), world.bot("kelly"), world.channel("general"), world.channel("ops"));
    let first = person.say(&general, "We launch on the 4th of MARCH").await;
    for number in 0..120 {
        person.say(&general, &format!("note {number}")).await;
    }
    let embed = json!({ "embeds": [{ "title": "Day Report", "fields": [{ "name": "Call", "value": "Launch: no" }] }] });
    kelly.call("POST", &format!("/channels/{ops}/messages"), embed).await.ok();
    assert_eq!(find(&person, "march launch").await, (1, vec!["We launch on the 4th of MARCH".to_owned()]));
    assert_eq!(find(&person, "launch").await.1, ["Day Report\nCall\nLaunch: no", "We launch on the 4th of MARCH"]);
    assert_eq!(find(&person, "KELLY launch").await.0, 1, "the author's name counts");
    let (count, notes) = find(&person, "note").await;
    assert_eq!((count, notes.len(), notes[0].as_str()), (120, 50, "note 119"), "the newest come first");
    assert_eq!(find(&person, "nothing like it").await, (0, Vec::new()));

    // What is said between others stays there.
    let direct = kelly.call("POST", "/users/@me/channels", json!({ "recipient_id": person.id })).await.ok();
    kelly.say(direct["id"].as_str().expect("an id"), "a secret plan").await;
    assert_eq!((find(&person, "secret").await.0, find(&kelly, "secret").await.0, find(&world.bot("vince"), "secret").await.0), (1, 1, 0));
    person.delete(&format!("/channels/{general}/messages/{}", first["id"].as_str().expect("an id"))).await.ok();
    assert_eq!(find(&person, "march").await.0, 0, "a deleted message is gone");
}
