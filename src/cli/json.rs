//! The JSON of commands, for programs: one object or list, in one style.

use serde_json::{Map, Value};

/// Takes the marks out that only Rust needs: `{"Ok": value}` becomes the value, and `{"Err": "why"}` becomes `{"error": "why"}`.
pub(super) fn without_wrappers(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(without_wrappers).collect(),
        Value::Object(fields) => without_wrapper(fields),
        plain => plain,
    }
}

fn without_wrapper(fields: Map<String, Value>) -> Value {
    let is_wrapper = fields.len() == 1;
    let mut plain = Map::new();
    for (key, value) in fields {
        match key.as_str() {
            "Ok" if is_wrapper => return without_wrappers(value),
            "Err" if is_wrapper => drop(plain.insert("error".to_owned(), without_wrappers(value))),
            _ => drop(plain.insert(key, without_wrappers(value))),
        }
    }
    Value::Object(plain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_is_its_value_or_its_error() {
        let of_rust =
            json!({ "call": { "Ok": { "subject": "sales" } }, "feeds": [{ "outcome": { "Err": "it is away" } }], "day": "2026-03-31" });
        let plain = json!({ "call": { "subject": "sales" }, "feeds": [{ "outcome": { "error": "it is away" } }], "day": "2026-03-31" });
        assert_eq!(without_wrappers(of_rust), plain);
        assert_eq!(without_wrappers(json!({ "Ok": 1, "more": 2 })), json!({ "Ok": 1, "more": 2 }));
    }
}
