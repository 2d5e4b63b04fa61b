//! `assistant.threads.*`: the status that an app shows in a thread, the thread's title, and suggested prompts.

use serde_json::{Value, json};

use super::{ApiError, Call, Outcome, Ts};

/// "A maximum of 4 prompts"
const PROMPT_LIMIT: usize = 4;

/// Sets the status of a thread. It is shown until the app posts there or sets an empty status.
pub(crate) fn set_status(call: &mut Call) -> Outcome {
    if !call.app.has_scope("assistant:write") {
        call.require_scope("chat:write")?;
    }
    let status = json!(call.arguments.find("status").unwrap_or_default());
    set(call, "status", status)
}

pub(crate) fn set_title(call: &mut Call) -> Outcome {
    let title = json!(call.arguments.text("title")?);
    set(call, "title", title)
}

pub(crate) fn set_prompts(call: &mut Call) -> Outcome {
    let prompts = call.arguments.json("prompts", "invalid_arguments")?.ok_or_else(|| ApiError::missing("prompts"))?;
    let is_prompt = |prompt: &Value| prompt["title"].is_string() && prompt["message"].is_string();
    let fits = prompts.as_array().is_some_and(|prompts| prompts.len() <= PROMPT_LIMIT && prompts.iter().all(is_prompt));
    if fits { set(call, "prompts", prompts) } else { Err(ApiError::arguments("must be up to 4 prompts with title and message")) }
}

fn set(call: &mut Call, field: &str, value: Value) -> Outcome {
    let channel = call.channel("channel_id")?;
    if !channel.has(&call.app.user) {
        return Err(ApiError::new("not_in_channel"));
    }
    let thread = match call.arguments.find("thread_ts") {
        None if field == "prompts" => Ts::default(),
        None => return Err(ApiError::missing("thread_ts")),
        Some(ts) => ts.parse().map_err(|_| ApiError::new("invalid_thread_ts"))?,
    };
    let shown = call.core.world.assistants.entry((channel.id, thread)).or_insert_with(|| json!({}));
    shown[field] = value;
    Ok(json!({}))
}
