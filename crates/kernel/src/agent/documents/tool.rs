//! Reads a document, from any line on.

use std::fmt::Write as _;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::agent::Readings;
use crate::chat::medium::Medium;
use crate::config::find_nearest;
use crate::db::{Database, Result as Stored, StoreError};
use crate::feeds::Feed;
use crate::ids::MessageId;
use crate::memory::retrieval::terms_of;
use crate::memory::{Memory, MemoryKind, MemorySource, Recall};
use crate::text::fold_name;
use crate::tools::approval::Risk;
use crate::tools::{Tool, ToolContext, ToolError, ToolOutput, parse_arguments};

/// The lines of a call without a number, and the most lines.
const LINES: usize = 120;
const MOST_LINES: usize = 400;
/// Room for the text of a call, below the limit of a tool's result, and maximum length of a line.
const ROOM: usize = 7000;
const LINE: usize = 2000;

/// How many names are listed if there is no document of a name.
const NAMES: usize = 40;
/// How many parts of posted documents are compared with a name.
const POSTED: usize = 50;

/// How many files of a channel are looked through for a name.
const CHANNEL_FILES: u32 = 60;

/// Reads files of the conversation, the documents of feeds as they are on disk now, and those that were posted in knowledge channels.
pub struct ReadDocument {
    pub readings: Readings,
    pub store: Database,
}

#[derive(Deserialize)]
struct Arguments {
    name: String,
    #[serde(default = "first")]
    from_line: usize,
    #[serde(default = "some")]
    lines: usize,
}

const fn first() -> usize {
    1
}

const fn some() -> usize {
    LINES
}

#[async_trait]
impl Tool for ReadDocument {
    fn name(&self) -> &'static str {
        "read_document"
    }

    fn description(&self) -> String {
        "Reads lines of a document of the team: a file of this conversation or of a feed, or one that was posted in a knowledge channel. Says how many \
         lines there are."
            .into()
    }

    fn asked_by(&self) -> &'static str {
        "document documents file files page lines rules handbook guide knowledge policy Dokument Datei Regeln Handbuch steht lies documento"
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The name of the document, such as on-call-rules.md."},
                "from_line": {"type": "integer", "minimum": 1, "description": "The first line. Without it 1."},
                "lines": {"type": "integer", "minimum": 1, "maximum": MOST_LINES, "description": "How many lines. Without it 120."},
            },
            "required": ["name"],
            "additionalProperties": false,
        })
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    fn describe_doing(&self, arguments: &Value) -> Option<String> {
        Some(format!("Reading {}", Medium::Chat.line_within(arguments["name"].as_str()?, 60)))
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let Arguments { name, from_line, lines } = parse_arguments(arguments)?;
        let in_channel = self.find_in_channel(&name, context).await.map_err(|error| unavailable(&error))?;
        let in_feeds = match in_channel {
            Some(found) => Ok(found),
            None => self.find_in_feeds(&name, context).await?,
        };
        let (name, text) = match in_feeds {
            Ok(found) => found,
            Err(known) => match self.find_posted(&name, context).await.map_err(|error| unavailable(&error))? {
                Some(found) => found,
                None => return Err(ToolError::Failed(missing(&name, &known))),
            },
        };
        let text = show(&name, &text, from_line, lines.clamp(1, MOST_LINES))?;
        Ok(ToolOutput { text, outside: true, trace: None })
    }
}

impl ReadDocument {
    /// The newest file of this very name in the channel of the message that is answered.
    async fn find_in_channel(&self, name: &str, context: &ToolContext<'_>) -> Stored<Option<(String, String)>> {
        let Some(MemorySource::Message(message)) = context.source else { return Ok(None) };
        let name = fold_name(name.trim());
        let files = self.store.list_files_beside(message, CHANNEL_FILES).await?;
        for file in files.into_iter().filter(|file| fold_name(&file.name) == name) {
            if let Some(text) = self.store.find_file(&file.id).await?.and_then(|file| file.text) {
                return Ok(Some((file.name, text)));
            }
        }
        Ok(None)
    }

