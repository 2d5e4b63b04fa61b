//! `teamroom trace`: the history of a message and of an item, for people and as JSON.

use std::process::Command;

use secrecy::ExposeSecret;
use serde_json::Value;

use crate::support::team::{Backing, TestTeam, Wanted, on_one_store};

on_one_store!(what_happened_is_read_from_the_log);

pub(crate) fn trace(team: &TestTeam, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_teamroom"));
    command.args(args).current_dir(team.dir.path()).env_clear();
    let output = command.env("DATABASE_URL", team.config.database_url.expose_secret()).output().expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Checks that each of these texts is in a line after that of the one before.
pub(crate) fn assert_order(told: &str, expected: &[&str]) {
    let mut lines = told.lines();
    for part in expected {
        assert!(lines.any(|line| line.contains(part)), "{part} is missing, or not in this order:\n{told}");
    }
}

async fn what_happened_is_read_from_the_log(backing: Backing) {
    let team = Wanted::on(backing).start().await;
    let message = team.say("general", "vince, how are you?").await;
    team.wait_for_answers("general", 1).await;
    team.settle().await;
    let told = trace(&team, &["trace", &message]).expect("a trace");
    assert_order(
        &told,
        &[
            " UTC",
            &format!("message {message} in #general by"),
            "decided: vince (named first in the text)",
            "vince begins turn",
            "vince answers, answered after 1 attempt",
            "answer by vince: sent as ",
        ],
    );
    let lines: Vec<Value> = serde_json::from_str(&trace(&team, &["trace", &message, "--json"]).expect("a trace")).expect("JSON");
    assert!(lines.len() >= 5 && lines.iter().all(|line| line["at"].is_string() && line["text"].is_string()), "{lines:?}");

    let added = trace(&team, &["backlog", "add", "Ask the landlord", "--json"]).expect("an item");
    let added: Value = serde_json::from_str(&added).expect("JSON");
    let id = added["item"]["id"].as_str().expect("an id").to_owned();
    let short = &id[id.len() - 6..];
    for asked in [&id, short, &format!("#{short}")] {
        assert_order(&trace(&team, &["trace", asked]).expect("a trace"), &[&format!("item #{short}: Ask the landlord"), "  new"]);
    }

    let unknown = trace(&team, &["trace", "nothing-of-this-name"]).expect_err("a complaint");
    assert!(unknown.contains("nothing is known of nothing-of-this-name"), "{unknown}");
}
