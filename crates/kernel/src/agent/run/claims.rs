//! Checks whether an answer claims something that was not done. Only a successful call does something, so code knows what was done. What is
//! [spoken of](super::spoken) decides only whether a model is asked what the answer claims.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::context::{Cleaner, new_marker};
use crate::agent::prompt::Template;
use crate::agent::run::spoken::{may_claim, names_colleague, names_search, statements};
use crate::agent::run::{Prompt, Run, Session};
use crate::agent::{RunError, run::Tools};
use crate::llm::ToolCall;
use crate::persona::Tier;
use crate::tools::{Act, Trace};

static PROMPT: Template = Template::new(include_str!("claims.md.j2"));

const OUTPUT_TOKENS: u32 = 300;

/// The most bytes of the question and of the answer that are looked at.
const QUESTION: usize = 4000;
const ANSWER: usize = 12_000;

/// What an answer may claim in every team.
const HANDING: Act = Act {
    name: "handing",
    claim: "something is now, will be or was passed on to a colleague, or a colleague was asked",
    done_by: &["ask_agent", "backlog_add", "backlog", "board", "board_create", "mission", "meeting"],
    correction: "Correction: nothing was passed on.",
};
const FAILING: Act = Act {
    name: "failing",
    claim: "a search, a page or a tool was tried now and failed, or is down at the moment",
    done_by: &[],
    correction: "Correction: nothing was tried that failed.",
};

/// Added below an answer that no model could check. The sentence is true whatever the answer says.
const UNCHECKED: &str = "Nothing was added, remembered or scheduled with this answer.";

/// What follows from the claims of an answer.
pub(super) enum Claims {
    /// The answer stands, with these corrections below it.
    Corrected(Vec<String>),
    /// The model is told this, and answers once more.
    SentBack(String),
}

/// The claims of an answer, according to a model.
#[derive(Debug, Deserialize, JsonSchema)]
struct Claimed {
    /// The names of the acts that the answer claims. Empty if it claims none.
    acts: Vec<String>,
}

#[derive(Serialize)]
struct Checked<'a> {
    marker: &'a str,
    acts: Vec<Shown>,
    question: String,
    answer: String,
}

#[derive(Serialize)]
struct Shown {
    name: &'static str,
    claim: &'static str,
}

