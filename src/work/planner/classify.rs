//! The kind of execution where no rule knows it: one cheap question to a model.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::domain::persona::Tier;
use crate::domain::usage::Purpose;
use crate::domain::work::{Execution, ExecutionKind, WorkItem};
use crate::llm::{Call, ModelMessage, ModelRequest, ask_structured};
use crate::work::Work;

const ASK: &str = include_str!("kind.md");
const TOKENS: u32 = 200;

#[derive(Deserialize, JsonSchema)]
struct Kind {
    execution: ExecutionKind,
}

impl Work {
    /// None without a model, without a usable answer, or where the answer is nothing that can be carried out.
    pub(super) async fn classify(&self, item: &WorkItem) -> Option<Execution> {
        let parts = self.parts();
        if parts.performer.models.is_offline() {
            return None;
        }
        let call = Call { persona: None, purpose: Purpose::Step, subject: item.id.to_string(), tier: Tier::T1 };
        let message = format!("What: {}\nHow: {}\nWhy: {}", item.what, item.how, item.why);
        let request = ModelRequest {
            system: ASK.trim().to_owned(),
            messages: vec![ModelMessage::User(message)],
            max_output_tokens: TOKENS,
            ..ModelRequest::default()
        };
        match ask_structured::<Kind>(&parts.performer.models, &call, &request, &parts.kill).await {
            Ok(answer) => match answer.value.execution {
                ExecutionKind::Remind => Some(Execution::Remind { answer: true }),
                ExecutionKind::Research => Some(Execution::Research),
                ExecutionKind::Write => Some(Execution::Write),
                ExecutionKind::Build => Some(Execution::Build),
                ExecutionKind::Ask => Some(Execution::Ask { whom: item.owner.clone(), question: format!("{}. {}", item.what, item.how) }),
                // Nobody said what is waited for.
                ExecutionKind::Watch => None,
            },
            Err(error) => {
                tracing::warn!(item = %item.id, %error, "no model said how an item is carried out; its owner is reminded");
                None
            }
        }
    }
}
