//! Chains of agents end by themselves, and a person can stop them at once.

use std::time::Duration;

use kernel::llm::settings::ProviderKind;
use teamroom::config::Config;

use crate::support::model::{Asked, Script};
use crate::support::patience::PATIENCE;
use crate::support::team::{Backing, TestTeam, Wanted, eventually, on_both_stores, on_one_store};

on_both_stores!(a_stop_survives_a_restart, the_end_of_a_loop_survives_a_restart);
on_one_store!(
    two_agents_stop_at_the_guards_limits_in_a_fast_loop,
    two_agents_stop_in_a_slow_loop,
    stop_ends_everything_though_the_model_hangs,
    an_answer_is_called_off_while_it_is_made_and_later_words_are_about_something_else,
    a_stop_silences_what_was_written_before_it,
    a_stop_said_to_a_person_halts_nothing,
    a_listed_foreign_bot_is_held_by_the_guard,
);

/// Each persona addresses the next of `ring`, with different words.
fn hand_round(team: &TestTeam, ring: &'static [&'static str]) {
    team.model.on(move |asked: &Asked| {
        let me = ring.iter().position(|name| asked.system.contains(&format!("You are {name}"))).unwrap_or(0);
        let next = ring[(me + 1) % ring.len()];
        Script::say(format!("@{next} {} what do you make of it?", words(asked.number)))
    });
}

/// Different words for each number, so that the repetition rule does not apply.
fn words(number: usize) -> String {
    const WORDS: [&str; 10] = ["river", "amber", "quartz", "meadow", "violet", "harbour", "copper", "lantern", "orchard", "glacier"];
    (0..12).map(|place| WORDS[(number * 7 + place * (number + 3)) % WORDS.len()]).collect::<Vec<_>>().join(" ")
}

async fn two_agents_stop_at_the_guards_limits_in_a_fast_loop(backing: Backing) {
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    hand_round(&team, &["Vince", "Solus"]);
    team.say("general", "vince, begin").await;
    eventually("somebody answered", || async { !team.answers("general").await.is_empty() }).await;
    team.settle().await;
    let answers = team.answers("general").await;
    assert!((2..=4).contains(&answers.len()), "{} agent messages in a row: {answers:#?}", answers.len());
}

async fn two_agents_stop_in_a_slow_loop(backing: Backing) {
    // All limits on rates and runs are disabled, so that only the chain limit ends it.
    let team = Wanted::on(backing)
        .model(ProviderKind::OpenAi)
        .configure(|config| {
            config.guard.run = 1000;
            config.guard.replies_to_sender = 1000;
            config.guard.pair_per_minute = 1000;
        })
        .start()
        .await;
    hand_round(&team, &["Vince", "Solus"]);
    team.say("general", "vince, begin").await;
    eventually("the chain is used up", || async { team.answers("general").await.len() >= 8 }).await;
    team.settle().await;
    assert_eq!(team.answers("general").await.len(), 8);
}

async fn stop_ends_everything_though_the_model_hangs(backing: Backing) {
    // The model itself is waited for longer than anything in the tests.
    let waits_long = |config: &mut Config| config.models.first_byte_timeout = PATIENCE * 2;
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).configure(waits_long).start().await;
    team.model.on(|_| Script::Hang);
    team.say("general", "vince, think hard").await;
    eventually("the model was asked", || async { team.model.count() > 0 }).await;
    team.say("general", "stop").await;
    let answers = team.wait_for_answers("general", 1).await;
    team.settle().await;
    assert!(answers[0].text.starts_with("Stopped"), "{answers:?}");
}

async fn an_answer_is_called_off_while_it_is_made_and_later_words_are_about_something_else(backing: Backing) {
    let waits_long = |config: &mut Config| config.models.first_byte_timeout = PATIENCE * 2;
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).configure(waits_long).start().await;
    team.model.on(|_| Script::Hang);
    team.say("general", "vince, think hard").await;
    eventually("the model was asked", || async { team.model.count() > 0 }).await;
    team.say("general", "cancel that").await;
    let answers = team.wait_for_answers("general", 1).await;
    assert!(answers[0].text.starts_with("Stopped"), "{answers:?}");
    team.model.on(|_| Script::say("It is cancelled."));
    team.say("general", "vince, never mind").await;
    let answers = team.wait_for_answers("general", 2).await;
    assert_eq!(answers[1].text, "It is cancelled.");
}

