//! Approval of tool calls by a person (TRUST-3).

use std::fmt::Write as _;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::ids::{ApprovalId, WorkItemId};
use crate::text::is_invisible;

/// The effects of a tool outside the item's workspace (TOOL-2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// None.
    Read,
    /// Changes the team's data.
    Write,
    /// Visible to others: posts a message, calls an unlisted host.
    ReachOut,
}

impl Risk {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::ReachOut => "reach-out",
        }
    }
}

/// A request to approve one call with its exact arguments. Once approved, exactly this call may be made once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    pub id: ApprovalId,
    pub item: WorkItemId,
    /// The run that asked. Another run needs a new approval.
    pub run: u32,
    pub tool: String,
    pub arguments: Value,
    pub risk: Risk,
    pub state: ApprovalState,
    /// Who decided.
    pub by: Option<String>,
    pub asked_at: DateTime<Utc>,
    pub decided_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalState {
    Asked,
    Allowed,
    Refused,
}

impl ApprovalState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Allowed => "allowed",
            Self::Refused => "refused",
        }
    }
}

/// Identifies a call by tool and arguments, independent of key order.
pub fn fingerprint(tool: &str, arguments: &Value) -> String {
    // `serde_json` sorts keys, so equal arguments give equal text.
    let digest = Sha256::digest(format!("{tool}\n{arguments}"));
    digest.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// The arguments for people, one in each line: `url: https://…`. Texts of several lines are indented below their name, so that none of their lines looks
/// like another argument.
pub fn show_arguments(arguments: &Value) -> String {
    let mut text = String::new();
    match arguments {
        Value::Object(fields) if fields.is_empty() => text.push_str("(nothing more)\n"),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| show_value(&mut text, 0, &format!("{}:", escape(name)), value)),
        other => show_value(&mut text, 0, "-", other),
    }
    text
}

fn show_value(text: &mut String, depth: usize, name: &str, value: &Value) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let _ = writeln!(text, "{indent}{name}");
            for (name, value) in fields {
                show_value(text, depth + 1, &format!("{}:", escape(name)), value);
            }
        }
        Value::Array(values) if !values.is_empty() => {
            let _ = writeln!(text, "{indent}{name}");
            for value in values {
                show_value(text, depth + 1, "-", value);
            }
        }
        Value::String(said) if said.contains(['\n', '\r']) => {
            let _ = writeln!(text, "{indent}{name}");
            for line in said.split('\n') {
                let _ = writeln!(text, "{indent}  {}", escape(line));
            }
        }
        Value::String(said) if said.is_empty() => _ = writeln!(text, "{indent}{name} \"\""),
        Value::String(said) => _ = writeln!(text, "{indent}{name} {}", escape(said)),
        other => _ = writeln!(text, "{indent}{name} {other}"),
    }
}

/// Escapes invisible characters as JSON does, because the person must see everything that is approved.
pub fn escape(shown: &str) -> String {
    let mut text = String::new();
    for c in shown.chars() {
        if c != '\n' && is_invisible(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_shown_in_lines_and_no_text_looks_like_another_argument() {
        let call = json!({
            "url": "https://example.org/a", "method": "POST", "times": 2, "headers": {"Accept": "text/plain"}, "tags": ["a", "b"],
            "body": "Dear Ann,\nurl: https://evil.example", "note": "", "mark": "a\u{200b}b", "none": [],
        });
        insta::assert_snapshot!(show_arguments(&call));
        assert_eq!(show_arguments(&json!({})), "(nothing more)\n");
    }
}
