//! Many steps, and several missions side by side: none starves. Prints how long a step takes beyond the model's answers, when the missions ended, and the
//! most memory that this process took.

use std::time::Instant;

use serde_json::Value as Json;
use teamroom::features::mission::model::MissionStatus;

use super::stage::{HERE, Play, ROADMAP, open, plan, step};
use crate::backlog::stage::Setting;
use crate::support::long;
use crate::support::patience::PATIENCE;
use crate::support::team::{Backing, eventually, on_one_store};

on_one_store!(five_missions_of_forty_steps_in_eight_waves_are_all_delivered);

const WAVES: usize = 8;
const WIDE: usize = 5;

/// Eight waves of five steps. Each step needs two steps of the wave before, and the final step needs the whole last wave.
fn forty_steps() -> Json {
    let owners = ["eliza", "vince", "echo", "oracle", "solus"];
    let mut steps = Vec::new();
    for wave in 0..WAVES {
        // The last wave has one step less, so that there are forty with the final one.
        let wide = if wave + 1 == WAVES { WIDE - 1 } else { WIDE };
        for (place, owner) in owners.iter().enumerate().take(wide) {
            let needs: Vec<String> = if wave == 0 {
                Vec::new()
            } else {
                vec![format!("w{}s{place}", wave - 1), format!("w{}s{}", wave - 1, (place + 1) % WIDE)]
            };
            let needs: Vec<&str> = needs.iter().map(String::as_str).collect();
            steps.push(step(&format!("w{wave}s{place}"), &format!("Describe piece {wave}-{place}"), owner, &needs, &["3"]));
        }
    }
    let last: Vec<String> = (0..WIDE - 1).map(|place| format!("w{}s{place}", WAVES - 1)).collect();
    steps.push(step("end", "Join all pieces", "sentinel", &last.iter().map(String::as_str).collect::<Vec<_>>(), &["1"]));
    plan(&steps)
}

async fn five_missions_of_forty_steps_in_eight_waves_are_all_delivered(backing: Backing) {
    let missions = long::amount("TEAMROOM_TEST_MISSIONS", 1, 5);
    let setting = Setting::on(backing).configure(|config| {
        config.backlog.parallel = 8;
        config.features.set(teamroom::features::mission::MissionSettings { approve_steps: 41, ..Default::default() });
    });
    let stage = open(setting, Play { plans: vec![forty_steps()], ..Play::default() }).await;
    let started = Instant::now();
    for number in 0..missions {
        stage.team.drop_file(HERE, &format!("roadmap{number}.md"), ROADMAP.as_bytes().to_vec(), "kelly, please build this").await;
    }
    let all = async || stage.store.list_missions(10).await.unwrap();
    eventually("they are asked for", || async { all().await.len() == missions }).await;
    let patience = PATIENCE * u32::try_from(missions).unwrap();
    let mut ends = Vec::new();
    while ends.len() < missions {
        let done = all().await.iter().filter(|mission| mission.status == MissionStatus::Done).count();
        ends.resize(done, started.elapsed().as_millis());
        assert!(
            started.elapsed() < patience,
            "{:#?}",
            all().await.iter().map(|mission| (mission.status, mission.why.clone())).collect::<Vec<_>>()
        );
        stage.clock.advance(std::time::Duration::from_millis(100));
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let took = started.elapsed();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!(
        "{missions} missions of {} steps in {} ms: {} ms a step; ends after {ends:?} ms; {}",
        WAVES * WIDE,
        took.as_millis(),
        took.as_millis() / (missions * WAVES * WIDE) as u128,
        status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default()
    );
}
