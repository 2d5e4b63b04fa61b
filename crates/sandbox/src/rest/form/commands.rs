//! Application commands in a registration.

use serde_json::{Map, Value, json};

use super::{copy_known, parse_list, parse_required_text};
use crate::rest::errors::ApiError;

const OPTIONS: usize = 25;
const CHOICES: usize = 25;
/// Option types: sub-command and group have options, all others have a value.
const HOLDERS: std::ops::RangeInclusive<u64> = 1..=2;
const OPTION_TYPES: std::ops::RangeInclusive<u64> = 1..=11;

/// Reads one command. The caller adds the ids.
pub(crate) fn parse_command(command: &Value, path: &str) -> Result<Map<String, Value>, ApiError> {
    let at = |key: &str| [path, key].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
    let kind = command["type"].as_u64().unwrap_or(1);
    if !(1..=3).contains(&kind) {
        return Err(ApiError::bad_choice(&at("type"), "(1, 2, 3)"));
    }
    let name = parse_required_text(&command["name"], &at("name"), 32)?;
    let mut out = Map::new();
    if kind == 1 {
        check_name(&name, &at("name"))?;
        let description = parse_required_text(&command["description"], &at("description"), 100)?;
        out.insert("description".to_owned(), json!(description));
        let options = parse_option_list(&command["options"], &at("options"), 0)?;
        if !options.is_empty() {
            out.insert("options".to_owned(), Value::Array(options));
        }
    } else {
        // Context menu commands have no description.
        out.insert("description".to_owned(), json!(""));
    }
    for (key, value) in [
        ("type", json!(kind)),
        ("name", json!(name)),
        ("name_localizations", command["name_localizations"].clone()),
        ("description_localizations", command["description_localizations"].clone()),
        ("default_member_permissions", command["default_member_permissions"].clone()),
        ("dm_permission", json!(command["dm_permission"].as_bool().unwrap_or(true))),
        ("contexts", command["contexts"].clone()),
        ("integration_types", or_default(&command["integration_types"], json!([0]))),
        ("nsfw", json!(command["nsfw"].as_bool().unwrap_or(false))),
    ] {
        out.insert(key.to_owned(), value);
    }
    Ok(out)
}

fn or_default(value: &Value, default: Value) -> Value {
    if value.is_null() { default } else { value.clone() }
}

/// "must match `^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$`". Letters must be lower case if they have a lower case.
fn check_name(name: &str, path: &str) -> Result<(), ApiError> {
    let allowed = |c: char| (c.is_alphanumeric() || "-_'".contains(c)) && (!c.is_uppercase());
    if name.chars().all(allowed) {
        return Ok(());
    }
    Err(ApiError::invalid(path, "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid"))
}

