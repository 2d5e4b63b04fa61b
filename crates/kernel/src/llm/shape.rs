//! A JSON schema in the few words that a model needs: its fields, what they mean, and what they may be. The schema itself goes with the request, for
//! servers that hold the model to it, and needs no words there.

use serde_json::{Map, Value};

/// The keywords that a shape shows, or that a model need not see.
const KNOWN: [&str; 19] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "title",
    "description",
    "default",
    "format",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

/// The keywords that only a reader needs.
const WORDS: [&str; 4] = ["description", "title", "default", "format"];

/// The schema as a shape.
pub(super) fn describe(schema: &Value) -> String {
    write(schema, 0)
}

/// The schema without words for readers.
pub(super) fn without_words(schema: &Value) -> Value {
    let Value::Object(rules) = schema else { return schema.clone() };
    let kept = rules.iter().filter(|(rule, _)| !WORDS.contains(&rule.as_str())).map(|(rule, value)| {
        let value = match (rule.as_str(), value) {
            // These keys are names and not keywords.
            ("properties", Value::Object(fields)) => {
                Value::Object(fields.iter().map(|(name, schema)| (name.clone(), without_words(schema))).collect())
            }
            ("items", schema) => without_words(schema),
            ("anyOf" | "oneOf" | "allOf", Value::Array(choices)) => choices.iter().map(without_words).collect(),
            (_, other) => other.clone(),
        };
        (rule.clone(), value)
    });
    Value::Object(kept.collect())
}

fn write(schema: &Value, depth: usize) -> String {
    // Nothing that a shape cannot show is lost.
    let Some(rules) = schema.as_object().filter(|rules| rules.keys().all(|rule| KNOWN.contains(&rule.as_str()))) else {
        return schema.to_string();
    };
    let list = |rule: &str| rules.get(rule).and_then(Value::as_array);
    if let Some(fields) = rules.get("properties").and_then(Value::as_object) {
        write_fields(rules, fields, depth)
    } else if let Some(value) = rules.get("const") {
        value.to_string()
    } else if let Some(values) = list("enum") {
        join(values.iter().map(ToString::to_string))
    } else if let Some(choices) = list("anyOf").or_else(|| list("oneOf")) {
        join(choices.iter().map(|choice| write_choice(choice, depth)))
    } else if let Some(items) = rules.get("items") {
        format!("[{}, …]{}", write(items, depth), limits(rules, "minItems", "maxItems"))
    } else {
        let kind = match rules.get("type") {
            Some(Value::String(name)) => name.clone(),
            Some(Value::Array(names)) => join(names.iter().filter_map(Value::as_str).map(str::to_owned)),
            _ => "any value".to_owned(),
        };
        kind + &limits(rules, "minimum", "maximum") + &limits(rules, "minLength", "maxLength")
    }
}

fn join(choices: impl Iterator<Item = String>) -> String {
    choices.collect::<Vec<_>>().join(" | ")
}

/// A named value has its meaning in brackets.
fn write_choice(choice: &Value, depth: usize) -> String {
    let meaning = find_words(choice).filter(|_| choice.get("const").is_some());
    write(choice, depth) + &meaning.map_or(String::new(), |meaning| format!(" ({meaning})"))
}

fn write_fields(rules: &Map<String, Value>, fields: &Map<String, Value>, depth: usize) -> String {
    let required = rules.get("required").and_then(Value::as_array);
    let lines = fields.iter().map(|(name, schema)| {
        let is_required = required.is_some_and(|names| names.iter().any(|known| known == name));
        let optional = if is_required { "" } else { "?" };
        let meaning = find_words(schema).map_or(String::new(), |meaning| format!(" // {meaning}"));
        format!("{}{name:?}{optional}: {},{meaning}\n", " ".repeat(depth + 1), write(schema, depth + 1))
    });
    format!("{{\n{}{}}}", lines.collect::<String>(), " ".repeat(depth))
}

fn find_words(schema: &Value) -> Option<String> {
    let words = schema.get("description")?.as_str()?;
    Some(words.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// ` (1 to 5)`
fn limits(rules: &Map<String, Value>, least: &str, most: &str) -> String {
    match (rules.get(least), rules.get(most)) {
        (Some(least), Some(most)) => format!(" ({least} to {most})"),
        (Some(least), None) => format!(" ({least} or more)"),
        (None, Some(most)) => format!(" ({most} at most)"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "title": "Given",
            "type": "object",
            "properties": {
                "title": {"type": "string", "description": "At most\n ten words."},
                "kind": {"oneOf": [
                    {"const": "risk", "type": "string", "description": "What may go wrong."},
                    {"const": "detail", "type": "string"},
                ]},
                "scores": {"type": "array", "items": {
                    "type": "object",
                    "properties": {"number": {"type": "integer", "minimum": 1, "maximum": 5, "format": "uint8"}},
                    "required": ["number"],
                }},
                "tone": {"enum": ["dry", "warm"], "default": "dry"},
                "until": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "odd": {"patternProperties": {}},
            },
            "required": ["title", "kind", "scores"],
        })
    }

    #[test]
    fn a_shape_shows_each_field_with_its_meaning_and_what_it_may_be() {
        let lines = [
            "{",
            r#" "kind": "risk" (What may go wrong.) | "detail","#,
            r#" "odd"?: {"patternProperties":{}},"#,
            r#" "scores": [{"#,
            r#"  "number": integer (1 to 5),"#,
            " }, …],",
            r#" "title": string, // At most ten words."#,
            r#" "tone"?: "dry" | "warm","#,
            r#" "until"?: string | null,"#,
            "}",
        ];
        let mut shown: Vec<String> = describe(&schema()).lines().map(str::to_owned).collect();
        let mut expected = lines.map(str::to_owned);
        // The order of fields depends on how maps are built.
        shown.sort();
        expected.sort();
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_schema_without_words_keeps_its_rules_and_the_names_of_its_fields() {
        let bare = without_words(&schema());
        assert!(bare.get("title").is_none());
        assert_eq!(bare["properties"]["title"], json!({"type": "string"}));
        assert_eq!(bare["properties"]["kind"]["oneOf"][0], json!({"const": "risk", "type": "string"}));
        assert_eq!(bare["properties"]["scores"]["items"]["properties"]["number"]["maximum"], 5);
        assert_eq!(bare["properties"]["tone"], json!({"enum": ["dry", "warm"]}));
        assert_eq!(bare["required"], schema()["required"]);
        assert!(!bare.to_string().contains("description"));
    }
}
