use serde::de::IgnoredAny;

use crate::features::meeting::model::Contribution;
use crate::features::meeting::signal;
use crate::features::meeting::signal::Signal;
use kernel::agent::{Reply, RunError};
use kernel::chat::medium::Medium;
use kernel::text::is_invisible;

/// Splits an answer into text, signals and format errors.
pub(super) fn read_answer(reply: &Reply, cap: usize) -> Result<Contribution, RunError> {
    let parsed = signal::parse_report(&reply.text);
    let mut problems = parsed.problems;
    let mut text = parsed.text;
    if let Some(error) = &reply.broke_off {
        problems.push(format!("the answer broke off: {error}"));
        // If the signals have begun, the text before them is complete.
        if !reply.text.contains("```signals") {
            text = whole_sentences(&text).to_owned();
        }
    }
    if !holds_words(&text) && !parsed.signals.is_empty() {
        problems.push("the answer held signals and no words".into());
        text = parsed.signals.iter().map(in_words).collect::<Vec<_>>().join("\n");
    }
    if !holds_words(&text) {
        return Err(reply.broke_off.clone().map_or(RunError::Nothing, RunError::from));
    }
    Ok(Contribution {
        text: signal::cut_at_sentence(&text, cap),
        signals: parsed.signals,
        model: reply.model.clone(),
        usage: reply.usage,
        partial: reply.broke_off.is_some(),
        problems,
        details: None,
    })
}

/// A signal as text.
fn in_words(signal: &Signal) -> String {
    let evidence = signal.evidence.as_ref().map_or(String::new(), |found| format!(" ({} {})", found.feed, found.value));
    format!("- {}", Medium::Chat.line(&format!("{}: {}{evidence}", signal.subject, signal.direction.as_str())))
}

/// Whether the answer contains text for people. Some models refuse with bare JSON, which is no report.
fn holds_words(text: &str) -> bool {
    let words = text.trim().trim_matches('`').trim_start_matches("json").trim();
    let is_json = words.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(words).is_ok();
    !is_json && words.chars().any(|c| c.is_alphanumeric() && !is_invisible(c))
}

/// The text up to its last complete sentence or line. A full stop after a digit at the very end may be a decimal point.
pub(super) fn whole_sentences(text: &str) -> &str {
    let mut end = 0;
    let mut before = ' ';
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let follows = chars.peek().map(|(_, next)| *next);
        let ends_sentence =
            matches!(c, '.' | '!' | '?' | '…') && follows.map_or(!(c == '.' && before.is_ascii_digit()), char::is_whitespace);
        if ends_sentence || c == '\n' {
            end = at + c.len_utf8();
        }
        before = c;
    }
    text[..end].trim_end()
}
