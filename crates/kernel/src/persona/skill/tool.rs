use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::persona::roster::Roster;
use crate::text::fold_name;
use crate::tools::approval::Risk;
use crate::tools::{Tool, ToolContext, ToolError, ToolLimits, ToolOutput, parse_arguments};

/// Reads one of the persona's skills.
pub struct SkillRead(pub Arc<Roster>);

#[derive(Deserialize)]
struct Arguments {
    name: String,
}

#[async_trait]
impl Tool for SkillRead {
    fn name(&self) -> &'static str {
        "skill_read"
    }

    fn description(&self) -> String {
        "Reads how your team does a kind of work: one of the ways of working that you know, by its name.".into()
    }

    fn asked_by(&self) -> &'static str {
        "skill skills method methods way ways working template checklist how Fähigkeiten Vorgehen Vorlage"
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"name": {"type": "string", "description": "Its name, such as Decision document."}},
            "required": ["name"],
            "additionalProperties": false,
        })
    }

    fn limits(&self) -> ToolLimits {
        ToolLimits { chars: super::MAX_TEXT, ..ToolLimits::default() }
    }

    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let Arguments { name } = parse_arguments(arguments)?;
        let persona = self.0.find(context.persona).ok_or_else(|| ToolError::Refused("you have left the team".into()))?;
        let name = fold_name(&name);
        let skill = self.0.skills_of(persona).find(|skill| fold_name(&skill.name) == name || fold_name(&skill.slug) == name);
        let Some(skill) = skill else {
            let names: Vec<&str> = self.0.skills_of(persona).map(|skill| skill.name.as_str()).collect();
            let known = if names.is_empty() { "you have none".into() } else { format!("you have {}", names.join(", ")) };
            return Err(ToolError::Refused(format!("there is no such way of working; {known}")));
        };
        // The operators have written it.
        Ok(ToolOutput { text: skill.text.clone(), outside: false, trace: None })
    }
}
