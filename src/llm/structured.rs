use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{AnswerSchema, Call, ModelError, ModelMessage, ModelRequest, Models};

const ASK: &str = include_str!("prompts/schema.md");
const REPAIR: &str = include_str!("prompts/repair.md");

/// A value, and who gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct Structured<T> {
    pub value: T,
    /// `provider/model`.
    pub model: String,
}

/// Why there is no value. The caller goes on with its fallback.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StructuredError {
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The model answered twice with something else.
    #[error("{provider} gave no usable value in two answers: {reason}")]
    Unusable { provider: String, reason: String },
}

/// Asks for a value of `T`, which is a struct: providers want an object at the top.
///
/// The schema is asked for by the provider's own means and worded in the last message too, for those that have none or ignore it. An answer
/// that cannot be used is asked for once more, with the reason. Tools of the request are not offered.
///
/// # Errors
/// No model answered, or both answers could not be used.
pub async fn ask_structured<T: DeserializeOwned + JsonSchema>(
    models: &Models,
    call: &Call,
    request: &ModelRequest,
    cancel: &CancellationToken,
) -> Result<Structured<T>, StructuredError> {
    let schema = schema_of::<T>();
    let mut request = ModelRequest { tools: Vec::new(), ..request.clone() };
    request.messages.push(ModelMessage::User(ASK.replace("{{ schema }}", &schema.schema.to_string())));
    request.schema = Some(schema);

    let first = models.complete(call, &request, cancel).await?;
    let reason = match parse_answer(&first.text) {
        Ok(value) => return Ok(Structured { value, model: first.full_name() }),
        Err(reason) => reason,
    };
    tracing::debug!(provider = first.provider, model = first.model, reason, "asking again for a structured answer");
    request.messages.push(ModelMessage::Assistant { text: first.text, calls: Vec::new() });
    request.messages.push(ModelMessage::User(REPAIR.replace("{{ reason }}", &reason)));
    let second = models.complete(call, &request, cancel).await?;
    match parse_answer(&second.text) {
        Ok(value) => Ok(Structured { value, model: second.full_name() }),
        Err(reason) => Err(StructuredError::Unusable { provider: second.provider, reason }),
    }
}

fn schema_of<T: JsonSchema>() -> AnswerSchema {
    // Without references and without the name of the dialect: constrained decoders of local servers know neither.
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    // The characters and the length that providers take for names.
    let name = T::schema_name().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(64).collect();
    AnswerSchema { name, schema: schema.to_value() }
}

/// Reads the one value of an answer. The error is a sentence for the model.
fn parse_answer<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let value = find_value(text)?;
    serde_json::from_value(value).map_err(|error| error.to_string())
}

/// The JSON value of a text: the text itself, the one in its fence, or the one in its prose. Of several none is chosen, since nobody knows
/// which is meant.
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

/// What stands between pairs of fences, without the word that names the language.
fn fences(text: &str) -> impl Iterator<Item = &str> {
    text.split("```").skip(1).step_by(2).map(|block| block.trim_start_matches(|c: char| c.is_ascii_alphanumeric()))
}

/// The outermost objects of a text; arrays only if there are none, because prose has `[1]` in it.
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
