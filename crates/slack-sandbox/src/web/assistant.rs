//! `assistant.threads.*`: the status that an app shows in a thread, the thread's title, and suggested prompts. And the sessions of agents.

use serde_json::{Value, json};

use super::{ApiError, Call, Outcome, Ts};
use crate::state::{Change, SESSION_STOPPED};

const STATUSES: [&str; 4] = ["active", "processing", "suspended", "closed"];

/// "A maximum of 4 prompts"
const PROMPT_LIMIT: usize = 4;

/// Sets the status of a thread. It is shown until the app posts there or sets an empty status.
pub(crate) fn set_status(call: &mut Call) -> Outcome {
    if !call.app.has_scope("assistant:write") {
        call.require_scope("chat:write")?;
    }
    let status = call.arguments.find("status").unwrap_or_default();
    let thread = thread(call)?;
    set(call, "status", thread, json!(status))
}

pub(crate) fn set_title(call: &mut Call) -> Outcome {
    let title = call.arguments.text("title")?;
    let thread = thread(call)?;
    set(call, "title", thread, json!(title))
}

pub(crate) fn set_prompts(call: &mut Call) -> Outcome {
    let prompts = call.arguments.json("prompts", "invalid_arguments")?.ok_or_else(|| ApiError::missing("prompts"))?;
    let is_prompt = |prompt: &Value| prompt["title"].is_string() && prompt["message"].is_string();
    let fits = prompts.as_array().is_some_and(|prompts| prompts.len() <= PROMPT_LIMIT && prompts.iter().all(is_prompt));
    if !fits {
        return Err(ApiError::arguments("must be up to 4 prompts with title and message"));
    }
    let thread = if call.arguments.has("thread_ts") { thread(call)? } else { Ts::default() };
    set(call, "prompts", thread, prompts)
}

/// `agents.sessions.setStatus`. While an agent is `processing`, people can stop it.
pub(crate) fn set_session(call: &mut Call) -> Outcome {
    // What is declared an agent has it.
    call.require_scope("assistant:write")?;
    let status = call.arguments.text("status")?;
    if !STATUSES.contains(&status.as_str()) {
        return Err(ApiError::arguments(&format!("status must be one of {}", STATUSES.join(", "))));
    }
    let name = call.arguments.find("username");
    if name.is_some() {
        call.require_scope("chat:write.customize")?;
    }
    let thread = thread(call)?;
    if !call.app.listens_to(SESSION_STOPPED) {
        call.warnings.push("missing_agent_session_stopped_event_subscription");
    }
    if let Some(name) = name {
        // It stays until it is changed.
        set(call, "username", thread, json!(name))?;
    }
    set(call, "session", thread, json!(status))?;
    Ok(json!({ "status": status }))
}

fn thread(call: &Call) -> Result<Ts, ApiError> {
    let thread = call.arguments.find("thread_ts").ok_or_else(|| ApiError::missing("thread_ts"))?;
    thread.parse().map_err(|_| ApiError::new("invalid_thread_ts"))
}

fn set(call: &mut Call, field: &str, thread: Ts, value: Value) -> Outcome {
    let channel = call.channel("channel_id")?;
    if !channel.has(&call.app.user) {
        return Err(ApiError::new("not_in_channel"));
    }
    let (app, world) = (call.app.id.clone(), &mut call.core.world);
    let shown = world.assistants.entry((channel.id.clone(), thread)).or_insert_with(|| json!({}));
    shown["app"] = json!(app);
    shown[field] = value;
    world.changes.push(Change::Doing { channel: channel.id, thread });
    Ok(json!({}))
}