async fn a_stop_survives_a_restart(backing: Backing) {
    let mut team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    hand_round(&team, &["Vince", "Solus"]);
    team.say("general", "stop").await;
    team.wait_for_answers("general", 1).await;
    team.stop_app().await;
    team.start_app().await;
    // Still halted, because no person has addressed a persona since. The next message does, and ends the halt.
    assert!(team.app().is_halted_in(&team.channel_id("general")));
    team.say("general", "vince, begin").await;
    eventually("they talk again", || async { team.answers("general").await.len() >= 3 }).await;
}

async fn the_end_of_a_loop_survives_a_restart(backing: Backing) {
    let mut team = Wanted::on(backing).model(ProviderKind::OpenAi).start().await;
    hand_round(&team, &["Vince", "Solus"]);
    team.say("general", "vince, begin").await;
    eventually("somebody answered", || async { !team.answers("general").await.is_empty() }).await;
    team.settle().await;
    let before = team.answers("general").await.len();
    team.stop_app().await;
    team.start_app().await;
    team.settle().await;
    assert_eq!(team.answers("general").await.len(), before, "the restart started it again");
}

async fn a_stop_silences_what_was_written_before_it(backing: Backing) {
    let team =
        Wanted::on(backing).model(ProviderKind::OpenAi).configure(|config| config.chat.coalesce = Duration::from_secs(4)).start().await;
    team.say("general", "vince, begin").await;
    team.say("general", "stop").await;
    team.wait_for_answers("general", 1).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    team.settle().await;
    assert_eq!(team.answers("general").await.len(), 1, "only that it is quiet now");
    assert_eq!(team.model.count(), 0);
    assert!(team.app().is_halted_in(&team.channel_id("general")));
}

async fn a_stop_said_to_a_person_halts_nothing(backing: Backing) {
    let team = Wanted::on(backing).sandbox(|options| options.people = vec!["Ann".to_owned(), "Bob".to_owned()]).start().await;
    let bob = team.sandbox().people()[1].id.clone();
    team.say_as(1, "general", "and then I fell off the chair").await;
    let said = team.history("general").await.pop().expect("a message").raw["id"].clone();
    let path = format!("/channels/{}/messages", team.channel("general"));
    let reply = serde_json::json!({"content": "stop it", "message_reference": {"message_id": said}});
    team.call(reqwest::Method::POST, &path, Some(reply)).await;
    team.say("general", &format!("<@{bob}> stop")).await;
    team.say("general", "kelly, are you there?").await;
    team.wait_for_answers("general", 1).await;
    assert!(!team.app().is_halted_in(&team.channel_id("general")));
    let answer = team.answers("general").await.remove(0).raw["id"].clone();
    let reply = serde_json::json!({"content": "stop it", "message_reference": {"message_id": answer}});
    team.call(reqwest::Method::POST, &path, Some(reply)).await;
    eventually("a reply to a persona halts", || async { team.app().is_halted_in(&team.channel_id("general")) }).await;
}

async fn a_listed_foreign_bot_is_held_by_the_guard(backing: Backing) {
    let mut team = Wanted::on(backing).model(ProviderKind::OpenAi).bot("stranger", "Stranger").start().await;
    let stranger = team.sandbox().bots().into_iter().find(|bot| bot.slug == "stranger").expect("a bot");
    team.stop_app().await;
    team.config.chat.allowed_bots = vec![stranger.id.as_str().into()];
    team.start_app().await;
    team.model.on(|asked| Script::say(format!("and you? {}", words(asked.number))));
    for number in 0..10 {
        let text = format!("<@{}> {} tell me more", team.account("vince"), words(number + 40));
        team.say_as_bot("general", &stranger.token, &text).await;
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    eventually("it is answered", || async { team.answers("general").await.iter().any(|answer| answer.author == "Vince") }).await;
    team.settle().await;
    let answers = team.answers("general").await.into_iter().filter(|answer| answer.author == "Vince").count();
    assert!((1..=2).contains(&answers), "{answers} answers to a bot");
}
