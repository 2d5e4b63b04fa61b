//! Values as servers really send them: counts as floats or texts, texts as lists of parts, arguments as objects.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// No call has more tokens. A higher count is an error of the server.
const MOST_TOKENS: u64 = 20_000_000;

/// A count of tokens. Anything else counts as zero, which means that the provider has not counted.
pub(super) fn read_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(count_of(&Value::deserialize(deserializer)?).unwrap_or_default())
}

pub(super) fn read_optional_count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(count_of(&Value::deserialize(deserializer)?))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked against the limits before")]
fn count_of(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    (number >= 0.0).then_some(number as u64).filter(|count| *count <= MOST_TOKENS)
}

/// A text, or the parts of one without those that hold reasoning. Anything else is no text.
pub(super) fn read_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let is_text = |part: &&Value| part["type"].as_str().is_none_or(|kind| matches!(kind, "text" | "output_text"));
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => Some(text),
        Value::Array(parts) => {
            Some(parts.iter().filter(is_text).filter_map(|part| part.as_str().or_else(|| part["text"].as_str())).collect())
        }
        _ => None,
    })
}

/// JSON as a text, or as a value.
pub(super) fn read_json_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => Some(text),
        value @ (Value::Object(_) | Value::Array(_)) => Some(value.to_string()),
        _ => None,
    })
}

/// A value of this type, or nothing. For the optional parts of an answer.
pub(super) fn read_if_fits<'de, D: Deserializer<'de>, T: serde::de::DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_are_read_however_they_come() {
        for (value, count) in [
            (json!(12), Some(12)),
            (json!(12.0), Some(12)),
            (json!(12.7), Some(12)),
            (json!("12"), Some(12)),
            (json!(" 12.0 "), Some(12)),
            (json!(-1), None),
            (json!(1e300), None),
            (json!("many"), None),
            (json!(null), None),
            (json!({}), None),
        ] {
            assert_eq!(count_of(&value), count, "{value}");
        }
    }
}
