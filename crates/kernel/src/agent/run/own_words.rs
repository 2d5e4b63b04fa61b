//! What a person asks for in their own words.
//!
//! A run that has read text from outside may not change the team's data, since that text may have suggested the call. Where such a run wants to, a second
//! one reads what people wrote, and nothing else: no file, no feed, no page, no answer of a colleague but the ids in it. It decides whether the person asks
//! for such a call, and with which arguments. The run that has read other texts decides only which kind of call is looked for, and each kind once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::RunError;
use crate::agent::context::{Cleaner, new_marker};
use crate::agent::prompt::Template;
use crate::agent::run::{Prompt, Run, Session};
use crate::llm::ToolCall;
use crate::persona::Tier;
use crate::tools::{AskedBy, Decision, ToolContext};

/// Model calls that must be left: one, another if its answer has to be repaired, and the answer to the person.
const CALLS: u32 = 3;

static PROMPT: Template = Template::new(include_str!("own_words.md.j2"));

const OUTPUT_TOKENS: u32 = 600;

/// The most bytes of the message, and of each line before it.
const MESSAGE: usize = 6000;
const LINE: usize = 600;

#[derive(Debug, Deserialize, JsonSchema)]
struct OwnWords {
    /// Whether the person asks for this to be done, in the message or in a line before it that the message agrees to.
    asked_for: bool,
    /// The arguments of the call as a JSON object in a string. Empty if it is not asked for.
    #[serde(default)]
    arguments: String,
}

#[derive(Serialize)]
struct Asked<'a> {
    marker: &'a str,
    now: String,
    tool: String,
    lines: Vec<String>,
    person: String,
    message: String,
}

/// The tool, and the command that it gives.
pub(super) fn kind_of(call: &ToolCall) -> String {
    let command = call.arguments.get("command").and_then(Value::as_str).unwrap_or_default();
    format!("{} {command}", call.name).trim_end().to_owned()
}

impl Session<'_> {
    /// The call as the person's own words ask for it. None if they do not, or if a person has to allow it whatever they say.
    pub(super) async fn find_in_own_words(&self, call: &ToolCall) -> Result<Option<ToolCall>, RunError> {
        let (Some(tools), Some(context)) = (self.tools.as_ref(), self.context()) else { return Ok(None) };
        let Some(asked) = tools.asked_by.as_ref().filter(|_| tools.in_chat.is_some_and(|in_chat| in_chat.proposes)) else {
            return Ok(None);
        };
        let toolbox = &self.runner.tools;
        let is_allowed = |arguments: &Value| {
            let alone = ToolContext { tainted: false, ..context };
            matches!(toolbox.decide(&tools.listed, &call.name, arguments, &alone), Decision::Allowed { .. })
        };
        let is_done = self.progress.own_words.contains(&kind_of(call));
        if is_done || !is_allowed(&call.arguments) || self.calls_left().await?.is_some_and(|left| left < CALLS) {
            return Ok(None);
        }
        let Some(outline) = toolbox.outline(&call.name, &call.arguments) else { return Ok(None) };
        let Some(arguments) = self.ask_own_words(asked, outline).await? else { return Ok(None) };
        Ok(is_allowed(&arguments).then(|| ToolCall { arguments, ..call.clone() }))
    }

    /// None if it is not asked for, or if no model could tell.
    async fn ask_own_words(&self, asked: &AskedBy, outline: String) -> Result<Option<Value>, RunError> {
        let marker = new_marker();
        let cleaner = Cleaner { marker: &marker };
        let message = PROMPT.render(Asked {
            marker: &marker,
            now: self.runner.clock.now().format("%A, %-d %B %Y, %H:%M UTC").to_string(),
            tool: outline,
            lines: asked.talk.iter().map(|line| cleaner.line(line, LINE)).collect(),
            person: cleaner.line(&asked.person.name, LINE),
            message: cleaner.text(&asked.text, MESSAGE),
        });
        let prompt = Prompt { system: String::new(), message, holds_outside: false, remarks: Vec::new() };
        let run = Run {
            persona: self.persona,
            purpose: self.call.purpose,
            subject: &self.call.subject,
            tier: Tier::T1,
            allowance: self.call.allowance.clone(),
            pictures: Vec::new(),
            prompt: Box::pin(std::future::ready(Ok(prompt))),
            max_output_tokens: OUTPUT_TOKENS,
            keep_partial: false,
            tools: None,
            journal: None,
            cancel: self.cancel,
        };
        // Boxed, because this run is part of another run.
        match Box::pin(self.runner.run_structured::<OwnWords>(run)).await {
            Ok(words) if words.value.asked_for => Ok(serde_json::from_str(&words.value.arguments).ok()),
            Ok(_) => Ok(None),
            Err(error @ (RunError::Cancelled | RunError::Lost | RunError::Store(_))) => Err(error),
            Err(error) => {
                tracing::warn!(subject = self.call.subject, %error, "whether a person asks for a call could not be read");
                Ok(None)
            }
        }
    }
}
