use std::fmt::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::features::backlog::model::{WorkItem, describe_size};
use crate::features::backlog::named::{describe_result, find_by_id, find_file};
use crate::features::backlog::tools::add::unavailable;
use crate::store::Store;
use kernel::persona::roster::Roster;
use kernel::tools::approval::Risk;
use kernel::tools::{Tool, ToolContext, ToolError, ToolLimits, ToolOutput, parse_arguments};

/// Maximum length of the result of a call.
const PAGE: usize = 16_000;

/// Reads an item with its result, or one of its files: open or finished, of any mission, as far as it may be told here.
pub(super) struct ItemRead {
    pub store: Store,
    pub roster: Arc<Roster>,
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    item: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    from: usize,
}

#[async_trait]
impl Tool for ItemRead {
    fn name(&self) -> &'static str {
        "item_read"
    }

    fn description(&self) -> String {
        "Reads a work item of the team, also a finished one: its whole task, what came of it, and its files. With `file`, the text of that file; without \
         `item`, the newest file of that name."
            .into()
    }

    fn asked_by(&self) -> &'static str {
        "item task result file delivered made finished wrote draft Ergebnis Datei Aufgabe fertig résultat resultado"
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "item": {"type": "string", "description": "The id, such as #a1b2c3."},
                "file": {"type": "string", "description": "The name of a file, such as faq.md."},
                "from": {"type": "integer", "minimum": 0, "description": "The character to go on from. Default: the beginning."},
            },
            "additionalProperties": false,
        })
    }

    fn limits(&self) -> ToolLimits {
        ToolLimits { chars: PAGE + 400, ..ToolLimits::default() }
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    fn describe_doing(&self, arguments: &Value) -> Option<String> {
        Some(match arguments["file"].as_str().filter(|file| !file.is_empty()) {
            Some(_) => "Reading a file of the backlog".into(),
            None => "Reading a work item".into(),
        })
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let Arguments { item, file, from } = parse_arguments(arguments)?;
        let (item, file) = (item.trim(), file.trim());
        let found = if item.is_empty() { None } else { Some(self.find(item, context).await?) };
        let text = match (found, file.is_empty()) {
            (Some(item), true) => self.describe(&item).await?,
            (item, false) => self.read(item.as_ref(), file, context).await?,
            (None, true) => {
                return Err(ToolError::Refused("the arguments do not fit: name an item by its id, or a file by its name".into()));
            }
        };
        Ok(ToolOutput { text: page(&text, from), outside: true, trace: None })
    }
}

impl ItemRead {
    async fn find(&self, id: &str, context: &ToolContext<'_>) -> Result<WorkItem, ToolError> {
        let found = find_by_id(&self.store, id, context.scope).await.map_err(|error| unavailable(&error))?;
        found
            .ok_or_else(|| ToolError::Failed(format!("there is no item {id} that may be told here. `backlog_search` finds items by words")))
    }

    /// The whole task, the state, and the files.
    async fn describe(&self, item: &WorkItem) -> Result<String, ToolError> {
        let files = self.store.list_artefacts(&item.id).await.map_err(|error| unavailable(&error))?;
        let mut text = format!("{}\n\n{}", item.describe_task(), describe_result(item, &self.roster));
        for file in files {
            let _ = write!(text, "\nFile: {} ({})", file.name, file.size());
        }
        Ok(text)
    }

    async fn read(&self, item: Option<&WorkItem>, name: &str, context: &ToolContext<'_>) -> Result<String, ToolError> {
        let found = find_file(&self.store, item, name, context.scope).await.map_err(|error| unavailable(&error))?;
        let Some((of, file)) = found else {
            let of = item.map_or_else(|| "the team's items".to_owned(), |item| format!("#{}", item.short_id()));
            return Err(ToolError::Failed(format!("{of} has no file {name}. Without `file`, the files of an item are listed")));
        };
        let (name, size) = (&file.facts.name, describe_size(file.facts.bytes));
        let text = file.text().ok_or_else(|| ToolError::Failed(format!("{name} of #{} ({size}) is no text", of.short_id())))?;
        Ok(format!("{name} of #{} ({size}):\n{text}", of.short_id()))
    }
}

/// The characters from a place on, with how many there are.
fn page(text: &str, from: usize) -> String {
    let all = text.chars().count();
    let shown: String = text.chars().skip(from).take(PAGE).collect();
    let end = from.min(all) + shown.chars().count();
    if from == 0 && end == all {
        return shown;
    }
    let rest = if end < all { format!("; go on with `from` {end}") } else { String::new() };
    format!("{shown}\n[characters {from} to {end} of {all}{rest}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_read_page_by_page_without_a_gap() {
        let text: String = (0..40_000).map(|number| char::from_digit(number % 10, 10).expect("a digit")).collect();
        let (mut read, mut from) = (String::new(), 0);
        for _ in 0..3 {
            let page = page(&text, from);
            let (shown, note) = page.rsplit_once('\n').expect("a note");
            read.push_str(shown);
            from = read.chars().count();
            assert!(note.contains(&format!("to {from} of 40000")), "{note}");
        }
        assert_eq!(read, text);
        assert_eq!(page("short", 0), "short");
        assert_eq!(page("short", 9), "\n[characters 9 to 5 of 5]");
    }
}
