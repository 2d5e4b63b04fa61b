//! Asks a cheap model for the kind of execution if no rule applies.

use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use crate::features::backlog::Work;
use crate::features::backlog::action::question_of;
use crate::features::backlog::model::{Execution, ExecutionKind, WorkItem};
use kernel::agent::{Prompt, Run};
use kernel::money::Purpose;
use kernel::persona::Tier;

const ASK: &str = include_str!("kind.md");
const TOKENS: u32 = 200;

#[derive(Deserialize, JsonSchema)]
struct Kind {
    execution: ExecutionKind,
}

impl Work {
    /// None without a model, without a valid answer, or if the answer cannot be executed.
    pub(super) async fn classify(&self, item: &WorkItem, cancel: &CancellationToken) -> Option<Execution> {
        let deps = self.deps();
        if deps.agents.is_offline() {
            return None;
        }
        let message = format!("What: {}\nHow: {}\nWhy: {}", item.what, item.how, item.why);
        let prompt = Prompt { system: ASK.trim().to_owned(), message, holds_outside: !item.origin.is_of_a_person() };
        let run = Run {
            persona: None,
            purpose: Purpose::Step,
            subject: item.id.as_str(),
            tier: Tier::T1,
            prompt: Box::pin(std::future::ready(Ok(prompt))),
            max_output_tokens: TOKENS,
            keep_partial: false,
            tools: None,
            journal: None,
            cancel,
        };
        match deps.agents.run_structured::<Kind>(run).await {
            Ok(answer) => match answer.value.execution {
                ExecutionKind::Remind => Some(Execution::Remind { whom: None }),
                ExecutionKind::Research => Some(Execution::Research),
                ExecutionKind::Write => Some(Execution::Write),
                ExecutionKind::Build => Some(Execution::Build),
                ExecutionKind::Ask => Some(Execution::ask(item.owner.clone(), question_of(&item.what, &item.how))),
                // Feed and condition are unknown.
                ExecutionKind::Watch => None,
            },
            Err(error) => {
                tracing::warn!(item = %item.id, %error, "no model classified an item, so a person is asked");
                None
            }
        }
    }
}
