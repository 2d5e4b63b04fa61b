use serde::Deserialize;
use serde_json::json;

use super::{AgentAsk, Colleagues, TurnInput};
use crate::domain::roster::Roster;
use crate::llm::{ToolCall, ToolSpec};

pub(super) const NAME: &str = "ask_agent";

/// The tool by which a persona puts a question to another one (CHAT-17).
pub(super) fn spec(roster: &Roster) -> ToolSpec {
    let names: Vec<_> = roster.personas().iter().map(|persona| persona.name.as_str()).collect();
    ToolSpec {
        name: NAME.into(),
        description: "Asks another persona of the team and gives you its answer. Use it only for what that persona knows better.".into(),
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

#[derive(Deserialize)]
struct Arguments {
    persona: String,
    question: String,
}

/// Carries out one call. Whatever is wrong with it, the model is told in words.
pub(super) async fn call(call: &ToolCall, input: &TurnInput<'_>, colleagues: &dyn Colleagues) -> String {
    if call.name != NAME {
        return format!("There is no tool {}; there is {NAME}.", call.name);
    }
    let Arguments { persona, question } = match Arguments::deserialize(&call.arguments) {
        Ok(arguments) if !arguments.question.trim().is_empty() => arguments,
        Ok(_) => return "Not asked: the question is empty.".into(),
        Err(error) => return format!("Not asked: {error}. The arguments are `persona` and `question`, both text."),
    };
    let asked = AgentAsk {
        asker: input.persona,
        askee: &persona,
        question: &question,
        path: &input.path,
        message: input.message,
        chain: input.chain,
        channel: &input.channel.id,
    };
    colleagues.ask(&asked).await
}
