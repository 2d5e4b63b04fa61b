//! Parsing of request bodies. Each function checks one object against Discord's limits and returns it in its stored
//! form. Unknown keys are dropped, so request JSON is never echoed.

mod commands;
mod components;
mod embeds;
mod mentions;
mod message;
mod options;

use serde_json::{Map, Value};

pub(crate) use commands::parse_command;
pub(crate) use components::{parse_components, parse_modal};
pub(crate) use embeds::parse_embeds;
pub(crate) use mentions::AllowedMentions;
pub(crate) use message::Draft;
pub(crate) use options::{Resolved, parse_options};

use super::errors::ApiError;

/// A text of at most `max` characters as Discord counts them: code points.
pub(crate) fn parse_text(value: &Value, path: &str, max: usize) -> Result<Option<String>, ApiError> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) if text.chars().count() > max => Err(ApiError::too_long(path, max)),
        Value::String(text) => Ok(Some(text.clone())),
        // Some clients send numbers, which Discord converts to text.
        Value::Number(number) => Ok(Some(number.to_string())),
        _ => Err(ApiError::invalid(path, "STRING_TYPE_CONVERT", "Could not interpret value as string.")),
    }
}

/// A required text that is not empty.
pub(crate) fn parse_required_text(value: &Value, path: &str, max: usize) -> Result<String, ApiError> {
    parse_text(value, path, max)?.filter(|text| !text.is_empty()).ok_or_else(|| ApiError::required(path))
}

pub(crate) fn parse_list<'a>(value: &'a Value, path: &str, max: usize) -> Result<&'a [Value], ApiError> {
    match value {
        Value::Null => Ok(&[]),
        Value::Array(items) if items.len() > max => Err(ApiError::too_long(path, max)),
        Value::Array(items) => Ok(items),
        _ => Err(ApiError::invalid(path, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType.")),
    }
}

/// Copies the known keys that are set.
pub(crate) fn copy_known(from: &Value, known: &[&str]) -> Map<String, Value> {
    let set = known.iter().filter(|key| !from[**key].is_null());
    set.map(|key| ((*key).to_owned(), from[*key].clone())).collect()
}
