//! Reminders that people ask for in their own words.

use reqwest::Method;
use serde_json::{Value, json};

use super::stage::{HERE, Stage};
use crate::support::command::{invoke, sub_command, text};
use crate::support::database::count;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(
    what_was_asked_for_is_told_once_by_mention,
    the_reading_of_a_time_is_said_back_in_full,
    somebody_else_is_reminded_by_name_or_mention,
    two_people_who_ask_at_once_are_both_reminded_and_what_cannot_be_is_answered_with_what_can,
);

async fn what_was_asked_for_is_told_once_by_mention(backing: Backing) {
    let mut stage = Stage::start(backing).await;
    let set = stage.answer_to("remind me tomorrow at 9 to pay the hosting bill").await;
    assert_eq!((set.text.as_str(), set.author.as_str()), ("I'll remind you on Wed 25 Nov at 09:00 CET: pay the hosting bill", "Kelly"));
    assert_eq!(set.raw["mentions"], json!([]));
    stage.jump("2026-11-25T07:58:00Z");
    stage.waits(1).await;
    stage.told(0).await;
    stage.jump("2026-11-25T08:00:05Z");
    let told = stage.told(1).await.remove(0);
    let ann = stage.id_of(0);
    assert_eq!(told.text, format!("Reminder for <@{ann}>: pay the hosting bill"));
    assert_eq!((told.author.as_str(), &told.raw["mentions"][0]["id"]), ("Kelly", &json!(ann)));
    stage.restart_at("2026-11-26T08:00:00Z").await;
    stage.waits(0).await;
    stage.team.settle().await;
    stage.told(1).await;
}

async fn the_reading_of_a_time_is_said_back_in_full(backing: Backing) {
    let stage = Stage::start(backing).await;
    for (asked, told) in [
        ("remind me every other Monday at 9 to water the plants", "every other Monday at 09:00, first on Mon 30 Nov at 09:00 CET"),
        ("remind me every day until Friday to stretch", "every day at 09:00 until Fri 27 Nov, first on Wed 25 Nov at 09:00 CET"),
        ("remind me at 9am PST to call", "on Tue 24 Nov at 18:00 CET (09:00 PST)"),
        ("erinnere mich am 18.12. um 17.30 Uhr an den Flug", "on Fri 18 Dec at 17:30 CET"),
    ] {
        let set = stage.answer_to(asked).await;
        assert!(set.text.starts_with(&format!("I'll remind you {told}: ")), "{asked}: {}", set.text);
    }
    stage.waits(4).await;
}

async fn somebody_else_is_reminded_by_name_or_mention(backing: Backing) {
    let stage = Stage::start(backing).await;
    stage.say_as_bob("the train was late").await;
    eventually("Bob is heard", || async { count(&stage.team, "SELECT COUNT(*) FROM inbox").await == 1 }).await;
    let bob = stage.id_of(1);
    let set = stage.answer_to("Kelly, please remind Bob on Friday to send the invoice").await;
    assert_eq!(set.text, "I'll remind Bob on Fri 27 Nov at 09:00 CET: send the invoice");
    let set = stage.answer_to(&format!("vince, remind <@{bob}> to call the bank on Friday at 10")).await;
    assert_eq!((set.text.as_str(), set.author.as_str()), ("I'll remind Bob on Fri 27 Nov at 10:00 CET: call the bank", "Vince"));
    assert_eq!(set.raw["mentions"], json!([]), "nobody is called before the time");
    stage.jump("2026-11-27T08:00:05Z");
    stage.told(1).await;
    stage.jump("2026-11-27T09:00:05Z");
    let told = stage.told(2).await;
    let texts = ["send the invoice", "call the bank"].map(|what| format!("Reminder for <@{bob}> from Ann: {what}"));
    assert_eq!([told[0].text.clone(), told[1].text.clone()], texts);
    assert_eq!((told[1].author.as_str(), &told[1].raw["mentions"][0]["id"]), ("Vince", &json!(bob)));
}