    /// The name and the text of a file. If there is none, the names of all.
    async fn find_in_feeds(&self, name: &str, context: &ToolContext<'_>) -> Result<Result<(String, String), Vec<String>>, ToolError> {
        let mut files: Vec<(String, &Feed)> = Vec::new();
        // The persona's own feeds come first.
        for feed in self.readings.list_feeds(context.persona) {
            // A feed that cannot be read is reported by the feed itself.
            let listed = feed.list_documents().await.unwrap_or_default();
            files.extend(listed.into_iter().map(|file| (file, feed)));
        }
        let names: Vec<&str> = files.iter().map(|(file, _)| file.as_str()).collect();
        let Some(position) = find_name(name, &names) else {
            return Ok(Err(files.into_iter().map(|(file, _)| file).collect()));
        };
        let (file, feed) = &files[position];
        let text = feed.open_document(file).await.map_err(|error| ToolError::Failed(error.to_string()))?;
        Ok(Ok((file.clone(), text)))
    }

    /// The text of a document that was posted where the run may hear it.
    async fn find_posted(&self, name: &str, context: &ToolContext<'_>) -> Stored<Option<(String, String)>> {
        let asked = Recall { kinds: &[MemoryKind::Document], ..Recall::new(name, context.scope, POSTED) };
        let found = self.store.recall(&asked.loosely()).await?;
        let posted: Vec<(&str, &MessageId)> = found.iter().filter_map(|part| Some((document_of(part)?, part.message()?))).collect();
        let names: Vec<&str> = posted.iter().map(|(document, _)| *document).collect();
        let Some((document, message)) = find_name(name, &names).map(|position| posted[position]) else { return Ok(None) };
        for file in self.store.list_message_files(message, None).await?.into_iter().filter(|file| file.name == document) {
            if let Some(text) = self.store.find_file(&file.id).await?.and_then(|file| file.text) {
                return Ok(Some((document.to_owned(), text)));
            }
        }
        // Of a page only the parts are kept.
        let mut parts = self.store.list_memories_of(message).await?;
        parts.retain(|part| part.ended_at.is_none() && document_of(part) == Some(document));
        parts.sort_by_key(|part| part.origin.as_ref().and_then(|origin| origin.part.as_ref()).map_or(0, |part| part.lines.0));
        let text = parts.into_iter().map(|part| part.text).collect::<Vec<_>>().join("\n\n");
        Ok(Some((document.to_owned(), text)))
    }
}

fn document_of(memory: &Memory) -> Option<&str> {
    Some(memory.origin.as_ref()?.part.as_ref()?.document.as_str())
}

/// The position of a document: by its name or path, in any case, or by words that only its name has.
fn find_name(asked: &str, names: &[&str]) -> Option<usize> {
    let asked = asked.trim().trim_start_matches("./");
    let folded = fold_name(asked);
    let last = |name: &str| name.rsplit('/').next().map(fold_name);
    let exact = names.iter().position(|name| *name == asked).or_else(|| names.iter().position(|name| fold_name(name) == folded));
    if exact.is_some() {
        return exact;
    }
    let by_file: Vec<usize> = (0..names.len()).filter(|position| last(names[*position]).as_ref() == Some(&folded)).collect();
    let words_in = |text: &str| terms_of(&text.replace(['.', '/', '-', '_'], " "));
    let words = words_in(asked);
    let has_words = |name: &str| {
        let own = words_in(name);
        !words.is_empty() && words.iter().all(|word| own.contains(word))
    };
    let by_words: Vec<usize> = (0..names.len()).filter(|position| has_words(names[*position])).collect();
    let found = if by_file.is_empty() { by_words } else { by_file };
    // A folder within another one lists a file twice.
    let is_one = found.iter().all(|position| last(names[*position]) == last(names[found[0]]));
    found.first().copied().filter(|_| is_one)
}

