use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::llm::{AnswerSchema, shape};

const ASK: &str = include_str!("prompts/schema.md");
const REPAIR: &str = include_str!("prompts/repair.md");

/// A parsed value and its model.
#[derive(Debug, Clone, PartialEq)]
pub struct Structured<T> {
    pub value: T,
    /// `provider/model`.
    pub model: String,
}

/// The form of a structured answer.
///
/// The schema goes through the provider's API, bare of words. Not every server shows it to its model, so the prompt has its shape, with what each field
/// means.
#[derive(Debug, Clone)]
pub struct AnswerFormat {
    pub schema: AnswerSchema,
    shape: String,
    check: fn(&str) -> Result<(), String>,
}

impl AnswerFormat {
    /// The schema of `T`, which must be a struct: providers require an object at the top.
    pub fn of<T: DeserializeOwned + JsonSchema>() -> Self {
        let AnswerSchema { name, schema } = schema_of::<T>();
        let shape = shape::describe(&schema);
        Self {
            schema: AnswerSchema { name, schema: shape::without_words(&schema) },
            shape,
            check: |text| parse_answer::<T>(text).map(drop),
        }
    }

    /// The prompt that asks for the value.
    pub fn instruction(&self) -> String {
        ASK.replace("{{ shape }}", &self.shape)
    }

    /// The prompt that asks again.
    pub fn correction(reason: &str) -> String {
        REPAIR.replace("{{ reason }}", reason)
    }

    /// # Errors
    /// Why the answer is invalid, as a sentence for the model.
    pub fn check(&self, text: &str) -> Result<(), String> {
        (self.check)(text)
    }
}

fn schema_of<T: JsonSchema>() -> AnswerSchema {
    // Without references and dialect name, which constrained decoders of local servers do not support.
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    // Providers restrict the characters and length of names.
    let name = T::schema_name().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(64).collect();
    AnswerSchema { name, schema: schema.to_value() }
}

/// Parses the single value of an answer.
///
/// # Errors
/// Why it is invalid, as a sentence for the model.
pub fn parse_answer<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let value = find_value(text)?;
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// The JSON value of a text: the whole text, a fenced block, or a value within prose. Several candidates are an error, because it is
/// unclear which is meant.
fn find_value(text: &str) -> Result<Value, String> {
    if let Ok(value) = serde_json::from_str(text.trim()) {
        return Ok(value);
    }
    let fenced: Vec<Value> = fences(text).filter_map(|block| serde_json::from_str(block.trim()).ok()).collect();
    let found = if fenced.is_empty() { values_in_prose(text) } else { fenced };
    match <[Value; 1]>::try_from(found) {
        Ok([value]) => Ok(value),
        Err(none) if none.is_empty() => Err("there is no complete JSON value in it".to_owned()),
        Err(several) => Err(format!("there are {} JSON values in it, and only one is wanted", several.len())),
    }
}

/// The contents of fenced blocks, without the language.
fn fences(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").skip(1).step_by(2).map(|block| block.trim_start_matches(|c: char| c.is_ascii_alphanumeric()))
}

/// The outermost objects in a text. Arrays only if there are no objects, because prose contains `[1]`.
fn values_in_prose(text: &str) -> Vec<Value> {
    let (mut objects, mut arrays) = (Vec::new(), Vec::new());
    let mut rest = text;
    while let Some(start) = rest.find(['{', '[']) {
        rest = &rest[start..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let length = match values.next() {
            Some(Ok(value)) => {
                if value.is_object() {
                    objects.push(value);
                } else {
                    arrays.push(value);
                }
                values.byte_offset()
            }
            _ => 1,
        };
        rest = &rest[length..];
    }
    if objects.is_empty() { arrays } else { objects }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Verdict {
        fair: bool,
        why: Inner,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Inner {
        text: String,
    }

    #[test]
    fn a_value_is_found_raw_in_a_fence_and_in_prose() {
        let expected = json!({"a": [1, {"b": "}"}]});
        for text in [
            r#" {"a": [1, {"b": "}"}]} "#,
            "```json\n{\"a\": [1, {\"b\": \"}\"}]}\n```",
            "Here you are:\n```\n{\"a\": [1, {\"b\": \"}\"}]}\n```\nAnything else?",
            r#"As [1] says, {it is} {"a": [1, {"b": "}"}]}, I think."#,
        ] {
            assert_eq!(find_value(text), Ok(expected.clone()), "{text}");
        }
        assert_eq!(find_value("The list: [1, 2]."), Ok(json!([1, 2])));
    }

    #[test]
    fn two_values_none_and_half_a_value_are_told_apart() {
        let two = Err("there are 2 JSON values in it, and only one is wanted".to_owned());
        assert_eq!(find_value(r#"{"a":1} or {"a":2}"#), two);
        assert_eq!(find_value("```json\n{}\n```\n```json\n{}\n```"), two);
        for text in ["", "I would rather not.", r#"{"a": "#, "```json\n{\"a\": \n```"] {
            assert_eq!(find_value(text), Err("there is no complete JSON value in it".to_owned()), "{text}");
        }
    }

    #[test]
    fn wrong_types_and_missing_fields_are_named() {
        let error = parse_answer::<Verdict>(r#"{"fair": "yes", "why": {"text": ""}}"#).expect_err("a text is no truth value");
        assert!(error.contains("expected a boolean"), "{error}");
        let error = parse_answer::<Verdict>(r#"{"fair": true}"#).expect_err("a field is missing");
        assert!(error.contains("missing field `why`"), "{error}");
    }

    #[test]
    fn the_schema_stands_on_its_own() {
        let schema = schema_of::<Verdict>();
        assert_eq!(schema.name, "Verdict");
        assert_eq!(schema.schema["type"], "object");
        assert_eq!(schema.schema["properties"]["why"]["properties"]["text"]["type"], "string");
        assert!(!schema.schema.to_string().contains('$'), "{}", schema.schema);
    }
}
