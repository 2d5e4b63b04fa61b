//! Validates arguments against a tool's schema.
//!
//! Supports only the parts of JSON Schema that the tools use. Any other keyword fails every call, so that no rule is silently ignored.

use serde_json::{Map, Value};

/// Keywords without constraints.
const NOTES: [&str; 4] = ["title", "description", "default", "examples"];
/// The most characters of an unknown key in an error.
const SHOWN: usize = 40;

/// # Errors
/// The first problem, as a sentence for the model.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    check_at("the arguments", schema, value)
}

fn check_at(place: &str, schema: &Value, value: &Value) -> Result<(), String> {
    let rules = schema.as_object().ok_or_else(|| format!("the schema of {place} is no object"))?;
    // With a wrong type, further errors would be confusing.
    if let Some(wanted) = rules.get("type").filter(|wanted| !has_type(wanted, value)) {
        return Err(format!("{place}: give {}", render_type(wanted)));
    }
    rules.iter().try_for_each(|(rule, wanted)| check_rule(place, rules, (rule, wanted), value))
}

fn check_rule(place: &str, rules: &Map<String, Value>, (rule, wanted): (&str, &Value), value: &Value) -> Result<(), String> {
    let number = |fits: fn(f64, f64) -> bool| value.as_f64().is_none_or(|number| wanted.as_f64().is_some_and(|limit| fits(number, limit)));
    let length = value.as_str().map(|text| text.chars().count()).or_else(|| value.as_array().map(Vec::len));
    let counted = |fits: fn(u64, u64) -> bool| length.is_none_or(|length| wanted.as_u64().is_some_and(|limit| fits(length as u64, limit)));
    let (fits, allowed) = match rule {
        "properties" => return check_properties(rules, value),
        "required" => return check_required(wanted, value),
        "items" => {
            let mut items = value.as_array().into_iter().flatten().enumerate();
            return items.try_for_each(|(at, item)| check_at(&format!("item {} of {place}", at + 1), wanted, item));
        }
        "enum" => (wanted.as_array().is_some_and(|choices| choices.contains(value)), format!("one of {wanted}")),
        "minimum" => (number(|number, least| number >= least), format!("at least {wanted}")),
        "maximum" => (number(|number, most| number <= most), format!("at most {wanted}")),
        "minLength" => (counted(|length, least| length >= least), format!("at least {wanted} characters")),
        "maxLength" => (counted(|length, most| length <= most), format!("at most {wanted} characters")),
        "minItems" => (counted(|length, least| length >= least), format!("at least {wanted} items")),
        "maxItems" => (counted(|length, most| length <= most), format!("at most {wanted} items")),
        // Checked above, and together with `properties`.
        "type" | "additionalProperties" => return Ok(()),
        note if NOTES.contains(&note) => return Ok(()),
        unknown => return Err(format!("the schema of {place} holds the rule {unknown}, which is not checked")),
    };
    if fits { Ok(()) } else { Err(format!("{place}: give {allowed}")) }
}

/// Refuses keys that the schema does not name, even if it does not forbid them.
fn check_properties(rules: &Map<String, Value>, value: &Value) -> Result<(), String> {
    let known = rules.get("properties").and_then(Value::as_object).ok_or("the properties of the schema are no object")?;
    for (key, value) in value.as_object().into_iter().flatten() {
        let schema = known.get(key).ok_or_else(|| {
            let key: String = key.chars().take(SHOWN).collect();
            format!("there is no argument {key:?}; there are {}", known.keys().cloned().collect::<Vec<_>>().join(", "))
        })?;
        check_at(key, schema, value)?;
    }
    Ok(())
}

fn check_required(wanted: &Value, value: &Value) -> Result<(), String> {
    let names = wanted.as_array().ok_or("the required arguments of the schema are no list")?;
    let missing = names.iter().filter_map(Value::as_str).find(|name| value.get(name).is_none());
    missing.map_or(Ok(()), |name| Err(format!("{name} is missing")))
}

fn has_type(wanted: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    };
    match wanted {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => false,
    }
}

fn render_type(wanted: &Value) -> String {
    let name = |name: &str| match name {
        "object" => "an object".to_owned(),
        "array" => "a list".to_owned(),
        "string" => "a text".to_owned(),
        "integer" => "a whole number".to_owned(),
        "boolean" => "true or false".to_owned(),
        "null" => "nothing".to_owned(),
        other => format!("a {other}"),
    };
    match wanted {
        Value::Array(names) => names.iter().filter_map(Value::as_str).map(name).collect::<Vec<_>>().join(" or "),
        one => name(one.as_str().unwrap_or("value of a type that is known")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "url": {"type": "string", "minLength": 1, "maxLength": 5, "description": "Where."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 20},
                "order": {"type": ["string", "null"], "enum": ["up", "down", null]},
                "tags": {"type": "array", "items": {"type": "string", "maxLength": 3}, "maxItems": 2},
                "deep": {"type": "boolean"},
            },
            "required": ["url"],
            "additionalProperties": false,
        })
    }

    #[test]
    fn what_fits_passes() {
        for arguments in [
            json!({"url": "a"}),
            json!({"url": "ärger", "limit": 20, "order": "up", "tags": ["a", "bcd"], "deep": false}),
            json!({"url": "a", "order": null, "tags": []}),
        ] {
            assert_eq!(check(&schema(), &arguments), Ok(()), "{arguments}");
        }
        assert_eq!(check(&json!({"type": "object", "properties": {}}), &json!({})), Ok(()));
    }

    #[test]
    fn what_does_not_fit_is_told_by_name() {
        for (arguments, told) in [
            (json!("a"), "the arguments: give an object"),
            (json!(null), "the arguments: give an object"),
            (json!({}), "url is missing"),
            (json!({"url": 1}), "url: give a text"),
            (json!({"url": ""}), "url: give at least 1 characters"),
            (json!({"url": "abcdef"}), "url: give at most 5 characters"),
            (json!({"url": "a", "limit": 0}), "limit: give at least 1"),
            (json!({"url": "a", "limit": 1e99}), "limit: give a whole number"),
            (json!({"url": "a", "limit": 2.5}), "limit: give a whole number"),
            (json!({"url": "a", "limit": 21}), "limit: give at most 20"),
            (json!({"url": "a", "order": "left"}), "order: give one of [\"up\",\"down\",null]"),
            (json!({"url": "a", "order": 1}), "order: give a text or nothing"),
            (json!({"url": "a", "tags": "b"}), "tags: give a list"),
            (json!({"url": "a", "tags": ["a", 2]}), "item 2 of tags: give a text"),
            (json!({"url": "a", "tags": ["a", "b", "c"]}), "tags: give at most 2 items"),
            (json!({"url": "a", "deep": "yes"}), "deep: give true or false"),
            (json!({"url": "a", "uri": "b"}), "there is no argument \"uri\"; there are deep, limit, order, tags, url"),
        ] {
            assert_eq!(check(&schema(), &arguments), Err(told.to_owned()), "{arguments}");
        }
    }

    #[test]
    fn a_rule_that_is_not_checked_lets_nothing_through() {
        let schema = json!({"type": "object", "properties": {"path": {"type": "string", "pattern": "^a"}}});
        let refused = check(&schema, &json!({"path": "a"})).unwrap_err();
        assert_eq!(refused, "the schema of path holds the rule pattern, which is not checked");
        assert!(check(&json!({"type": "strnig"}), &json!("a")).is_err());
        assert!(check(&json!(true), &json!({})).is_err());
    }
}
