//! Slack's published descriptions of its APIs.
//!
//! They are read from `TEAMROOM_SLACK_DATA`, or from `shared/slack` beside the workspace.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{root, skip};

fn data_dir() -> PathBuf {
    if let Some(folder) = std::env::var_os("TEAMROOM_SLACK_DATA") {
        return folder.into();
    }
    let folders: Vec<_> = root().ancestors().skip(1).map(|folder| folder.join("shared/slack")).collect();
    folders.iter().find(|folder| folder.is_dir()).unwrap_or(&folders[0]).clone()
}

/// One description; `None` if it is missing, which counts as a skip.
pub(crate) fn read(name: &str) -> Option<Value> {
    let path = data_dir().join(name);
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(corrected(serde_json::from_str(&text).expect("the description is JSON"))),
        Err(error) => {
            skip::missing("slack-data", &format!("{}: {error}", path.display()));
            None
        }
    }
}

/// Allows fields that the descriptions do not have, because they are of 2021 and Slack has added fields since. Corrects lists of alternatives, which
/// the conversion has named `items`.
fn corrected(value: Value) -> Value {
    match value {
        Value::Object(mut fields) => {
            if fields.get("additionalProperties") == Some(&json!(false)) {
                fields.remove("additionalProperties");
            }
            if fields.get("items").is_some_and(Value::is_array)
                && fields.get("type") != Some(&json!("array"))
                && let Some(alternatives) = fields.remove("items")
            {
                fields.insert("anyOf".to_owned(), alternatives);
            }
            fields.into_iter().map(|(name, value)| (name, corrected(value))).collect()
        }
        Value::Array(items) => items.into_iter().map(corrected).collect(),
        other => other,
    }
}
