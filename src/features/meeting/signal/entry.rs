//! Parses one signal leniently.

use serde_json::{Map, Value};

use crate::features::meeting::signal::{Direction, Evidence, Signal};
use kernel::text::{flatten, one_line};

/// The most characters of a subject and a feed's name.
const SUBJECT: usize = 60;
/// The most characters of a feed's value.
const VALUE: usize = 80;
/// A signal is one line. Longer text is not parsed.
const LONGEST: usize = 4000;
/// The confidence if none is given: too low for a hint.
const UNSAID: f64 = 0.5;

/// Words for each direction.
const DIRECTIONS: [(Direction, &[&str]); 5] = [
    (
        Direction::Up,
        &["up", "upward", "upwards", "rising", "rise", "rose", "increase", "increasing", "increased", "higher", "growing", "grew"],
    ),
    (
        Direction::Down,
        &["down", "downward", "downwards", "falling", "fall", "fell", "decrease", "decreasing", "decreased", "lower", "shrinking"],
    ),
    (Direction::Flat, &["flat", "stable", "steady", "unchanged", "neutral", "same", "constant", "sideways", "none"]),
    (Direction::Good, &["good", "positive", "improving", "improved", "better", "healthy", "green", "ok"]),
    (Direction::Bad, &["bad", "negative", "worsening", "worsened", "worse", "unhealthy", "red", "degrading", "degraded", "critical"]),
];

const CONFIDENCES: [(&str, f64); 6] =
    [("very high", 0.9), ("certain", 0.95), ("high", 0.8), ("medium", 0.5), ("moderate", 0.5), ("low", 0.3)];

/// The signal with a note about format errors, or why it is invalid.
pub(super) fn parse_entry(written: &str) -> Result<(Signal, Option<String>), String> {
    let fields = parse_object(written).ok_or_else(|| format!("a signal is no JSON object: {}", flatten(written, 60)))?;
    let subject = ["subject", "topic"].iter().find_map(|key| fields.get(*key)).and_then(plain_text).map(|text| one_line(&text, SUBJECT));
    let subject = subject.filter(|subject| subject.chars().any(char::is_alphanumeric)).ok_or("a signal has no subject")?;
    let direction = fields.get("direction").or_else(|| fields.get("trend")).and_then(plain_text);
    let direction = direction.ok_or_else(|| format!("the signal on {subject} has no direction"))?;
    let direction = parse_direction(&direction)
        .ok_or_else(|| format!("the signal on {subject} goes {:?}; directions are up, down, flat, good, bad", flatten(&direction, 20)))?;
    let (confidence, problem) = match fields.get("confidence").filter(|given| !given.is_null()) {
        None => (UNSAID, Some(format!("the signal on {subject} has no confidence; it is taken as {UNSAID}"))),
        Some(given) => {
            let said = plain_text(given).unwrap_or_default();
            let confidence = parse_confidence(given);
            (confidence.ok_or_else(|| format!("the signal on {subject} is {:?} sure; give 0 to 1", flatten(&said, 20)))?, None)
        }
    };
    let evidence = fields.get("evidence").and_then(find_evidence);
    Ok((Signal { subject, direction, confidence, evidence }, problem))
}

/// Parses YAML, a superset of JSON: keys and words may be unquoted, and a trailing comma is allowed.
fn parse_object(written: &str) -> Option<Map<String, Value>> {
    if written.len() > LONGEST {
        return None;
    }
    let value = serde_json::from_str(written).or_else(|_| serde_saphyr::from_str::<Value>(written).map_err(drop));
    let Ok(Value::Object(fields)) = value else { return None };
    Some(fields.into_iter().map(|(key, value)| (key.to_lowercase(), value)).collect())
}

fn plain_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn parse_direction(text: &str) -> Option<Direction> {
    let text = text.to_lowercase();
    let arrow = text.trim().chars().next().and_then(|first| match first {
        '↑' | '↗' | '▲' | '⬆' | '+' => Some(Direction::Up),
        '↓' | '↘' | '▼' | '⬇' | '-' => Some(Direction::Down),
        '→' | '↔' | '➡' | '=' => Some(Direction::Flat),
        _ => None,
    });
    let word = text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default();
    arrow.or_else(|| DIRECTIONS.iter().find(|(_, words)| words.contains(&word)).map(|(direction, _)| *direction))
}

/// From 0 to 1 or in percent; a number, text or words.
fn parse_confidence(given: &Value) -> Option<f64> {
    let text = plain_text(given)?.trim().to_lowercase();
    let word = CONFIDENCES.iter().find(|(word, _)| text == *word).map(|(_, confidence)| *confidence);
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let percent = text.strip_suffix('%').and_then(number).map(|percent| percent / 100.0);
    let plain = || number(&text).map(|number| if number > 1.0 { number / 100.0 } else { number });
    word.or(percent).or_else(plain).filter(|confidence| (0.0..=1.0).contains(confidence))
}

/// Evidence without a feed is ignored.
fn find_evidence(given: &Value) -> Option<Evidence> {
    let (feed, value) = match given {
        Value::Object(fields) => {
            let feed = fields.get("feed").or_else(|| fields.get("source")).and_then(plain_text)?;
            let value = fields.get("value").and_then(plain_text).unwrap_or_default();
            let unit = fields.get("unit").and_then(plain_text).unwrap_or_default();
            (feed, format!("{value} {unit}"))
        }
        Value::Array(several) => return several.iter().find_map(find_evidence),
        Value::String(text) => {
            let (feed, value) = text.split_once([':', '=']).unwrap_or((text, ""));
            (feed.to_owned(), value.to_owned())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    let evidence = Evidence { feed: one_line(&feed, SUBJECT), value: one_line(&value, VALUE) };
    (!evidence.feed.is_empty()).then_some(evidence)
}
