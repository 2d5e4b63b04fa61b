//! Many messages under bad conditions, each answered once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kernel::llm::settings::ProviderKind;
use sandbox::{Cut, Switch};
use serde_json::json;

use crate::support::long;
use crate::support::model::Script;
use crate::support::patience::PATIENCE;
use crate::support::team::{Backing, TestTeam, Wanted, on_one_store};

on_one_store!(
    #[ignore = "long form"]
    every_message_is_answered_once_whatever_the_gateways_do
);

const CHANNELS: usize = 20;
const WRITERS: usize = 8;

async fn every_message_is_answered_once_whatever_the_gateways_do(backing: Backing) {
    let count = long::amount("TEAMROOM_TEST_MESSAGES", 600, 10_000);
    let team = Wanted::on(backing)
        .model(ProviderKind::OpenAi)
        .sandbox(|options| options.channels = (0..CHANNELS).map(|number| format!("room-{number}")).collect())
        .persona("bruno", "Bruno")
        // Echo's token is refused, so Echo is never online.
        .configure(|config| {
            config.discord.tokens.insert("echo".into(), "sandbox.1.wrong".to_owned().into());
        })
        .start()
        .await;
    team.model.on(|asked| Script::say(format!("answer to {}", asked.last_word())));
    let misbehave = |switch| team.sandbox().misbehaviour().set(switch).expect("a switch");
    misbehave(Switch::Seed { seed: long::random().u64(..) });
    misbehave(Switch::Frames { bot: None, delay_ms: 0, duplicate: 0.1, reorder: 0.05, reorder_ms: 500 });

    let team = Arc::new(team);
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let team = team.clone();
            tokio::spawn(async move {
                for number in (writer..count).step_by(WRITERS) {
                    write(&team, number).await;
                }
            })
        })
        .collect();
    // Gateways are disconnected in turn.
    let slugs: Vec<String> = team.sandbox().bots().into_iter().map(|bot| bot.slug).collect();
    let dropper = tokio::spawn({
        let team = team.clone();
        async move {
            for (round, slug) in slugs.iter().cycle().enumerate() {
                tokio::time::sleep(Duration::from_millis(700)).await;
                let how = if round % 2 == 0 { Cut::Reset } else { Cut::Close(4000) };
                team.sandbox().misbehaviour().set(Switch::Drop { bot: Some(slug.clone()), how }).expect("a switch");
            }
        }
    });
    for writer in writers {
        writer.await.expect("a writer ends");
    }
    let counts = wait_for_all(&team, count).await;
    dropper.abort();
    let wrong: Vec<_> = counts.iter().filter(|(_, times)| **times != 1).collect();
    assert!(wrong.is_empty(), "answered otherwise than once: {wrong:?}");
    assert_eq!(counts.len(), count);
    println!("{count} messages, {} answers, each once", counts.len());
}

async fn write(team: &TestTeam, number: usize) {
    const NAMES: [&str; 8] = ["kelly", "vince", "eliza", "echo", "oracle", "solus", "sentinel", "bruno"];
    let text = format!("{}, report m{number}", NAMES[number % NAMES.len()]);
    let path = format!("/channels/{}/messages", team.channel(&format!("room-{}", number % CHANNELS)));
    team.call(reqwest::Method::POST, &path, Some(json!({"content": text}))).await;
}

/// Waits until every message has an answer and nothing changes any more.
async fn wait_for_all(team: &TestTeam, count: usize) -> HashMap<String, usize> {
    let started = Instant::now();
    loop {
        let mut counts = HashMap::new();
        for room in 0..CHANNELS {
            // Counts only answers: on a busy machine the team may also say that an answer takes longer.
            let said = team.answers(&format!("room-{room}")).await;
            for answer in said.into_iter().filter(|said| said.text.starts_with("answer to ")) {
                *counts.entry(answer.text).or_insert(0) += 1;
            }
        }
        if counts.len() >= count && team.app().is_idle().await.expect("the store answers") {
            return counts;
        }
        assert!(started.elapsed() < PATIENCE, "{} of {count} answered", counts.len());
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
