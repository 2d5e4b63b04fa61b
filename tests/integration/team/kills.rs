//! One `kill -9` after the other while people write in many channels: each message is answered once, and none is given up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kernel::llm::settings::ProviderKind;
use serde_json::json;

use super::crashes::set;
use crate::support::model::Script;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, TestTeam, Wanted, on_both_stores};
use crate::support::{database, number_from};

on_both_stores!(kills_in_a_row_lose_no_answer);

/// For each kill so many messages. The long form is `TEAMROOM_TEST_TURN_KILLS=10`: ten kills within a minute, and 280 messages.
const MESSAGES: u64 = 28;
pub(super) const ROOMS: usize = 8;
pub(super) const NAMES: [&str; 7] = ["kelly", "vince", "eliza", "echo", "oracle", "solus", "sentinel"];

/// How long a process lives, its start included.
const LIFE: Duration = Duration::from_secs(5);

async fn kills_in_a_row_lose_no_answer(backing: Backing) {
    let kills = number_from("TEAMROOM_TEST_TURN_KILLS").unwrap_or(3);
    let count = usize::try_from(kills * MESSAGES).expect("a small number");
    let team = Wanted::on(backing)
        .model(ProviderKind::OpenAi)
        .sandbox(|options| options.channels = (0..ROOMS).map(|number| format!("room-{number}")).collect())
        .without_app()
        .start()
        .await;
    set(&team, "");
    team.model.on(|asked| Script::SayAfter(Duration::from_millis(300), format!("answer to {}", asked.last_word())));
    let team = Arc::new(team);
    // The first start notes the rooms.
    TeamProcess::start(&team, &[]).await.kill();
    let over = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let (team, over) = (team.clone(), over.clone());
        async move {
            let pause = LIFE * u32::try_from(kills).expect("a small number") / u32::try_from(count).expect("a small number");
            for number in 0..count {
                write(&team, number).await;
                if !over.load(Ordering::Relaxed) {
                    tokio::time::sleep(pause).await;
                }
            }
        }
    });
    let started = Instant::now();
    for _ in 0..kills {
        let process = TeamProcess::spawn(&team, &[]);
        tokio::time::sleep(LIFE).await;
        process.kill();
    }
    println!("{kills} kills in {:?}", started.elapsed());
    over.store(true, Ordering::Relaxed);
    let _process = TeamProcess::start(&team, &[]).await;
    writer.await.expect("the writer ends");
    let answers = wait_for_all(&team, count).await;
    let expected: BTreeMap<String, usize> = (0..count).map(|number| (format!("answer to m{number}"), 1)).collect();
    assert_eq!(answers, expected);
    let given_up = "SELECT COUNT(*) FROM turns WHERE state <> 'answered'";
    assert_eq!(database::count(&team, given_up).await, 0);
    let crashed = "SELECT COUNT(*) FROM turns WHERE attempts > 1";
    println!("{count} messages, each answered once; {} turns were begun more than once", database::count(&team, crashed).await);
}

/// Somebody asks a persona in one of the rooms.
pub(super) async fn write(team: &TestTeam, number: usize) {
    let text = format!("{}, report m{number}", NAMES[number % NAMES.len()]);
    let path = format!("/channels/{}/messages", team.channel(&format!("room-{}", number % ROOMS)));
    team.call(reqwest::Method::POST, &path, Some(json!({"content": text}))).await;
}

/// How often each thing was said in the rooms, once there is an answer for every message and nothing moves any more.
pub(super) async fn wait_for_all(team: &TestTeam, count: usize) -> BTreeMap<String, usize> {
    // A turn whose process died twice while it ran alone rests for a minute.
    let patience = Duration::from_secs(180 + count as u64 / 2);
    let open = "SELECT COUNT(*) FROM turns WHERE finished_at IS NULL";
    let unsent = "SELECT COUNT(*) FROM outbox WHERE state = 'pending'";
    let started = Instant::now();
    loop {
        let mut answers = BTreeMap::new();
        for room in 0..ROOMS {
            // On a busy machine somebody may also be told that the answer takes longer.
            let said = team.answers(&format!("room-{room}")).await;
            for answer in said.into_iter().filter(|said| said.text.starts_with("answer to ")) {
                *answers.entry(answer.text).or_insert(0) += 1;
            }
        }
        let is_idle = async || database::count(team, open).await + database::count(team, unsent).await == 0;
        if answers.len() >= count && is_idle().await {
            return answers;
        }
        assert!(started.elapsed() < patience, "{} of {count} answered", answers.len());
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