fn parse_option_list(list: &Value, path: &str, depth: u8) -> Result<Vec<Value>, ApiError> {
    let mut out: Vec<Value> = Vec::new();
    let mut optional_seen = false;
    for (index, option) in parse_list(list, path, OPTIONS)?.iter().enumerate() {
        let path = format!("{path}.{index}");
        let read = parse_option(option, &path, depth)?;
        let is_required = read["required"] == true;
        if is_required && optional_seen {
            let text = "Required options must be placed before non-required options";
            return Err(ApiError::invalid(&path, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", text));
        }
        optional_seen |= !is_required;
        if out.iter().any(|other| other["name"] == read["name"]) {
            let text = "Option name already exists in this options list";
            return Err(ApiError::invalid(&path, "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", text));
        }
        out.push(read);
    }
    Ok(out)
}

fn parse_option(option: &Value, path: &str, depth: u8) -> Result<Value, ApiError> {
    let kind = option["type"].as_u64().filter(|kind| OPTION_TYPES.contains(kind));
    let kind = kind.ok_or_else(|| ApiError::bad_choice(&format!("{path}.type"), "(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)"))?;
    // A group is allowed at the top level, a sub-command at the top level or in a group.
    if kind == 2 && depth > 0 || kind == 1 && depth > 1 {
        return Err(ApiError::bad_choice(&format!("{path}.type"), "the types that may stand here"));
    }
    let name = parse_required_text(&option["name"], &format!("{path}.name"), 32)?;
    check_name(&name, &format!("{path}.name"))?;
    let description = parse_required_text(&option["description"], &format!("{path}.description"), 100)?;
    let mut out = copy_known(option, &["min_value", "max_value", "min_length", "max_length"]);
    out.extend([("type", json!(kind)), ("name", json!(name)), ("description", json!(description))].map(|(k, v)| (k.to_owned(), v)));
    for key in ["required", "autocomplete"] {
        if option[key] == true {
            out.insert(key.to_owned(), json!(true));
        }
    }
    let choices = parse_choices(&option["choices"], &format!("{path}.choices"), kind)?;
    if !choices.is_empty() {
        if option["autocomplete"] == true {
            let text = "Choices and autocomplete cannot be used together";
            return Err(ApiError::invalid(path, "APPLICATION_COMMAND_OPTIONS_CHOICES_AUTOCOMPLETE", text));
        }
        out.insert("choices".to_owned(), Value::Array(choices));
    }
    if HOLDERS.contains(&kind) {
        // A group contains sub-commands, a sub-command contains only values.
        out.insert(
            "options".to_owned(),
            Value::Array(parse_option_list(&option["options"], &format!("{path}.options"), depth + if kind == 1 { 2 } else { 1 })?),
        );
    }
    let channel_types = parse_list(&option["channel_types"], &format!("{path}.channel_types"), 20)?;
    if !channel_types.is_empty() {
        out.insert("channel_types".to_owned(), json!(channel_types));
    }
    Ok(Value::Object(out))
}

fn parse_choices(list: &Value, path: &str, kind: u64) -> Result<Vec<Value>, ApiError> {
    let mut out = Vec::new();
    for (index, choice) in parse_list(list, path, CHOICES)?.iter().enumerate() {
        let name = parse_required_text(&choice["name"], &format!("{path}.{index}.name"), 100)?;
        let value = &choice["value"];
        let fits = match kind {
            3 => value.as_str().is_some_and(|text| text.chars().count() <= 100),
            4 => value.is_i64() || value.is_u64(),
            10 => value.is_number(),
            _ => false,
        };
        if !fits {
            return Err(ApiError::invalid(
                &format!("{path}.{index}.value"),
                "BASE_TYPE_INVALID",
                "Value does not fit the type of the option.",
            ));
        }
        out.push(json!({ "name": name, "value": value }));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_checked() {
        let with = |options: Value| json!({ "name": "ask", "description": "d", "options": options });
        let option = |name: &str, required: bool| json!({ "type": 3, "name": name, "description": "d", "required": required });
        for (command, ok) in [
            (json!({ "name": "ask", "description": "d" }), true),
            (json!({ "name": "frag-团队_1", "description": "d" }), true),
            (json!({ "name": "Ask", "description": "d" }), false),
            (json!({ "name": "a b", "description": "d" }), false),
            (json!({ "name": "", "description": "d" }), false),
            (json!({ "name": "x".repeat(33), "description": "d" }), false),
            (json!({ "name": "ask" }), false),
            (json!({ "name": "ask", "description": "d".repeat(101) }), false),
            (json!({ "name": "Show Author", "type": 3 }), true),
            (json!({ "name": "ask", "description": "d", "type": 9 }), false),
            (with(json!([option("a", true), option("b", false)])), true),
            (with(json!([option("b", false), option("a", true)])), false),
            (with(json!([option("a", true), option("a", true)])), false),
            (with(json!(vec![option("a", true); 26])), false),
            (with(json!([{ "type": 12, "name": "x", "description": "d" }])), false),
            (with(json!([{ "type": 4, "name": "x", "description": "d", "choices": [{ "name": "n", "value": "text" }] }])), false),
            (with(json!([{ "type": 1, "name": "s", "description": "d", "options": [option("a", true)] }])), true),
            (
                with(json!([{ "type": 1, "name": "s", "description": "d", "options": [{ "type": 2, "name": "g", "description": "d" }] }])),
                false,
            ),
        ] {
            assert_eq!(parse_command(&command, "").is_ok(), ok, "{command}");
        }
    }
}
