//! Tools to search and add memories.

use std::sync::Arc;

use async_trait::async_trait;
use chrono_tz::Tz;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::chat::medium::Medium;
use crate::db::{Database, StoreError};
use crate::ids::{MemoryId, PersonaSlug};
use crate::memory::search::Wanted;
use crate::memory::store::save_memory_as;
use crate::memory::{Memory, MemoryKind, MemorySource, Recall, short_id};
use crate::text::{flatten, fold_name, one_line};
use crate::time::Today;
use crate::tools::approval::Risk;
use crate::tools::{AskedBy, Tool, ToolContext, ToolError, ToolOutput, Trace, parse_arguments};

/// The most memories returned.
const TOLD: usize = 10;

/// The most characters of a lesson and of a tag, and the most tags.
const TEXT: usize = 500;
const TAG: usize = 40;
const TAGS: usize = 8;

/// Lower than for lessons of a meeting.
const SIGNIFICANCE: f64 = 0.4;

pub fn memory_tools(store: &Database, zone: Tz) -> [Arc<dyn Tool>; 2] {
    [Arc::new(Save(store.clone())), Arc::new(Search { store: store.clone(), zone })]
}

struct Save(Database);
struct Search {
    store: Database,
    /// The team's, for "last week".
    zone: Tz,
}

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
        "Remembers one thing: what a person asks you to remember, in exactly the person's words, or a lesson of yours for later matters that are \
         like this one. Not for results: those belong in a file."
            .into()
    }

    fn asked_by(&self) -> &'static str {
        "remember note keep mind lesson rule always never know merken merk notieren notier denk retiens recuerda"
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "One sentence that is understood without this matter."},
                "tags": {"type": "array", "items": {"type": "string"}, "description": "What it is about, in single words."},
            },
            "required": ["text"],
            "additionalProperties": false,
        })
    }

    /// A person's own words are remembered because the person asks for it. They cannot hold text from outside, whatever else the run has read.
    fn risk(&self, arguments: &Value, context: &ToolContext<'_>) -> Risk {
        match arguments["text"].as_str().and_then(|text| find_teacher(text, context)) {
            Some(_) => Risk::Read,
            None => Risk::Write,
        }
    }

    fn describe_done(&self, trace: &Trace) -> Option<String> {
        let Trace::Stored { id, .. } = trace else { return None };
        Some(format!("Remembered `{}`", short_id(&id.as_str().into())))
    }

    fn describe_wish(&self, arguments: &Value) -> String {
        format!("May I remember this? {}", Medium::Chat.line(arguments["text"].as_str().unwrap_or_default()))
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let SaveArguments { text, tags } = parse_arguments(arguments)?;
        let source = context.get_source()?;
        let text = one_line(&text, TEXT);
        if text.is_empty() {
            return Err(ToolError::Refused("the lesson is empty".into()));
        }
        let teacher = find_teacher(&text, context);
        let memory = Memory {
            id: memory_id(source, context.persona, &text),
            persona: teacher.is_none().then(|| context.persona.clone()),
            tags: clean_tags(&tags, context.tainted && teacher.is_none()),
            significance: if teacher.is_some() { Memory::TAUGHT } else { SIGNIFICANCE },
            place: context.scope.place().cloned(),
            taught_by: teacher.map(|asked| asked.person.clone()),
            ..Memory::new(if teacher.is_some() { MemoryKind::Fact } else { MemoryKind::Lesson }, text, source.clone(), context.now)
        };
        let kept = save(&self.0, &memory).await.map_err(|error| unavailable(&error))?;
        let trace = Trace::Stored { kind: "memory".into(), id: kept.to_string() };
        Ok(ToolOutput { text: format!("Noted: {}", memory.text), outside: false, trace: Some(trace) })
    }
}

#[async_trait]
impl Tool for Search {
    fn name(&self) -> &'static str {
        "memory_search"
    }

    fn description(&self) -> String {
        "Searches what people taught, said and posted where you are asked, and what you and the team have learnt.".into()
    }

    fn asked_by(&self) -> &'static str {
        "remember remembered said told knew earlier before agreed decided once who when erinnern erinnerst gesagt früher damals beschlossen rappelles dijo"
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
        if Wanted::parse(&query).is_none() {
            return Err(ToolError::Refused("the query has no word in it".into()));
        }
        let asked = Recall {
            today: Some(Today { now: context.now, zone: self.zone }),
            ..Recall::new(&query, context.scope, TOLD).of(context.persona).everything().loosely()
        };
        let found = self.store.recall(&asked).await.map_err(|error| unavailable(&error))?;
        let lines: Vec<_> = found.iter().map(line).collect();
        let outside = found.iter().any(Memory::may_quote_outside);
        let text = if lines.is_empty() { "Nothing is remembered about that.".into() } else { lines.join("\n") };
        Ok(ToolOutput { text, outside, trace: None })
    }
}

/// The line of a memory. What a person taught has its id, by which it can be forgotten.
fn line(memory: &Memory) -> String {
    let on = memory.created_at.format("%Y-%m-%d").to_string();
    let id = memory.taught_by.as_ref().map_or(String::new(), |_| format!(" (id {})", memory.short_id()));
    format!("- {}: {}{id}", memory.cite(&on, flatten), memory.text)
}

async fn save(store: &Database, memory: &Memory) -> Result<MemoryId, StoreError> {
    let known = store.find_duplicate(memory).await?;
    let mut transaction = store.db().begin().await?;
    let kept = save_memory_as(&mut transaction, memory, known.as_ref().map(|known| &known.id)).await?;
    transaction.commit().await?;
    Ok(kept)
}

/// The person whose own words a text is.
fn find_teacher<'a>(text: &str, context: &ToolContext<'a>) -> Option<&'a AskedBy> {
    context.asked_by.filter(|asked| asked.says(text))
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
        MemorySource::Command => "command",
    };
    let digest = Sha256::digest(format!("{source}\n{persona}\n{text}"));
    MemoryId::new(digest[..16].iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")))
}

fn unavailable(error: &StoreError) -> ToolError {
    tracing::warn!(%error, "a tool could not use the team's memory");
    ToolError::Failed("the team's memory is not available right now".into())
}
