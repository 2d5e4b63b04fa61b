//! Tries every configured model, for `teamroom doctor`.

use futures_util::future::join_all;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::finding::Finding;
use crate::llm::models::Candidate;
use crate::llm::provider::TOOL_CALLS;
use crate::llm::{Call, Cause, ModelError, ModelMessage, ModelReply, ModelRequest, Models, ToolSpec};
use crate::money::Purpose;
use crate::text::join_with_and;

/// The tool that a model is asked to call.
const TOOL: &str = "report_ready";

impl Models {
    /// Asks each model to call a tool once, all at the same time. The calls are in the ledger like any other.
    pub async fn try_each(&self) -> Vec<Finding> {
        let mut tried: Vec<&Candidate> = Vec::new();
        for candidate in &self.candidates {
            if tried.iter().all(|known| known.name != candidate.name) {
                tried.push(candidate);
            }
        }
        join_all(tried.into_iter().map(|candidate| self.try_one(candidate))).await
    }

    async fn try_one(&self, candidate: &Candidate) -> Finding {
        let call = Call { persona: None, purpose: Purpose::Other, subject: "doctor".into(), tier: candidate.tier, allowance: None };
        let tool = ToolSpec {
            name: TOOL.into(),
            description: "Reports that you are ready.".into(),
            parameters: json!({"type": "object", "properties": {}, "required": []}),
        };
        let request = ModelRequest {
            system: "This is a test of the connection.".into(),
            messages: vec![ModelMessage::User(format!("Call the tool {TOOL}."))],
            tools: vec![tool],
            max_output_tokens: 64,
            ..ModelRequest::default()
        };
        let cancel = CancellationToken::new();
        let mut state = self.state(&call, &request, &cancel);
        let outcome = self.attempt(candidate, &mut state).await;
        if outcome.is_ok() {
            self.wake(&candidate.name).await;
        }
        let name = format!("model {}/{}", candidate.name.provider, candidate.name.model);
        describe(&name, &outcome, &candidate.adapter.lacks())
    }
}

fn describe(name: &str, outcome: &Result<ModelReply, ModelError>, lacks: &[&str]) -> Finding {
    match outcome {
        Ok(_) | Err(ModelError::AtLimit { .. }) if lacks.contains(&TOOL_CALLS) => Finding::warning(
            format!("{name}: answers, without {}", join_with_and(lacks)),
            "Personas answer from feeds and files only. Choose a model that can call tools, or switch them on at the endpoint.",
        ),
        Ok(reply) if reply.calls.iter().any(|call| call.name == TOOL) => {
            let without = if lacks.is_empty() { String::new() } else { format!(", without {}", join_with_and(lacks)) };
            Finding::good(format!("{name}: answers and calls tools{without}"))
        }
        Ok(_) | Err(ModelError::AtLimit { .. }) => Finding::warning(
            format!("{name}: answers, but did not call the tool that it was asked to call"),
            "Choose a model that can call tools if personas should look things up, change the backlog or work on files.",
        ),
        Err(error @ ModelError::Busy { cause: Cause::Loading | Cause::Overloaded | Cause::RateLimit, .. }) => {
            Finding::warning(format!("{name}: {error}"), "Run `teamroom doctor` again in a few minutes.")
        }
        Err(error) => Finding::fault(format!("{name}: {error}"), remedy(error)),
    }
}

fn remedy(error: &ModelError) -> &'static str {
    match error.cause() {
        Some(Cause::Unreachable) => "Start the model server, or correct its address (TEAMROOM_MODEL_URL or base_url in teamroom.toml).",
        Some(Cause::Key) => "Correct the key in .env. Keys are made on the provider's website.",
        Some(Cause::MissingModel) => "Correct the model's name (TEAMROOM_MODEL or [models] in teamroom.toml), or load the model there.",
        Some(Cause::Credit) => "Add credit to the account.",
        Some(Cause::Quota) => "Raise the limit of the account, or wait until its period ends.",
        _ => match error {
            ModelError::TimedOut { .. } => "See whether the model server is busy, or raise models.first_byte_timeout_s.",
            ModelError::OutOfBudget(_) => "Raise the budget with `/costs raise`, or wait until tomorrow.",
            ModelError::Garbled { .. } => "The address should end in /v1, or as the provider says. It must not be that of a web page.",
            _ => "See what the provider says about this error.",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Grade;
    use crate::llm::{Counted, ToolCall};
    use crate::money::TokenUsage;

    fn reply(calls: Vec<ToolCall>) -> ModelReply {
        ModelReply {
            text: "ok".into(),
            calls,
            usage: TokenUsage::default(),
            counted: Counted::default(),
            provider: "p".into(),
            model: "m".into(),
            remarks: Vec::new(),
        }
    }

    #[test]
    fn only_a_model_that_calls_the_tool_is_without_a_warning() {
        let called = Ok(reply(vec![ToolCall { id: "1".into(), name: TOOL.into(), arguments: json!({}) }]));
        assert_eq!(describe("model p/m", &called, &[]).to_string(), "ok   model p/m: answers and calls tools");
        assert_eq!(describe("model p/m", &called, &["streaming"]).grade, Grade::Ok);
        assert_eq!(describe("model p/m", &Ok(reply(vec![])), &[]).grade, Grade::Warn);
        assert_eq!(describe("model p/m", &Ok(reply(vec![])), &[TOOL_CALLS]).grade, Grade::Warn);
        assert_eq!(describe("model p/m", &Err(ModelError::AtLimit { provider: "p".into() }), &[]).grade, Grade::Warn);
    }

    #[test]
    fn a_model_that_is_there_later_is_a_warning_and_one_that_is_not_there_a_fault() {
        let busy = |cause| Err(ModelError::Busy { provider: "p".into(), reason: "503".into(), cause, retry_after: None });
        assert_eq!(describe("model p/m", &busy(Cause::Loading), &[]).grade, Grade::Warn);
        let dead = describe("model p/m", &busy(Cause::Unreachable), &[]);
        assert_eq!((dead.grade, dead.remedy.expect("a remedy").contains("address")), (Grade::Fail, true));
        let refused = |cause| Err(ModelError::Refused { provider: "p".into(), reason: "401".into(), cause });
        assert!(describe("model p/m", &refused(Cause::Key), &[]).remedy.expect("a remedy").contains(".env"));
    }
}
