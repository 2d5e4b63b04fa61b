//! Discord's published descriptions of its API. The team's integration tests include this file too.
//!
//! They are read from `TEAMROOM_DISCORD_DATA`, or from `shared/discord` beside the workspace.

use std::path::PathBuf;

use sandbox::RestExchange;
use serde_json::Value;

use crate::support::{root, skip};

fn data_dir() -> PathBuf {
    if let Some(folder) = std::env::var_os("TEAMROOM_DISCORD_DATA") {
        return folder.into();
    }
    let folders: Vec<_> = root().ancestors().skip(1).map(|folder| folder.join("shared/discord")).collect();
    folders.iter().find(|folder| folder.is_dir()).unwrap_or(&folders[0]).clone()
}

/// One description; `None` if it is missing, which counts as a skip.
pub(crate) fn read(name: &str) -> Option<Value> {
    let path = data_dir().join(name);
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(serde_json::from_str(&text).expect("the description is JSON")),
        Err(error) => {
            skip::missing("discord-data", &format!("{}: {error}", path.display()));
            None
        }
    }
}

/// The described path and operation of a request. A path without variables has precedence.
pub(crate) fn find_operation<'a>(api: &'a Value, exchange: &RestExchange) -> Option<(&'a str, &'a Value)> {
    let path: Vec<&str> = exchange.path.strip_prefix("/api/v10/")?.split('/').collect();
    let matches = |described: &str| {
        let parts: Vec<&str> = described.trim_start_matches('/').split('/').collect();
        parts.len() == path.len() && parts.iter().zip(&path).all(|(part, actual)| part.starts_with('{') || part == actual)
    };
    let paths = api["paths"].as_object()?;
    let found = paths.iter().filter(|(described, _)| matches(described)).min_by_key(|(described, _)| described.matches('{').count())?;
    let operation = &found.1[exchange.method.to_lowercase()];
    operation.is_object().then_some((found.0.as_str(), operation))
}

pub(crate) fn explain(error: &jsonschema::ValidationError<'_>) -> String {
    let text = error.to_string();
    let kind: String = text.chars().rev().take(260).collect::<Vec<_>>().into_iter().rev().collect();
    format!("{} …{kind}", error.instance_path())
}
