//! Tools to search and add memories.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::db::{Database, StoreError};
use crate::ids::{MemoryId, PersonaSlug};
use crate::memory::{Memory, MemoryKind, MemorySource};
use crate::text::{flatten, fold_name};
use crate::tools::approval::Risk;
use crate::tools::{Tool, ToolContext, ToolError, ToolOutput, Trace, parse_arguments};

/// The most lessons searched, by significance, and the most returned.
const LOOKED_AT: u32 = 1000;
const TOLD: usize = 10;

/// The most characters of a lesson and of a tag, and the most tags.
const TEXT: usize = 500;
const TAG: usize = 40;
const TAGS: usize = 8;

/// Lower than for lessons of a meeting.
const SIGNIFICANCE: f64 = 0.4;

pub fn memory_tools(store: &Database) -> [Arc<dyn Tool>; 2] {
    [Arc::new(Save(store.clone())), Arc::new(Search(store.clone()))]
}

struct Save(Database);
struct Search(Database);

#[derive(Deserialize)]
struct SaveArguments {
    text: String,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Deserialize)]
struct SearchArguments {
    query: String,
}

#[async_trait]
impl Tool for Save {
    fn name(&self) -> &'static str {
        "memory_save"
    }

    fn description(&self) -> String {
        "Notes one lesson that you are to be told again when a later matter is like this one. Not for results: those belong in a file."
            .into()
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "The lesson, in one sentence that is understood without this matter."},
                "tags": {"type": "array", "items": {"type": "string"}, "description": "What it is about, in single words."},
            },
            "required": ["text"],
            "additionalProperties": false,
        })
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Write
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let SaveArguments { text, tags } = parse_arguments(arguments)?;
        let source = context.get_source()?;
        let text = flatten(&text, TEXT);
        if text.is_empty() {
            return Err(ToolError::Refused("the lesson is empty".into()));
        }
        let memory = Memory {
            id: memory_id(source, context.persona, &text),
            kind: MemoryKind::Lesson,
            persona: Some(context.persona.clone()),
            text,
            tags: clean_tags(&tags, context.tainted),
            significance: SIGNIFICANCE,
            source: source.clone(),
            created_at: context.now,
            ended_at: None,
        };
        self.0.record_memories(std::slice::from_ref(&memory)).await.map_err(|error| unavailable(&error))?;
        let trace = Trace::Stored { kind: "memory".into(), id: memory.id.to_string() };
        Ok(ToolOutput { text: format!("Noted: {}", memory.text), outside: false, trace: Some(trace) })
    }
}

#[async_trait]
impl Tool for Search {
    fn name(&self) -> &'static str {
        "memory_search"
    }

    fn description(&self) -> String {
        "Searches what you and the team have learnt so far, by words.".into()
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"query": {"type": "string", "description": "A few words of the subject."}},
            "required": ["query"],
            "additionalProperties": false,
        })
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let SearchArguments { query } = parse_arguments(arguments)?;
        let words = words_of(&query);
        if words.is_empty() {
            return Err(ToolError::Refused("the query has no word in it".into()));
        }
        let lessons = self.0.list_lessons(context.persona, LOOKED_AT).await.map_err(|error| unavailable(&error))?;
        let found = find_about(&words, lessons);
        let lines: Vec<_> = found.iter().map(|memory| format!("- {} ({})", memory.text, memory.created_at.format("%Y-%m-%d"))).collect();
        let outside = found.iter().any(Memory::may_quote_outside);
        let text = if lines.is_empty() { "Nothing is remembered about that.".into() } else { lines.join("\n") };
        Ok(ToolOutput { text, outside, trace: None })
    }
}

/// Lessons that share a word with the query, by number of shared words. Otherwise the order is kept.
fn find_about(words: &BTreeSet<String>, lessons: Vec<Memory>) -> Vec<Memory> {
    let shared = |memory: &Memory| words_of(&format!("{} {}", memory.text, memory.tags.join(" "))).intersection(words).count();
    let mut found: Vec<_> = lessons.into_iter().map(|memory| (shared(&memory), memory)).filter(|(shared, _)| *shared > 0).collect();
    found.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    found.into_iter().map(|(_, memory)| memory).take(TOLD).collect()
}

/// Words of more than two letters, which skips most stop words.
fn words_of(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 2);
    words.map(str::to_lowercase).collect()
}

/// Removes the reserved tag of outside text from the model's tags, and sets it if the run is tainted.
fn clean_tags(tags: &[String], tainted: bool) -> Vec<String> {
    let mut clean: Vec<String> = Vec::new();
    for tag in tags.iter().map(|tag| fold_name(&flatten(tag, TAG))) {
        if !tag.is_empty() && tag != Memory::OUTSIDE && !clean.contains(&tag) && clean.len() < TAGS {
            clean.push(tag);
        }
    }
    clean.extend(tainted.then(|| Memory::OUTSIDE.to_owned()));
    clean
}

/// The same lesson from the same source always has the same id, so that it is stored once.
fn memory_id(source: &MemorySource, persona: &PersonaSlug, text: &str) -> MemoryId {
    let source = match source {
        MemorySource::WorkItem(item) => item.as_str(),
        MemorySource::Meeting(meeting) => meeting.as_str(),
        MemorySource::Message(message) => message.as_str(),
    };
    let digest = Sha256::digest(format!("{source}\n{persona}\n{text}"));
    MemoryId::new(digest[..16].iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")))
}

fn unavailable(error: &StoreError) -> ToolError {
    tracing::warn!(%error, "a tool could not use the team's memory");
    ToolError::Failed("the team's memory is not available right now".into())
}
