//! Buttons, select menus and modals. Layout components are stored as sent, with ids added.

use serde_json::{Map, Value, json};

use super::{copy_known, parse_list, parse_required_text, parse_text};
use crate::rest::errors::ApiError;

const ROW: u64 = 1;
const BUTTON: u64 = 2;
const TEXT_SELECT: u64 = 3;
const TEXT_INPUT: u64 = 4;
const LABEL: u64 = 18;
const ROWS: usize = 5;
const BUTTONS_PER_ROW: usize = 5;
const OPTIONS: usize = 25;
const LINK: u64 = 5;

/// Numbers components as Discord does. Some clients require an `id` on each.
#[derive(Default)]
struct Ids(u64);

impl Ids {
    fn next(&mut self) -> Value {
        self.0 += 1;
        json!(self.0)
    }
}

/// The components of a message.
pub(crate) fn parse_components(value: &Value, is_v2: bool) -> Result<Vec<Value>, ApiError> {
    let mut ids = Ids::default();
    if is_v2 {
        return Ok(parse_list(value, "components", 40)?.iter().map(|component| number(component, &mut ids)).collect());
    }
    let rows = parse_list(value, "components", ROWS)?.iter().enumerate();
    let rows: Vec<Value> = rows.map(|(index, row)| parse_row(row, &format!("components.{index}"), &mut ids)).collect::<Result<_, _>>()?;
    check_custom_ids(&rows)?;
    Ok(rows)
}

/// A modal's title, custom id and inputs.
pub(crate) fn parse_modal(data: &Value) -> Result<Value, ApiError> {
    let custom_id = parse_required_text(&data["custom_id"], "data.custom_id", 100)?;
    let title = parse_required_text(&data["title"], "data.title", 45)?;
    let mut ids = Ids::default();
    let given = parse_list(&data["components"], "data.components", ROWS)?;
    if given.is_empty() {
        return Err(ApiError::required("data.components"));
    }
    let mut components = Vec::new();
    for (index, component) in given.iter().enumerate() {
        let path = format!("data.components.{index}");
        components.push(match component["type"].as_u64() {
            Some(ROW) => parse_row(component, &path, &mut ids)?,
            Some(LABEL | 10) => number(component, &mut ids),
            _ => return Err(ApiError::bad_choice(&format!("{path}.type"), "(1, 10, 18)")),
        });
    }
    Ok(json!({ "custom_id": custom_id, "title": title, "components": components }))
}

fn parse_row(row: &Value, path: &str, ids: &mut Ids) -> Result<Value, ApiError> {
    if row["type"].as_u64() != Some(ROW) {
        return Err(ApiError::bad_choice(&format!("{path}.type"), "(1,)"));
    }
    let id = ids.next();
    let path = format!("{path}.components");
    let given = parse_list(&row["components"], &path, BUTTONS_PER_ROW)?;
    if given.is_empty() {
        return Err(ApiError::invalid(&path, "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 5 in length."));
    }
    let mut children = Vec::new();
    for (index, child) in given.iter().enumerate() {
        let path = format!("{path}.{index}");
        let is_alone = given.len() == 1;
        children.push(match child["type"].as_u64() {
            Some(BUTTON) => parse_button(child, &path, ids)?,
            Some(TEXT_INPUT) if is_alone => parse_text_input(child, &path, ids)?,
            Some(TEXT_SELECT | 5..=8) if is_alone => parse_select(child, &path, ids)?,
            _ => return Err(ApiError::bad_choice(&format!("{path}.type"), "(2, 3, 4, 5, 6, 7, 8)")),
        });
    }
    Ok(json!({ "type": ROW, "id": id, "components": children }))
}

fn parse_button(button: &Value, path: &str, ids: &mut Ids) -> Result<Value, ApiError> {
    let style = button["style"].as_u64().filter(|style| (1..=LINK).contains(style));
    let style = style.ok_or_else(|| ApiError::bad_choice(&format!("{path}.style"), "(1, 2, 3, 4, 5)"))?;
    let mut out = component(button, BUTTON, ids, &["emoji", "disabled"]);
    out.insert("style".to_owned(), json!(style));
    if style == LINK {
        out.insert("url".to_owned(), json!(parse_required_text(&button["url"], &format!("{path}.url"), 512)?));
    } else {
        out.insert("custom_id".to_owned(), json!(parse_required_text(&button["custom_id"], &format!("{path}.custom_id"), 100)?));
    }
    match parse_text(&button["label"], &format!("{path}.label"), 80)? {
        Some(label) => {
            out.insert("label".to_owned(), json!(label));
        }
        None if button["emoji"].is_null() => return Err(ApiError::required(&format!("{path}.label"))),
        None => {}
    }
    Ok(Value::Object(out))
}

