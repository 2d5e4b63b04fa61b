//! The rules that reports are read by, in one place until `domain` has them.

use chrono::{DateTime, Utc};

use super::QuestionAsked;
use crate::domain::ids::PersonaSlug;
use crate::domain::prediction::{Answer, Call, Scoreboard};
use crate::domain::signal::{ParsedReport, Signal};

pub(super) fn parse_report(answer: &str) -> ParsedReport {
    let (text, block) = answer.split_once("```signals").unwrap_or((answer, ""));
    let json = block.split("```").next().unwrap_or_default();
    let read = if json.trim().is_empty() { Ok(Vec::new()) } else { serde_json::from_str::<Vec<Signal>>(json) };
    let problems = read.as_ref().err().map(|error| format!("signals: {error}"));
    ParsedReport { text: text.trim().to_owned(), signals: read.unwrap_or_default(), problems: problems.into_iter().collect() }
}

pub(super) fn cut_at_sentence(text: &str, cap: usize) -> String {
    if text.chars().count() <= cap {
        return text.to_owned();
    }
    let start: String = text.chars().take(cap).collect();
    let end = start.rfind(['.', '!', '?', '\n']).map_or(start.len(), |at| at + 1);
    start[..end].trim_end().to_owned()
}

pub(super) fn call_by_rule(question: &QuestionAsked<'_>, _made_at: DateTime<Utc>, by: &PersonaSlug) -> Call {
    Call { by: by.clone(), answer: Answer::Uncertain, confidence: 0.5, reason: format!("It is {} now.", question.base), model: None }
}

pub(super) fn scoreboard_in_words(scoreboard: &Scoreboard) -> String {
    format!("{} hits, {} misses", scoreboard.hits, scoreboard.misses)
}

pub(super) fn describe(question: &QuestionAsked<'_>) -> String {
    format!("{} {} against {}", question.rule.feed, question.rule.value, question.rule.threshold)
}
