use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::agent::run::{CallError, OwnTool, Progress};
use crate::llm::ToolSpec;
use crate::persona::roster::Roster;
use crate::tools::{ToolError, ToolOutput};

pub(super) const NAME: &str = "ask_agent";

/// Forwards questions between personas.
#[async_trait]
pub trait Colleagues: Send + Sync {
    /// Asks `askee`, a name as the model wrote it.
    ///
    /// # Errors
    /// A sentence for the model.
    async fn ask(&self, askee: &str, question: &str) -> Result<String, ToolError>;
}

/// The tool with which a persona asks another one (CHAT-17).
pub(super) struct AskAgent<'a> {
    pub(super) roster: &'a Roster,
    pub(super) colleagues: &'a dyn Colleagues,
}

#[derive(Deserialize)]
struct Arguments {
    persona: String,
    question: String,
}

#[async_trait]
impl OwnTool for AskAgent<'_> {
    fn spec(&self) -> ToolSpec {
        let names: Vec<_> = self.roster.personas().iter().map(|persona| persona.name.as_str()).collect();
        ToolSpec {
            name: NAME.into(),
            description: "Asks another persona of the team and gives you its answer. Use it only for what that persona knows better."
                .into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "persona": {"type": "string", "enum": names},
                    "question": {"type": "string", "description": "The whole question; the persona sees nothing else of yours."},
                },
                "required": ["persona", "question"],
                "additionalProperties": false,
            }),
        }
    }

    fn describe_doing(&self, arguments: &Value) -> Option<String> {
        let askee = self.roster.resolve(arguments["persona"].as_str()?).ok()?;
        Some(format!("Asking {}", askee.name))
    }

    async fn call(&self, arguments: &Value, _: &Progress) -> Result<ToolOutput, CallError> {
        let Arguments { persona, question } = Arguments::deserialize(arguments)
            .map_err(|error| ToolError::Refused(format!("Not asked: {error}. The arguments are `persona` and `question`, both text.")))?;
        if question.trim().is_empty() {
            return Err(ToolError::Refused("Not asked: the question is empty.".into()).into());
        }
        let text = self.colleagues.ask(&persona, &question).await?;
        // The answer may quote text from outside.
        Ok(ToolOutput { text, outside: true, trace: None })
    }
}
