//! The arguments of a call, as models write them: not always quite JSON.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::{Map, Value, json};

/// Maximum length of unreadable arguments that go back to the model.
const SHOWN: usize = 500;

/// Reads the arguments of a call. Always an object, because providers accept nothing else when the call is sent back to them. Unreadable arguments
/// become the value of `not_json`, which no tool takes, so that the model is told and not the whole answer lost.
pub(super) fn read_arguments(text: &str) -> Value {
    let text = text.trim();
    if text.is_empty() {
        return Value::Object(Map::new());
    }
    let found = parse(text).or_else(|| parse(&mend(text))).or_else(|| parse_doubled(text));
    match found {
        Some(Value::Object(fields)) => Value::Object(fields),
        Some(Value::Null) => Value::Object(Map::new()),
        // A JSON text within a JSON text.
        Some(Value::String(inner)) if parse(&inner).is_some_and(|inner| inner.is_object()) => parse(&inner).unwrap_or_default(),
        _ => json!({ "not_json": text.chars().take(SHOWN).collect::<String>() }),
    }
}

fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// The same object twice in a row.
fn parse_doubled(text: &str) -> Option<Value> {
    let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_str(text).into_iter().collect();
    match values.ok()?.as_slice() {
        [first, rest @ ..] if rest.iter().all(|other| other == first) => Some(first.clone()),
        _ => None,
    }
}

/// Removes comments and commas before a closing bracket, escapes line breaks in texts, and makes `NaN` and infinity null. Texts stay as they are.
fn mend(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' => {
                mended.push('"');
                copy_text(&mut rest, &mut mended);
            }
            '/' if rest.peek() == Some(&'/') => rest.by_ref().take_while(|c| *c != '\n').for_each(drop),
            '/' if rest.peek() == Some(&'*') => skip_block(&mut rest),
            '}' | ']' => {
                mended.truncate(mended.trim_end().trim_end_matches(',').len());
                mended.push(c);
            }
            c => mended.push(c),
        }
    }
    null_for_numbers(&mended)
}

/// Copies a text up to its closing quote.
fn copy_text(rest: &mut Peekable<Chars<'_>>, mended: &mut String) {
    while let Some(c) = rest.next() {
        match c {
            '\n' => mended.push_str("\\n"),
            '\r' => mended.push_str("\\r"),
            '\t' => mended.push_str("\\t"),
            '\\' => {
                mended.push('\\');
                mended.extend(rest.next());
            }
            c => {
                mended.push(c);
                if c == '"' {
                    return;
                }
            }
        }
    }
}

fn skip_block(rest: &mut Peekable<Chars<'_>>) {
    let mut last = ' ';
    for c in rest.skip(1) {
        if (last, c) == ('*', '/') {
            return;
        }
        last = c;
    }
}

/// Numbers that JSON does not have become null, outside of texts.
fn null_for_numbers(json: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let (mut at, mut in_text, mut escaped) = (0, false, false);
    for (index, c) in json.char_indices() {
        match c {
            '"' if !escaped => {
                let part = &json[at..index];
                parts.push(if in_text { part.to_owned() } else { without_numbers(part) });
                (at, in_text) = (index, !in_text);
            }
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    let last = &json[at..];
    parts.push(if in_text { last.to_owned() } else { without_numbers(last) });
    parts.concat()
}

fn without_numbers(part: &str) -> String {
    ["-Infinity", "Infinity", "NaN", "undefined"].iter().fold(part.to_owned(), |part, number| part.replace(number, "null"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_are_not_quite_json_are_read() {
        let wanted = json!({"path": "a.md", "lines": [1, 2]});
        for text in [
            r#"{"path": "a.md", "lines": [1, 2]}"#,
            r#"{"path": "a.md", "lines": [1, 2,],}"#,
            "{\n  // the file\n  \"path\": \"a.md\", /* both\n lines */ \"lines\": [1, 2]\n}",
            r#""{\"path\": \"a.md\", \"lines\": [1, 2]}""#,
            r#"{"path": "a.md", "lines": [1, 2]}{"path": "a.md", "lines": [1, 2]}"#,
        ] {
            assert_eq!(read_arguments(text), wanted, "{text}");
        }
        assert_eq!(read_arguments("{\"text\": \"one\ntwo\tthree\"}"), json!({"text": "one\ntwo\tthree"}));
        assert_eq!(read_arguments(r#"{"limit": NaN, "most": -Infinity,}"#), json!({"limit": null, "most": null}));
        for nothing in ["", "  ", "null", "{}"] {
            assert_eq!(read_arguments(nothing), json!({}), "{nothing}");
        }
    }

    #[test]
    fn texts_are_never_changed() {
        for text in ["see https://a.example/x, then NaN,]", "/* no comment */ // nor this", "a \\\" quote", "Infinity,}"] {
            let json = json!({ "text": text }).to_string();
            assert_eq!(read_arguments(&json), json!({ "text": text }));
            // The comma makes it be mended.
            let spoilt = format!("{},}}", json.trim_end_matches('}'));
            assert_eq!(read_arguments(&spoilt), json!({ "text": text }), "{spoilt}");
        }
    }

    #[test]
    fn what_cannot_be_read_goes_back_with_the_words() {
        for text in ["look at a.md", "{\"path\":", "[1, 2]", "{\"a\": 1}{\"a\": 2}", "7"] {
            assert_eq!(read_arguments(text), json!({ "not_json": text }), "{text}");
        }
        let long = "x".repeat(2000);
        assert_eq!(read_arguments(&long)["not_json"].as_str().map(str::len), Some(SHOWN));
    }
}
