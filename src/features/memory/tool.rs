use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::request::clean_id;
use crate::store::Store;
use kernel::chat::medium::Medium;
use kernel::db::StoreError;
use kernel::memory::{Memory, short_id};
use kernel::text::essence;
use kernel::tools::approval::Risk;
use kernel::tools::{Tool, ToolContext, ToolError, ToolOutput, Trace, parse_arguments};

/// Forgets what the asking person has taught. Facts that others taught stay.
pub(super) struct MemoryForget(pub(super) Store);

#[derive(Deserialize)]
struct Arguments {
    id: String,
    text: String,
}

#[async_trait]
impl Tool for MemoryForget {
    fn name(&self) -> &'static str {
        "memory_forget"
    }

    fn description(&self) -> String {
        "Forgets for good what the asking person has taught the team, when the person wants it forgotten. Search it first.".into()
    }

    fn asked_by(&self) -> &'static str {
        "remember delete remove erase vergessen vergiss löschen oublie olvida"
    }

    fn needs_message(&self) -> bool {
        true
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "Its id, as memory_search tells it."},
                "text": {"type": "string", "description": "What it says, word for word."},
            },
            "required": ["id", "text"],
            "additionalProperties": false,
        })
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Write
    }

    fn describe_doing(&self, _: &Value) -> Option<String> {
        Some("Looking for what to forget".into())
    }

    fn describe_done(&self, trace: &Trace) -> Option<String> {
        let Trace::Stored { id, .. } = trace else { return None };
        Some(format!("Forgot `{}`", short_id(&id.as_str().into())))
    }

    /// The call forgets only what has this text.
    fn describe_wish(&self, arguments: &Value) -> String {
        format!("May I forget this for good? {}", Medium::Chat.line(arguments["text"].as_str().unwrap_or_default()))
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let Arguments { id, text } = parse_arguments(arguments)?;
        let Some(person) = context.asked_by.map(|asked| &asked.person).filter(|person| person.id.is_some()) else {
            return Err(ToolError::Refused("only a person can have something forgotten".into()));
        };
        let found = self.0.find_memories(&clean_id(&id), context.scope).await.map_err(|error| unavailable(&error))?;
        let is_it = |memory: &&Memory| memory.forgotten_by.is_none() && essence(&memory.text) == essence(&text);
        let Some(memory) = found.iter().find(is_it) else {
            return Err(ToolError::Refused("nothing with this id and this text is remembered; search it first".into()));
        };
        if memory.taught_by.as_ref().is_none_or(|by| by.id != person.id) {
            return Err(ToolError::Refused(
                "only the person who taught it or an operator can have it forgotten, with `/memory forget`".into(),
            ));
        }
        let forget = self.0.draft_forget(vec![memory.clone()], person, context.now).await.map_err(|error| unavailable(&error))?;
        self.0.forget(&forget).await.map_err(|error| unavailable(&error))?;
        let trace = Trace::Stored { kind: "forgotten".into(), id: memory.id.to_string() };
        Ok(ToolOutput { text: format!("Forgotten for good ({}).", memory.short_id()), outside: false, trace: Some(trace) })
    }
}

fn unavailable(error: &StoreError) -> ToolError {
    tracing::warn!(%error, "a tool could not use the team's memory");
    ToolError::Failed("the team's memory is not available right now".into())
}