impl Session<'_> {
    pub(super) async fn find_false_claims(&self, answer: &str) -> Result<Claims, RunError> {
        let Some(tools) = self.tools.as_ref().filter(|tools| tools.in_chat.is_some()) else { return Ok(Claims::Corrected(Vec::new())) };
        let question = tools.asked_by.as_ref().map_or("", |asked| asked.text.as_str());
        let open: Vec<Act> = self.runner.tools.acts().iter().filter(|act| !self.is_settled(act)).copied().collect();
        let open: Vec<Act> = if self.speaks_of_a_search(answer) { [&[FAILING], &*open].concat() } else { open };
        let names_colleague = self.names_colleague(tools, answer);
        let open: Vec<Act> = if names_colleague { [&[HANDING], &*open].concat() } else { open };
        let speaks_of_act = may_claim(question, answer);
        let may_claim = speaks_of_act || self.has_failed_at(&open) || open.iter().any(|act| [HANDING, FAILING].contains(act));
        if open.is_empty() || self.only_proposed() || !may_claim {
            return Ok(Claims::Corrected(Vec::new()));
        }
        let left = self.calls_left().await?.unwrap_or(u32::MAX);
        let claimed = if left == 0 { None } else { self.ask_what_is_claimed(tools, question, answer, &open).await? };
        let unchecked = || if speaks_of_act { vec![UNCHECKED.to_owned()] } else { Vec::new() };
        let Some(claimed) = claimed else { return Ok(Claims::Corrected(unchecked())) };
        if claimed.is_empty() {
            return Ok(Claims::Corrected(Vec::new()));
        }
        // `left` was counted before the check, which took one call.
        if self.progress.sent_back || left < 2 {
            return Ok(Claims::Corrected(claimed.iter().map(|act| act.correction.to_owned()).collect()));
        }
        let what: Vec<&str> = claimed.iter().map(|act| act.claim).collect();
        Ok(Claims::SentBack(format!(
            "Your answer was not sent. It says that {}, but no call has done that. If you have the tool, call it now. Otherwise answer again \
             and do not say so.",
            what.join(", and that ")
        )))
    }

    /// Whether the answer says something about a colleague that a call could have done. One who is addressed by `@` gets it with the answer.
    fn names_colleague(&self, tools: &Tools<'_>, answer: &str) -> bool {
        let Some(roster) = tools.in_chat.and_then(|in_chat| in_chat.roster) else { return false };
        let was_called = self.progress.list_calls().any(|call| is_for(&HANDING, call));
        !was_called && !self.is_settled(&HANDING) && names_colleague(&statements(answer), roster, self.persona)
    }

    /// Whether the answer speaks of a search although nothing was called.
    fn speaks_of_a_search(&self, answer: &str) -> bool {
        self.progress.list_calls().next().is_none() && names_search(&statements(answer))
    }

    /// Whether nothing was carried out, and a person is asked by a button below the answer. That says what is not done yet.
    fn only_proposed(&self) -> bool {
        self.progress.done.is_empty() && !self.progress.proposed.is_empty()
    }

    /// Whether an act was done, or a person is asked to allow it.
    fn is_settled(&self, act: &Act) -> bool {
        let is_done = |(tool, trace): &(String, Trace)| match trace {
            Trace::Confirmed { id, .. } => is_in_group(act, id) || act.done_by.contains(&tool.as_str()),
            _ => act.done_by.contains(&tool.as_str()),
        };
        self.progress.done.iter().any(is_done) || self.progress.proposed.iter().any(|call| is_for(act, call))
    }

    /// Whether one of the acts was tried and not done. Then any answer may claim it, in whatever words.
    fn has_failed_at(&self, acts: &[Act]) -> bool {
        self.progress.failed.iter().any(|call| acts.iter().any(|act| is_for(act, call)))
    }

    /// None if no model could tell.
    async fn ask_what_is_claimed(
        &self,
        tools: &Tools<'_>,
        question: &str,
        answer: &str,
        open: &[Act],
    ) -> Result<Option<Vec<Act>>, RunError> {
        let marker = new_marker();
        let cleaner = Cleaner { marker: &marker };
        let acts = open.iter().map(|act| Shown { name: act.name, claim: act.claim }).collect();
        let message = PROMPT.render(Checked {
            marker: &marker,
            acts,
            question: cleaner.text(question, QUESTION),
            answer: cleaner.text(answer, ANSWER),
        });
        let prompt = Prompt { system: String::new(), message, holds_outside: true, remarks: Vec::new() };
        if let Some(watch) = tools.in_chat.and_then(|in_chat| in_chat.watch) {
            watch("Checking my answer".to_owned());
        }
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
        match Box::pin(self.runner.run_structured::<Claimed>(run)).await {
            Ok(claimed) => {
                let names: HashSet<String> = claimed.value.acts.iter().map(|name| name.trim().to_lowercase()).collect();
                Ok(Some(open.iter().filter(|act| names.contains(act.name)).copied().collect()))
            }
            Err(error @ (RunError::Cancelled | RunError::Lost | RunError::Store(_))) => Err(error),
            Err(error) => {
                tracing::warn!(subject = self.call.subject, %error, "what an answer claims could not be checked");
                Ok(None)
            }
        }
    }
}

fn is_in_group(act: &Act, command: &str) -> bool {
    command.split(' ').next().is_some_and(|group| act.done_by.contains(&group))
}

/// Whether a call is one of those that do an act.
fn is_for(act: &Act, call: &ToolCall) -> bool {
    let command = call.arguments.get("command").and_then(Value::as_str);
    act.done_by.contains(&call.name.as_str()) || command.is_some_and(|command| is_in_group(act, command))
}
