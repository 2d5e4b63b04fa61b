//! The journal of a run, a line for each entry.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::features::backlog::model::JournalEntry;
use crate::features::backlog::render::details::line;
use kernel::ids::PersonaSlug;
use kernel::tools::CallStatus;

/// The tool of each call id in a run.
pub(super) fn name_calls(entries: &[(JournalEntry, DateTime<Utc>)]) -> HashMap<&str, &str> {
    let calls = entries.iter().flat_map(|(entry, _)| match entry {
        JournalEntry::Replied { calls, .. } => calls.as_slice(),
        _ => &[],
    });
    calls.map(|call| (call.id.as_str(), call.name.as_str())).collect()
}

/// One entry, as a line. `author`: who made the result.
pub(super) fn describe(entry: &JournalEntry, author: Option<&PersonaSlug>, names: &HashMap<&str, &str>) -> String {
    let tool = |call: &String| line(names.get(call.as_str()).copied().unwrap_or(call));
    match entry {
        JournalEntry::Asked { tainted, .. } => {
            if *tainted { "asked the model, with text from outside" } else { "asked the model" }.to_owned()
        }
        JournalEntry::Replied { text, calls, model } => {
            let calls: Vec<_> = calls.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect();
            let said = [text.as_str(), &calls.join("; ")].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" → ");
            format!("{} said: {}", line(model), line(&said))
        }
        JournalEntry::Judged { verdict, model } => {
            let by = if model.is_empty() { "the composer".to_owned() } else { line(model) };
            format!("{by} judged the answer: {}", verdict.as_str().replace('_', " "))
        }
        JournalEntry::Graded { by, entry, .. } if author == Some(by) => format!("its own second look: {}", describe(entry, author, names)),
        JournalEntry::Graded { by, entry, .. } => format!("review by {}: {}", line(by.as_str()), describe(entry, author, names)),
        JournalEntry::Consulted { colleague, entry, .. } => {
            format!("question to {}: {}", line(colleague.as_str()), describe(entry, author, names))
        }
        JournalEntry::Told { text } => format!("told on the way: {}", line(text)),
        JournalEntry::SentBack { why } => format!("sent back: {}", line(why)),
        JournalEntry::Began { call, .. } => format!("begins {}", tool(call)),
        JournalEntry::Returned { call, text, status: CallStatus::Refused, .. } => format!("✖ **refused** {}: {}", tool(call), line(text)),
        JournalEntry::Returned { call, text, status: CallStatus::Failed, .. } => format!("✖ **failed** {}: {}", tool(call), line(text)),
        JournalEntry::Returned { call, text, outside, .. } => {
            format!("{} gave{}: {}", tool(call), if *outside { " text from outside" } else { "" }, line(text))
        }
    }
}
