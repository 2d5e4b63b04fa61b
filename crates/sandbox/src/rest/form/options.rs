//! The option values that a person enters.

use serde_json::{Map, Value, json};

use crate::rest::errors::ApiError;
use crate::snowflake::Snowflake;

/// The objects that option values refer to by id.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    pub(crate) users: Vec<Snowflake>,
    pub(crate) channels: Vec<Snowflake>,
    pub(crate) roles: Vec<Snowflake>,
    pub(crate) attachments: Vec<Snowflake>,
}

/// Checks the given options against those that the command declares.
///
/// During autocomplete (`is_partial`), required options may be missing and values may be invalid.
pub(crate) fn parse_options(declared: &Value, given: &Value, is_partial: bool, resolved: &mut Resolved) -> Result<Vec<Value>, ApiError> {
    let empty = Vec::new();
    let declared = declared.as_array().unwrap_or(&empty);
    let given = given.as_array().unwrap_or(&empty);
    let mut out = Vec::new();
    for (index, option) in given.iter().enumerate() {
        let path = format!("data.options.{index}");
        let declared = declared.iter().find(|declared| declared["name"] == option["name"]);
        let declared = declared
            .ok_or_else(|| ApiError::invalid(&path, "INTERACTION_APPLICATION_COMMAND_OPTION_UNKNOWN", "The command has no such option."))?;
        let mut read = Map::from_iter([("name".to_owned(), declared["name"].clone()), ("type".to_owned(), declared["type"].clone())]);
        if let Some(1 | 2) = declared["type"].as_u64() {
            let inner = parse_options(&declared["options"], &option["options"], is_partial, resolved)?;
            read.insert("options".to_owned(), Value::Array(inner));
        } else {
            let is_focused = is_partial && option["focused"] == true;
            let value = if is_focused { option["value"].clone() } else { parse_value(declared, &option["value"], &path, resolved)? };
            read.insert("value".to_owned(), value);
            if is_focused {
                read.insert("focused".to_owned(), json!(true));
            }
        }
        out.push(Value::Object(read));
    }
    let is_branch = |option: &Value| matches!(option["type"].as_u64(), Some(1 | 2));
    if !is_partial && declared.iter().any(is_branch) && out.len() != 1 {
        // A command with sub-commands cannot be used itself. Exactly one sub-command must be given.
        return Err(ApiError::required("data.options"));
    }
    let is_given = |name: &Value| given.iter().any(|option| option["name"] == *name);
    let missing = declared.iter().find(|declared| declared["required"] == true && !is_given(&declared["name"]));
    match missing {
        Some(missing) if !is_partial => Err(ApiError::required(&format!("data.options.{}", missing["name"].as_str().unwrap_or_default()))),
        _ => Ok(out),
    }
}

fn parse_value(declared: &Value, value: &Value, path: &str, resolved: &mut Resolved) -> Result<Value, ApiError> {
    let wrong = || ApiError::invalid(&format!("{path}.value"), "BASE_TYPE_INVALID", "Value does not fit the type of the option.");
    let id = || serde_json::from_value::<Snowflake>(value.clone()).map_err(|_| wrong());
    let value = match declared["type"].as_u64() {
        Some(3) => {
            let text = value.as_str().ok_or_else(wrong)?;
            check_length(declared, text, path)?;
            json!(text)
        }
        Some(4) if value.is_i64() || value.is_u64() => check_range(declared, value, path)?,
        Some(10) if value.is_number() => check_range(declared, value, path)?,
        Some(5) if value.is_boolean() => value.clone(),
        Some(6 | 9) => {
            resolved.users.push(id()?);
            json!(id()?)
        }
        Some(7) => {
            resolved.channels.push(id()?);
            json!(id()?)
        }
        Some(8) => {
            resolved.roles.push(id()?);
            json!(id()?)
        }
        Some(11) => {
            resolved.attachments.push(id()?);
            json!(id()?)
        }
        _ => return Err(wrong()),
    };
    match declared["choices"].as_array() {
        Some(choices) if choices.iter().all(|choice| choice["value"] != value) => Err(wrong()),
        _ => Ok(value),
    }
}

