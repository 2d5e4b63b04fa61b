//! A team in a separate process with eight channels, and people who ask in them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kernel::llm::settings::ProviderKind;
use serde_json::json;

use super::crashes::set;
use crate::support::database;
use crate::support::patience::PATIENCE;
use crate::support::team::{Backing, TestTeam, Wanted};

pub(super) const NAMES: [&str; 7] = ["kelly", "vince", "eliza", "echo", "oracle", "solus", "sentinel"];
const ROOMS: usize = 8;

/// Creates a team with eight channels, without starting it.
pub(super) async fn open_rooms(backing: Backing) -> TestTeam {
    let wanted = Wanted::on(backing).model(ProviderKind::OpenAi).without_app();
    let wanted = wanted.sandbox(|options| options.channels = (0..ROOMS).map(|number| format!("room-{number}")).collect());
    let team = wanted.start().await;
    set(&team, "");
    team
}

/// Somebody asks a persona in one of the rooms.
pub(super) async fn write(team: &TestTeam, number: usize) {
    let text = format!("{}, report m{number}", NAMES[number % NAMES.len()]);
    let path = format!("/channels/{}/messages", team.channel(&format!("room-{}", number % ROOMS)));
    team.call(reqwest::Method::POST, &path, Some(json!({"content": text}))).await;
}

/// Waits until every message has an answer and nothing changes any more. Returns how often each answer was posted.
pub(super) async fn wait_for_all(team: &TestTeam, count: usize) -> BTreeMap<String, usize> {
    // A turn whose process died twice while it ran alone rests for a minute.
    let open = "SELECT COUNT(*) FROM turns WHERE finished_at IS NULL";
    let unsent = "SELECT COUNT(*) FROM outbox WHERE state = 'pending'";
    let started = Instant::now();
    loop {
        let mut answers = BTreeMap::new();
        for room in 0..ROOMS {
            // Counts only answers: on a busy machine the team may also say that an answer takes longer.
            let said = team.answers(&format!("room-{room}")).await;
            for answer in said.into_iter().filter(|said| said.text.starts_with("answer to ")) {
                *answers.entry(answer.text).or_insert(0) += 1;
            }
        }
        let is_idle = async || database::count(team, open).await + database::count(team, unsent).await == 0;
        if answers.len() >= count && is_idle().await {
            return answers;
        }
        assert!(started.elapsed() < PATIENCE, "{} of {count} answered", answers.len());
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
