//! `users.*` and `bots.info`.

use serde_json::{Value, json};

use super::paging::page;
use super::{ApiError, Call, Outcome};

pub(crate) fn info(call: &mut Call) -> Outcome {
    let id = call.arguments.text("user")?;
    let shown = shown(call, &id);
    if shown.is_null() { Err(ApiError::new("user_not_found")) } else { Ok(json!({ "user": shown })) }
}

pub(crate) fn list(call: &mut Call) -> Outcome {
    let ids: Vec<String> = call.core.world.users.keys().cloned().collect();
    let page = page(&call.arguments, ids, 1_000, 1_000)?;
    let members: Vec<Value> = page.items.iter().map(|id| shown(call, id)).collect();
    Ok(json!({ "members": members, "cache_ts": call.core.now().as_secs(), "response_metadata": page.metadata() }))
}

pub(crate) fn profile(call: &mut Call) -> Outcome {
    let id = call.arguments.text("user")?;
    let mut profile = call.core.world.profile(&id);
    if profile.is_null() {
        return Err(ApiError::new("user_not_found"));
    }
    hide_email(call, &mut profile);
    Ok(json!({ "profile": profile }))
}

pub(crate) fn bot(call: &mut Call) -> Outcome {
    let id = call.arguments.text("bot")?;
    let world = &call.core.world;
    let app = world.find_bot(&id).ok_or_else(|| ApiError::new("bot_not_found"))?;
    Ok(json!({ "bot": world.bot(app) }))
}

fn shown(call: &Call, id: &str) -> Value {
    let mut user = call.core.world.user(id);
    if let Some(profile) = user.get_mut("profile") {
        hide_email(call, profile);
    }
    user
}

/// Removes the email address, unless the app has the scope for it.
fn hide_email(call: &Call, profile: &mut Value) {
    if let Some(fields) = profile.as_object_mut().filter(|_| !call.app.has_scope("users:read.email")) {
        fields.remove("email");
    }
}
