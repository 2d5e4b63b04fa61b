//! Pages by cursor.

use serde_json::{Value, json};

use super::arguments::Arguments;
use super::errors::ApiError;

/// One page of a list, and the cursor of the next one (empty after the last).
#[derive(Debug)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    pub(crate) next: String,
}

impl<T> Page<T> {
    pub(crate) fn metadata(&self) -> Value {
        json!({ "next_cursor": self.next })
    }
}

/// Cuts a list by `cursor` and `limit`.
pub(crate) fn page<T>(arguments: &Arguments, all: Vec<T>, default: usize, max: usize) -> Result<Page<T>, ApiError> {
    let limit = arguments.limit(default, max)?;
    let start = match arguments.find("cursor") {
        None => 0,
        Some(cursor) => decode(&cursor).filter(|start| *start <= all.len()).ok_or_else(|| ApiError::new("invalid_cursor"))?,
    };
    let next = if start + limit < all.len() { encode(start + limit) } else { String::new() };
    Ok(Page { items: all.into_iter().skip(start).take(limit).collect(), next })
}

/// An opaque cursor. Slack's cursors end with `=`, which a client has to escape in a query.
fn encode(start: usize) -> String {
    format!("bmV4dDo{start}=")
}

fn decode(cursor: &str) -> Option<usize> {
    cursor.strip_prefix("bmV4dDo")?.strip_suffix('=')?.parse().ok()
}