async fn two_people_who_ask_at_once_are_both_reminded_and_what_cannot_be_is_answered_with_what_can(backing: Backing) {
    let stage = Stage::start(backing).await;
    for (asked, told) in [
        ("remind me to call the bank", "When should that be? I found no time in your message. Try \"remind me tomorrow at 9"),
        (
            "remind me to finish the report by Friday",
            "I'm not sure when you mean. Could you put the time first, like \"remind me tomorrow at 17:30",
        ),
        ("remind me on 10/4 to file taxes", "Is 10/4 10 April or 4 October? Please write the month as a word."),
        ("remind me yesterday to call", "\"yesterday\" is in the past. Name a time that is still to come"),
        ("remind me tomorrow at 9", "What should the reminder say? Try"),
        ("remind Eve tomorrow to call", "I don't know anybody called \"Eve\". Mention them, so that"),
        (&format!("remind me tomorrow to {}", "x".repeat(1500)), "That is too long for a reminder: 1000 characters are the most."),
    ] {
        let answer = stage.answer_to(asked).await;
        assert!(answer.text.starts_with(told), "{asked}: {}", answer.text);
    }
    let answer = stage.answer_to("Kelly, remind me what we said yesterday").await;
    assert!(!answer.text.starts_with("When should") && !answer.text.contains("in the past"), "a question is for Kelly: {}", answer.text);
    assert_eq!(count(&stage.team, "SELECT COUNT(*) FROM reminders").await, 0);
    let before = stage.team.answers(HERE).await.len();
    tokio::join!(stage.team.say(HERE, "remind me tomorrow at 9 to call"), stage.say_as_bob("remind me tomorrow at 9 to call"));
    stage.team.wait_for_answers(HERE, before + 2).await;
    stage.jump("2026-11-25T08:00:05Z");
    let mut told: Vec<_> = stage.told(2).await.into_iter().map(|shown| shown.text).collect();
    told.sort();
    let mut expected = [0, 1].map(|person| format!("Reminder for <@{}>: call", stage.id_of(person)));
    expected.sort();
    assert_eq!(told, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reminder_of_a_private_conversation_stays_there() {
    let stage = Stage::start(Backing::Sqlite).await;
    let (team, recipient) = (&stage.team, json!({ "recipient_id": stage.team.account("kelly") }));
    let channel = team.call(Method::POST, "/users/@me/channels", Some(recipient)).await["id"].as_str().unwrap().to_owned();
    let path = format!("/channels/{channel}/messages");
    let find = async |text: &str| {
        let said = team.call(Method::GET, &path, None).await;
        said.as_array().unwrap().iter().any(|message| message["author"]["bot"] == json!(true) && message["content"] == text)
    };
    let say = async |text: &str| team.call(Method::POST, &path, Some(json!({ "content": text }))).await;
    say("remind me tomorrow at 9 to buy a ring").await;
    eventually("it is confirmed", || find("I'll remind you on Wed 25 Nov at 09:00 CET: buy a ring")).await;
    say("remind Zaphod tomorrow to look away").await;
    let refused = "I don't know anybody called \"Zaphod\". Mention them, so that I know who is meant.";
    eventually("Zaphod is not known", || find(refused)).await;
    say(&format!("remind <@{}> tomorrow to look away", stage.id_of(1))).await;
    let refused = async || {
        let said = team.call(Method::GET, &path, None).await;
        let texts: Vec<Value> = said.as_array().unwrap().iter().map(|message| message["content"].clone()).collect();
        texts.iter().any(|text| {
            text.as_str().is_some_and(|text| text.ends_with("does not read this conversation. Ask me in a channel that you both read."))
        })
    };
    eventually("Bob is not there", || async { refused().await }).await;
    let listed = invoke(team, HERE, "remind", sub_command("list", &[])).await;
    assert!(text(&listed).starts_with("No reminders here."), "{listed}");
    let cancelled = invoke(team, HERE, "remind", sub_command("cancel", &[("which", "ring")])).await;
    assert!(text(&cancelled).contains("There is no open reminder \"ring\" here."), "{cancelled}");
    stage.jump("2026-11-25T08:00:05Z");
    let told = format!("Reminder for <@{}>: buy a ring", stage.id_of(0));
    eventually("it is told there", || find(&told)).await;
    stage.told(0).await;
}