fn parse_select(select: &Value, path: &str, ids: &mut Ids) -> Result<Value, ApiError> {
    let kind = select["type"].as_u64().unwrap_or(TEXT_SELECT);
    let mut out = component(select, kind, ids, &["placeholder", "disabled", "channel_types", "default_values"]);
    out.insert("custom_id".to_owned(), json!(parse_required_text(&select["custom_id"], &format!("{path}.custom_id"), 100)?));
    for key in ["min_values", "max_values"] {
        out.insert(key.to_owned(), json!(select[key].as_u64().unwrap_or(1)));
    }
    if kind == TEXT_SELECT {
        let path = format!("{path}.options");
        let given = parse_list(&select["options"], &path, OPTIONS)?;
        if given.is_empty() {
            return Err(ApiError::required(&path));
        }
        let mut options = Vec::new();
        for (index, option) in given.iter().enumerate() {
            let mut kept = copy_known(option, &["description", "emoji", "default"]);
            for key in ["label", "value"] {
                kept.insert(key.to_owned(), json!(parse_required_text(&option[key], &format!("{path}.{index}.{key}"), 100)?));
            }
            options.push(Value::Object(kept));
        }
        out.insert("options".to_owned(), Value::Array(options));
    }
    Ok(Value::Object(out))
}

fn parse_text_input(input: &Value, path: &str, ids: &mut Ids) -> Result<Value, ApiError> {
    let mut out = component(input, TEXT_INPUT, ids, &["min_length", "max_length", "required", "value", "placeholder"]);
    out.insert("custom_id".to_owned(), json!(parse_required_text(&input["custom_id"], &format!("{path}.custom_id"), 100)?));
    out.insert("label".to_owned(), json!(parse_required_text(&input["label"], &format!("{path}.label"), 45)?));
    out.insert("style".to_owned(), json!(input["style"].as_u64().unwrap_or(1)));
    Ok(Value::Object(out))
}

fn component(from: &Value, kind: u64, ids: &mut Ids, known: &[&str]) -> Map<String, Value> {
    let mut out = Map::from_iter([("type".to_owned(), json!(kind)), ("id".to_owned(), ids.next())]);
    out.extend(copy_known(from, known));
    out
}

/// Adds ids to a layout component and its children, and drops null keys.
fn number(component: &Value, ids: &mut Ids) -> Value {
    let Some(given) = component.as_object() else { return component.clone() };
    let mut out = Map::from_iter([("id".to_owned(), ids.next())]);
    for (key, value) in given.iter().filter(|(key, value)| !value.is_null() && *key != "id") {
        let value = match key.as_str() {
            "components" => value.as_array().map(|all| all.iter().map(|inner| number(inner, ids)).collect()).unwrap_or_default(),
            "component" | "accessory" => number(value, ids),
            _ => value.clone(),
        };
        out.insert(key.clone(), value);
    }
    Value::Object(out)
}

/// Each custom id must be unique in its message.
fn check_custom_ids(rows: &[Value]) -> Result<(), ApiError> {
    let mut seen = std::collections::HashSet::new();
    let children = rows.iter().filter_map(|row| row["components"].as_array()).flatten();
    for id in children.filter_map(|child| child["custom_id"].as_str()) {
        if !seen.insert(id) {
            let text = "Component custom id cannot be duplicated";
            return Err(ApiError::invalid("components", "COMPONENT_CUSTOM_ID_DUPLICATED", text));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(children: &Value) -> Value {
        json!([{ "type": 1, "components": children }])
    }

    #[test]
    fn components_are_checked() {
        let button = json!({ "type": 2, "style": 1, "custom_id": "a", "label": "A" });
        let link = json!({ "type": 2, "style": 5, "url": "https://example.com", "label": "L" });
        let select = json!({ "type": 3, "custom_id": "s", "options": [{ "label": "x", "value": "x" }] });
        for (components, ok) in [
            (row(&json!([button, link])), true),
            (row(&json!([select])), true),
            (row(&json!([button, select])), false),
            (row(&json!([button, button])), false),
            (row(&json!([])), false),
            (row(&json!([{ "type": 2, "style": 9, "custom_id": "a", "label": "A" }])), false),
            (row(&json!([{ "type": 2, "style": 1, "label": "A" }])), false),
            (row(&json!([{ "type": 2, "style": 1, "custom_id": "x".repeat(101), "label": "A" }])), false),
            (row(&json!([{ "type": 3, "custom_id": "s", "options": [] }])), false),
            (json!([button]), false),
            (json!(vec![json!({ "type": 1, "components": [link] }); 6]), false),
        ] {
            assert_eq!(parse_components(&components, false).is_ok(), ok, "{components}");
        }
    }

    #[test]
    fn every_component_gets_an_id() {
        let read = parse_components(&row(&json!([{ "type": 2, "style": 5, "url": "u", "label": "L" }])), false).expect("valid");
        assert_eq!((&read[0]["id"], &read[0]["components"][0]["id"]), (&json!(1), &json!(2)));
    }
}
