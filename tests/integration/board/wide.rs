//! Five speakers in five rounds: what a round costs apart from the model, and how large the prompts are (BOARD-11).

use std::time::Instant;

use serde_json::{Value as Json, json};
use teamroom::features::meeting::model::MeetingState;

use super::stage::{Play, comes_to, command, comment, is_turn, open, speaker_of, turn};
use crate::backlog::stage::Setting;
use crate::support::team::{Backing, on_one_store};

on_one_store!(five_speakers_in_five_rounds_are_told_only_what_is_new_to_them);

const SUBJECTS: [&str; 5] = ["foundation", "plumbing", "roofing", "insulation", "electricity"];
const FINDINGS: [&str; 5] = ["cracks along", "moisture behind", "corrosion under", "draughts around", "vibrations inside"];

/// Each speaker always has something new, and answers the speaker before.
fn lines(who: &str, round: u32) -> Json {
    let place = ["Echo", "Eliza", "Oracle", "Solus", "Vince"].iter().position(|name| *name == who).unwrap_or_default();
    let (subject, finding) = (SUBJECTS[place], FINDINGS[round as usize - 1]);
    let text = |number: usize| {
        format!(
            "{who} inspected the {subject} and found {finding} section {round}{place}{number}, which would take {} days to repair with the crew of last year.",
            100 * round as usize + 10 * number + place
        )
    };
    let answers = (round > 1).then(|| format!("{}.{}.1", round - 1, (place + 1) % 5 + 1));
    turn(who, &[comment("detail", &text(1), answers.as_deref()), comment("risk", &text(2), None), comment("alternative", &text(3), None)])
}

async fn five_speakers_in_five_rounds_are_told_only_what_is_new_to_them(backing: Backing) {
    let stage = open(Setting::on(backing), Play::with_lines(lines)).await;
    let started = Instant::now();
    command(&stage, "create", &[("topic", json!("Which house should we buy?")), ("team", json!("echo, eliza, oracle, solus, vince"))])
        .await;
    let meeting = comes_to(&stage.store, MeetingState::Done).await;
    let took = started.elapsed();
    let asked = stage.team.model.requests();
    let turns: Vec<_> = asked.iter().filter(|asked| is_turn(asked)).collect();
    assert_eq!(turns.len(), 25);
    // Counts the comments that prompts tell as new, and all comments that others have made by then.
    let (mut told, mut all) = (0, 0);
    for asked in &turns {
        let (prompt, (who, round)) = (asked.prompt(), speaker_of(asked));
        if round == 1 {
            continue;
        }
        let block = prompt.split("| new to you>>").nth(1).and_then(|rest| rest.split("<<end").next()).unwrap_or_default();
        told += block.trim().lines().count();
        let before = turns.iter().take_while(|other| !std::ptr::eq(**other, *asked)).filter(|other| speaker_of(other).0 != who);
        all += before.count() * 3;
    }
    let longest = turns.iter().map(|asked| asked.prompt().len()).max().unwrap();
    println!(
        "five by five: {} ms in all, {} ms a round, longest prompt {longest} bytes, {told} of {all} comments told",
        took.as_millis(),
        took.as_millis() / 5
    );
    // 45,000 bytes are fewer than 15,000 tokens, because a token has more than three bytes.
    assert!(longest < 45_000, "{longest}");
    assert!(told * 10 <= all * 7, "{told} of {all}");
    assert_eq!(meeting.closings, 1);
}
