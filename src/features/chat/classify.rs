//! One short question about a message to the cheapest model, for features that have to know what a person wants before a persona answers.

use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use kernel::agent::{Agents, Prompt, Run, RunError};
use kernel::ids::MessageId;
use kernel::money::Purpose;
use kernel::persona::Tier;
use kernel::time::SharedClock;

/// How long a quick model may think about it while a person waits.
const LIMIT: Duration = Duration::from_secs(12);

const TOKENS: u32 = 250;

/// None: the model takes longer than a person waits.
///
/// # Errors
/// As for any run.
pub async fn classify_in_time<T: DeserializeOwned + JsonSchema + Send>(
    agents: &Agents,
    clock: &SharedClock,
    message: &MessageId,
    prompt: Prompt,
) -> Result<Option<T>, RunError> {
    let cancel = CancellationToken::new();
    let limit = agents.runner.models.limit((Tier::T1, Purpose::Other), LIMIT);
    let mut asked = Box::pin(classify(agents, message, prompt, &cancel));
    let given = tokio::select! {
        given = &mut asked => given,
        () = clock.sleep(limit) => {
            // Cancelled instead of dropped, so that the call is settled.
            cancel.cancel();
            asked.await
        }
    };
    match given {
        Err(RunError::Cancelled) => Ok(None),
        given => given.map(Some),
    }
}

/// As [`classify_in_time`], however long it takes.
///
/// # Errors
/// As for any run.
pub async fn classify<T: DeserializeOwned + JsonSchema + Send>(
    agents: &Agents,
    message: &MessageId,
    prompt: Prompt,
    cancel: &CancellationToken,
) -> Result<T, RunError> {
    let run = Run {
        persona: None,
        purpose: Purpose::Other,
        subject: message.as_str(),
        tier: Tier::T1,
        allowance: None,
        pictures: Vec::new(),
        prompt: Box::pin(std::future::ready(Ok(prompt))),
        max_output_tokens: TOKENS,
        keep_partial: false,
        tools: None,
        journal: None,
        cancel,
    };
    Ok(agents.run_structured::<T>(run).await?.value)
}