fn missing(name: &str, known: &[String]) -> String {
    let shown = Medium::Chat.line_within(name, 100);
    if known.is_empty() {
        return format!("there is no document {shown:?}, and no feed has files");
    }
    let nearest = find_nearest(name, known.iter().map(String::as_str)).map_or(String::new(), |nearest| format!(" Did you mean {nearest}?"));
    let more = known.len().saturating_sub(NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let listed = known.iter().take(NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
    format!("there is no document {shown:?}.{nearest} There are: {listed}{more}")
}

/// Numbered lines, with how many there are and how to go on.
fn show(name: &str, text: &str, from: usize, count: usize) -> Result<String, ToolError> {
    let all = text.lines().count();
    if all == 0 {
        return Ok(format!("{name} is empty"));
    }
    if from > all {
        return Err(ToolError::Refused(format!("{name} has {all} lines")));
    }
    let from = from.max(1);
    let (mut shown, mut last, mut room) = (String::new(), from - 1, ROOM);
    for (number, line) in text.lines().enumerate().skip(from - 1).take(count) {
        let cut: String = line.chars().take(LINE).collect();
        let rest = line.chars().count() - cut.chars().count();
        let rest = if rest > 0 { format!("… [cut: {rest} characters more]") } else { String::new() };
        let line = format!("\n{}: {cut}{rest}", number + 1);
        let Some(left) = room.checked_sub(line.chars().count()) else { break };
        room = left;
        last = number + 1;
        shown.push_str(&line);
    }
    let mut head = format!("{name}, lines {from} to {last} of {all}.");
    if last < all {
        write!(head, " To go on, read from line {}.", last + 1).expect("a String takes everything");
    }
    Ok(head + &shown)
}

fn unavailable(error: &StoreError) -> ToolError {
    tracing::warn!(%error, "a tool could not look for a document");
    ToolError::Failed("the team's documents are not available right now".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_says_how_many_lines_there_are_and_how_to_go_on() {
        let text = (1..=300).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
        let shown = show("rules.md", &text, 1, 2).unwrap();
        assert_eq!(shown, "rules.md, lines 1 to 2 of 300. To go on, read from line 3.\n1: line 1\n2: line 2");
        assert_eq!(show("rules.md", &text, 300, 120).unwrap(), "rules.md, lines 300 to 300 of 300.\n300: line 300");
        assert_eq!(show("rules.md", &text, 301, 120).unwrap_err().to_string(), "rules.md has 300 lines");
        assert_eq!(show("rules.md", "", 1, 120).unwrap(), "rules.md is empty");
    }

    #[test]
    fn what_does_not_fit_is_left_to_the_next_call() {
        let text = format!("{}\n", "x".repeat(1500)).repeat(20);
        let shown = show("wide.md", &text, 3, 20).unwrap();
        assert!(shown.starts_with("wide.md, lines 3 to 6 of 20. To go on, read from line 7.\n3: xxx"), "{}", &shown[..100]);
        let shown = show("one-line.json", &"y".repeat(5000), 1, 1).unwrap();
        assert!(shown.ends_with("yyy… [cut: 3000 characters more]"), "{}", &shown[shown.len() - 60..]);
    }

    #[test]
    fn a_document_is_found_as_people_call_it() {
        let names = ["ops/on-call-rules.md", "prices.csv", "ops/prices-2025.csv", "a/notes.md", "b/notes.md"];
        for (asked, found) in [
            ("ops/on-call-rules.md", Some(0)),
            ("On-Call-Rules.md", Some(0)),
            ("on-call rules", Some(0)),
            ("./prices.csv", Some(1)),
            ("prices-2025", Some(2)),
            ("b/notes.md", Some(4)),
            ("notes.md", Some(3)),
            ("prices of 2026", None),
            ("", None),
        ] {
            assert_eq!(find_name(asked, &names), found, "{asked}");
        }
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_right_ones() {
        let known = ["rules.md".to_owned(), "lunch.md".to_owned()];
        assert_eq!(missing("rule.md", &known), "there is no document \"rule.md\". Did you mean rules.md? There are: rules.md, lunch.md");
        assert_eq!(missing("x", &known), "there is no document \"x\". There are: rules.md, lunch.md");
        assert_eq!(missing("x", &[]), "there is no document \"x\", and no feed has files");
    }
}
