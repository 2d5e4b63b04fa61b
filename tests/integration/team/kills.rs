//! One `kill -9` after the other while people write in many channels: each message is answered once, and none is given up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::rooms::{open_rooms, wait_for_all, write};
use crate::support::model::Script;
use crate::support::process::TeamProcess;
use crate::support::team::{Backing, on_both_stores};
use crate::support::{database, long};

on_both_stores!(
    #[ignore = "long form"]
    kills_in_a_row_lose_no_answer
);

/// The number of messages for each kill.
const MESSAGES: usize = 28;

/// How long a process lives, its start included.
const LIFE: Duration = Duration::from_secs(5);

async fn kills_in_a_row_lose_no_answer(backing: Backing) {
    let kills = long::amount("TEAMROOM_TEST_TURN_KILLS", 3, 10);
    let count = kills * MESSAGES;
    let team = open_rooms(backing).await;
    team.model.on(|asked| Script::SayAfter(Duration::from_millis(300), format!("answer to {}", asked.last_word())));
    let team = Arc::new(team);
    // The first start makes the team know the channels.
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
