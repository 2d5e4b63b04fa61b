//! Time-dependent behaviour, with a manual clock.

use std::time::Duration;

use kernel::llm::settings::ProviderKind;
use kernel::time::{Clock, ManualClock, SystemClock};
use teamroom::store::Store;

use crate::support::model::Script;
use crate::support::team::{Backing, Wanted, eventually, on_one_store};

on_one_store!(
    a_slow_answer_is_announced_once_after_eight_seconds,
    messages_of_a_pause_are_answered_if_they_are_young_enough,
    a_person_is_waited_for_until_the_burst_is_over,
    what_was_deleted_for_its_age_is_not_answered_again,
);

async fn a_slow_answer_is_announced_once_after_eight_seconds(backing: Backing) {
    let clock = ManualClock::new(SystemClock.now());
    let team = Wanted::on(backing)
        .model(ProviderKind::OpenAi)
        .clock(clock.clone())
        .configure(|config| config.chat.still_thinking_after = Duration::from_secs(8))
        .start()
        .await;
    team.model.on(|_| Script::Hang);
    team.say("general", "vince, think hard").await;
    eventually("the model was asked", || async { team.model.count() == 1 }).await;
    for _ in 0..70 {
        clock.advance(Duration::from_millis(100));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    assert!(team.answers("general").await.is_empty(), "seven seconds are not long");
    eventually("it was said", || async {
        clock.advance(Duration::from_millis(50));
        !team.answers("general").await.is_empty()
    })
    .await;
    for _ in 0..100 {
        clock.advance(Duration::from_millis(100));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let said = team.answers("general").await;
    assert!(said.len() == 1 && said[0].text.contains("still on it"), "{said:?}");
}

async fn messages_of_a_pause_are_answered_if_they_are_young_enough(backing: Backing) {
    let clock = ManualClock::new(SystemClock.now());
    let mut team = Wanted::on(backing).clock(clock.clone()).start().await;
    team.say("general", "kelly, hello").await;
    team.wait_for_answers("general", 1).await;
    // The last-read mark is set once the channel was read up to the present.
    eventually("somebody waits to look for gaps", || async { clock.sleepers() > 0 }).await;
    clock.advance(Duration::from_secs(1));
    team.say("general", "@here nothing for the team").await;
    team.settle().await;
    team.stop_app().await;
    team.say("general", "kelly, are you awake?").await;
    clock.advance(Duration::from_mins(50));
    team.start_app().await;
    let waiting = team.wait_while_moving("general", 2, &clock).await;
    assert_eq!(waiting.len(), 2, "{waiting:?}");
    team.stop_app().await;
    team.say("general", "kelly, and now?").await;
    clock.advance(Duration::from_mins(70));
    team.start_app().await;
    for _ in 0..20 {
        clock.advance(Duration::from_millis(100));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    team.settle().await;
    assert_eq!(team.answers("general").await.len(), 2, "older than an hour");
}

async fn a_person_is_waited_for_until_the_burst_is_over(backing: Backing) {
    let clock = ManualClock::new(SystemClock.now());
    let team =
        Wanted::on(backing).clock(clock.clone()).configure(|config| config.chat.coalesce = Duration::from_millis(1200)).start().await;
    team.say("general", "kelly, hello").await;
    eventually("somebody waits", || async { clock.sleepers() > 0 }).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(team.answers("general").await.is_empty(), "time stands still");
    let answers = team.wait_while_moving("general", 1, &clock).await;
    assert_eq!(answers.len(), 1);
}

async fn what_was_deleted_for_its_age_is_not_answered_again(backing: Backing) {
    let clock = ManualClock::new(SystemClock.now());
    // No message is too old to be answered, so one that was read again would be answered again.
    let no_limit = |config: &mut teamroom::config::Config| config.chat.max_age = Duration::from_hours(24 * 365);
    let mut team = Wanted::on(backing).clock(clock.clone()).configure(no_limit).start().await;
    eventually("somebody waits to look for gaps", || async { clock.sleepers() > 0 }).await;
    for (said, text) in ["kelly, hello", "kelly, are you there?"].into_iter().enumerate() {
        team.say("general", text).await;
        team.wait_while_moving("general", said + 1, &clock).await;
    }
    team.settle().await;
    let store = Store::open_shared(&team.config.database_url, clock.now()).await.unwrap();
    let messages = async || store.summary().await.unwrap().tables.into_iter().find(|(table, _)| table == "inbox").unwrap().1;
    assert_eq!(messages().await, 2);
    team.stop_app().await;
    clock.advance(Duration::from_hours(24 * 100));
    team.start_app().await;
    eventually("they are deleted", || async {
        clock.advance(Duration::from_secs(1));
        messages().await == 0
    })
    .await;
    // Each start reads the channel from its last-read mark.
    team.stop_app().await;
    team.start_app().await;
    for _ in 0..20 {
        clock.advance(Duration::from_millis(100));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    team.settle().await;
    assert_eq!((team.answers("general").await.len(), messages().await), (2, 0));
}
