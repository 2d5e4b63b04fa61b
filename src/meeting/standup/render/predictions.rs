//! Calls and how they turned out, for `/predictions` (STAND-12).

use std::fmt::Write as _;

use chrono::{DateTime, Utc};

use crate::domain::prediction::{Band, Prediction, Scoreboard, Settled, Verdict};

use super::medium::Medium;
use super::words;

/// The most settled predictions that are listed; all count in the scoreboard.
const SETTLED: usize = 10;
const QUESTION: usize = 160;

/// Open predictions, the one that is settled next first, then the last settled ones and the scoreboard.
pub fn render_predictions(predictions: &[Prediction], scoreboard: &Scoreboard, now: DateTime<Utc>) -> String {
    if predictions.is_empty() {
        return "There are no predictions yet: a standup with an essential question makes one.".to_owned();
    }
    let (mut open, mut settled) = (Vec::new(), Vec::new());
    for prediction in predictions {
        match &prediction.settled {
            None => open.push(prediction),
            Some(outcome) => settled.push((prediction, outcome)),
        }
    }
    open.sort_by_key(|prediction| prediction.expires_at);
    settled.sort_by_key(|(_, outcome)| std::cmp::Reverse(outcome.at));
    let mut text = String::new();
    if !open.is_empty() {
        text.push_str("**Open**\n");
    }
    for prediction in open {
        let due = if prediction.expires_at <= now { "is being settled, was due" } else { "is settled" };
        let _ = writeln!(text, "- {}; {due} {}", render_call(prediction), words::time(prediction.expires_at));
    }
    if !settled.is_empty() {
        text.push_str("**Settled**\n");
    }
    for (prediction, outcome) in settled.iter().take(SETTLED) {
        let _ = writeln!(text, "- {} · {}", render_outcome(outcome), render_call(prediction));
    }
    if settled.len() > SETTLED {
        let _ = writeln!(text, "- and {} more", settled.len() - SETTLED);
    }
    format!("{text}\n{}", render_scoreboard(scoreboard))
}

/// The scoreboard in words, with a table that holds how sure calls were against how often they were right.
pub fn render_scoreboard(scoreboard: &Scoreboard) -> String {
    let mut text = format!("Scoreboard: {}\n", scoreboard.in_words());
    let bands: Vec<&Band> = scoreboard.bands.iter().filter(|band| band.calls > 0).collect();
    if !bands.is_empty() {
        text.push_str("\n| how sure | calls | right | share |\n| --- | ---: | ---: | ---: |\n");
    }
    for band in bands {
        let share = words::percent(f64::from(band.hits) / f64::from(band.calls));
        // The upper border belongs to the next band, except for the last one.
        let upper = if band.to >= 100 { 100 } else { band.to - 1 };
        let _ = writeln!(text, "| {}–{upper} % | {} | {} | {share} |", band.from, band.calls, band.hits);
    }
    text.trim_end().to_owned()
}

fn render_call(prediction: &Prediction) -> String {
    let call = &prediction.call;
    let question = Medium::Chat.line_within(&prediction.question, QUESTION);
    let (answer, sure) = (words::answer(call.answer), words::percent(call.confidence));
    format!("{question} **{answer}**, {sure} sure ({}), made {}", Medium::Chat.line(&prediction.rule.describe()), words::time(prediction.made_at))
}

fn render_outcome(settled: &Settled) -> String {
    let verdict = match settled.verdict {
        Verdict::Hit => "**right**",
        Verdict::Miss => "**wrong**",
        Verdict::Uncalled => "**no call**",
        Verdict::Void => "**void**",
    };
    let value = settled.value.map(|value| format!(" at {}", words::number(value))).unwrap_or_default();
    let note = Medium::Chat.line_within(&settled.note, QUESTION);
    let note = if note.is_empty() { note } else { format!(" ({note})") };
    format!("{verdict}{value}{note}")
}
