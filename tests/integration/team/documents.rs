//! Documents of the team: passages in the prompts of answers, and the tool that reads further.

use std::path::Path;
use std::time::Duration;

use kernel::llm::settings::ProviderKind;
use kernel::time::ManualClock;
use serde_json::json;

use crate::support::model::Script;
use crate::support::team::{Backing, Wanted, on_one_store};
use crate::support::time::go_on;

on_one_store!(a_file_is_known_as_soon_as_it_is_there_and_can_be_read_on);

const RULES: &str = "# On-call rules\n\n## Weekends\n\nOn Saturdays the pager rings at Dana's.\n";

fn write(knowledge: &Path, name: &str, text: &str) {
    std::fs::create_dir_all(knowledge).unwrap();
    std::fs::write(knowledge.join(name), text).unwrap();
}

async fn a_file_is_known_as_soon_as_it_is_there_and_can_be_read_on(backing: Backing) {
    let clock = ManualClock::new("2026-03-02T09:00:00Z".parse().unwrap());
    let _time = go_on(&clock);
    // The sandbox dates messages of people by its own clock.
    let lasting = |config: &mut teamroom::config::Config| config.chat.max_age = Duration::from_hours(24 * 1000);
    let team = Wanted::on(backing).model(ProviderKind::OpenAi).configure(lasting).clock(clock.clone()).start().await;
    let knowledge = team.config.work.join("knowledge");
    team.model.on(|asked| match asked.tool_results() {
        0 if asked.prompt().contains("read on") => Script::call("read_document", json!({"name": "big list", "from_line": 400, "lines": 2})),
        0 if asked.prompt().contains("the pager rings at Dana's") => Script::say("Dana's."),
        0 => Script::say("I do not know."),
        _ => Script::say(asked.last().lines().find(|line| line.contains("of 500")).unwrap_or("nothing")),
    });
    team.say("general", "eliza, where does the pager ring on Saturdays?").await;
    assert_eq!(team.wait_for_answers("general", 1).await[0].text, "I do not know.");
    write(&knowledge, "on-call-rules.md", RULES);
    write(&knowledge, "big-list.txt", &(1..=500).map(|line| format!("this is line {line}")).collect::<Vec<_>>().join("\n"));
    clock.advance(Duration::from_secs(3));
    team.say("general", "eliza, please read the on-call rules again: where does the pager ring on Saturdays?").await;
    assert_eq!(team.wait_for_answers("general", 2).await[1].text, "Dana's.");
    let prompt = team.model.requests().last().unwrap().prompt();
    assert!(prompt.contains("| part of on-call-rules.md, whole, lines 1–5>>\n# On-call rules"), "{prompt}");
    team.say("general", "eliza, read on in the big list").await;
    let read = team.wait_for_answers("general", 3).await.remove(2).text;
    assert_eq!(read, "big-list.txt, lines 400 to 401 of 500. To go on, read from line 402.");
}
