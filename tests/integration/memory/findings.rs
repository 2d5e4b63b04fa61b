//! What one persona found out is known to its colleagues for the rest of the day, where it may be told.

use kernel::llm::settings::ProviderKind;
use reqwest::Method;
use serde_json::json;

use super::stage::{BOARD, HERE, Stage};
use crate::support::model::Script;
use crate::support::team::{Backing, on_one_store};

on_one_store!(what_a_colleague_found_is_in_the_prompt_elsewhere_unless_it_was_private);

/// Another channel that everybody reads.
const ELSEWHERE: &str = "release";

const RED: &str = "The main branch is red since a1b2c3d, says the repository feed.";

async fn what_a_colleague_found_is_in_the_prompt_elsewhere_unless_it_was_private(backing: Backing) {
    let stage = Stage::start(backing, Some(ProviderKind::OpenAi)).await;
    stage.team.model.on(|asked| Script::say(if asked.prompt().contains("how does the main branch do") { RED } else { "I'll see." }));
    let body = json!({ "name": ELSEWHERE, "type": 0 });
    stage.team.call(Method::POST, &format!("/guilds/{}/channels", stage.team.sandbox().guild_id()), Some(body)).await;
    let prompt = async || {
        stage.answer_in(ELSEWHERE, "vince, can we release the main branch?").await;
        stage.team.model.requests().last().unwrap().prompt()
    };
    stage.answer_in(BOARD, "kelly, how does the main branch do?").await;
    let told = prompt().await;
    assert!(!told.contains("is red since"), "a private channel keeps it: {told}");
    stage.answer_in(HERE, "kelly, how does the main branch do?").await;
    let told = prompt().await;
    let line = format!(", asked \"kelly, how does the main branch do?\": {RED}");
    assert!(told.contains("| what the team has found out lately>>\n- Kelly, ") && told.contains(&line), "{told}");
    // Tomorrow it is no news any more.
    stage.clock.advance(std::time::Duration::from_hours(24));
    let told = prompt().await;
    assert!(!told.contains("what the team has found out lately"), "{told}");
}