fn check_length(declared: &Value, text: &str, path: &str) -> Result<(), ApiError> {
    let length = text.chars().count() as u64;
    let (min, max) = (declared["min_length"].as_u64().unwrap_or(0), declared["max_length"].as_u64().unwrap_or(6_000));
    if (min..=max).contains(&length) {
        return Ok(());
    }
    let text = format!("Must be between {min} and {max} in length.");
    Err(ApiError::invalid(&format!("{path}.value"), "BASE_TYPE_BAD_LENGTH", &text))
}

fn check_range(declared: &Value, value: &Value, path: &str) -> Result<Value, ApiError> {
    let number = value.as_f64().unwrap_or(f64::NAN);
    let too_small = declared["min_value"].as_f64().is_some_and(|min| number < min);
    let too_large = declared["max_value"].as_f64().is_some_and(|max| number > max);
    if too_small || too_large {
        return Err(ApiError::invalid(&format!("{path}.value"), "NUMBER_TYPE_RANGE", "Value is out of range."));
    }
    Ok(value.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_what_the_command_declares() {
        let declared = json!([
            { "type": 3, "name": "q", "required": true, "min_length": 2, "max_length": 4 },
            { "type": 4, "name": "n", "max_value": 9 },
            { "type": 3, "name": "c", "choices": [{ "name": "A", "value": "a" }] },
            { "type": 6, "name": "who" },
        ]);
        for (given, ok) in [
            (json!([{ "name": "q", "value": "abc" }]), true),
            (json!([]), false),
            (json!([{ "name": "q", "value": "a" }]), false),
            (json!([{ "name": "q", "value": "abcde" }]), false),
            (json!([{ "name": "q", "value": 7 }]), false),
            (json!([{ "name": "q", "value": "abc" }, { "name": "n", "value": 9 }]), true),
            (json!([{ "name": "q", "value": "abc" }, { "name": "n", "value": 10 }]), false),
            (json!([{ "name": "q", "value": "abc" }, { "name": "n", "value": 1.5 }]), false),
            (json!([{ "name": "q", "value": "abc" }, { "name": "c", "value": "a" }]), true),
            (json!([{ "name": "q", "value": "abc" }, { "name": "c", "value": "b" }]), false),
            (json!([{ "name": "q", "value": "abc" }, { "name": "who", "value": "12" }]), true),
            (json!([{ "name": "q", "value": "abc" }, { "name": "who", "value": "kelly" }]), false),
            (json!([{ "name": "q", "value": "abc" }, { "name": "other", "value": 1 }]), false),
        ] {
            assert_eq!(parse_options(&declared, &given, false, &mut Resolved::default()).is_ok(), ok, "{given}");
        }
    }

    #[test]
    fn one_sub_command_has_to_be_chosen() {
        let leaf = |name: &str| json!({ "type": 1, "name": name });
        let declared = json!([leaf("show"), { "type": 2, "name": "item", "options": [leaf("add"), leaf("drop")] }]);
        for (given, ok) in [
            (json!([{ "name": "show" }]), true),
            (json!([]), false),
            (Value::Null, false),
            (json!([{ "name": "show" }, { "name": "item", "options": [{ "name": "add" }] }]), false),
            (json!([{ "name": "item", "options": [{ "name": "add" }] }]), true),
            (json!([{ "name": "item" }]), false),
        ] {
            assert_eq!(parse_options(&declared, &given, false, &mut Resolved::default()).is_ok(), ok, "{given}");
        }
        assert!(parse_options(&declared, &json!([]), true, &mut Resolved::default()).is_ok(), "while typing");
    }

    #[test]
    fn half_typed_options_may_not_fit_yet() {
        let declared = json!([{ "type": 4, "name": "n", "autocomplete": true }, { "type": 3, "name": "q", "required": true }]);
        let given = json!([{ "name": "n", "value": "1x", "focused": true }]);
        let read = parse_options(&declared, &given, true, &mut Resolved::default()).expect("partial");
        assert_eq!(read[0]["focused"], true);
    }
}
