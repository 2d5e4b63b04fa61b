//! `reactions.*`

use serde_json::json;

use super::{ApiError, Call, Channel, Message, Outcome};

/// Emojis on one message, and reactions of one user on it.
const EMOJI_LIMIT: usize = 50;
const USER_LIMIT: usize = 23;

pub(crate) fn add(call: &mut Call) -> Outcome {
    let (channel, message, name) = target(call)?;
    let user = call.app.user.clone();
    let of_user = message.reactions.iter().filter(|reaction| reaction.users.contains(&user)).count();
    let is_new = message.reactions.iter().all(|reaction| reaction.name != name);
    if is_new && message.reactions.len() >= EMOJI_LIMIT {
        return Err(ApiError::new("too_many_emoji"));
    }
    if of_user >= USER_LIMIT {
        return Err(ApiError::new("too_many_reactions"));
    }
    if channel.archived {
        return Err(ApiError::new("is_archived"));
    }
    let is_added = call.world().react(&channel.id, message.ts, &user, &name, true);
    if is_added { Ok(json!({})) } else { Err(ApiError::new("already_reacted")) }
}

pub(crate) fn remove(call: &mut Call) -> Outcome {
    let (channel, message, name) = target(call)?;
    let user = call.app.user.clone();
    let is_removed = call.world().react(&channel.id, message.ts, &user, &name, false);
    if is_removed { Ok(json!({})) } else { Err(ApiError::new("no_reaction")) }
}

pub(crate) fn get(call: &mut Call) -> Outcome {
    let (channel, message) = item(call)?;
    let world = &call.core.world;
    Ok(json!({ "type": "message", "channel": channel.id, "message": world.message(&channel, &message) }))
}

fn target(call: &Call) -> Result<(Channel, Message, String), ApiError> {
    let name = call.arguments.text("name")?;
    let name = name.trim_matches(':').to_owned();
    // A name may carry a skin tone: `wave::skin-tone-3`.
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-+':".contains(c));
    if !is_name || !name.is_ascii() {
        return Err(ApiError::new("invalid_name"));
    }
    let (channel, message) = item(call)?;
    Ok((channel, message, name))
}

fn item(call: &Call) -> Result<(Channel, Message), ApiError> {
    if !call.arguments.has("channel") || !call.arguments.has("timestamp") {
        return Err(ApiError::new("no_item_specified"));
    }
    let channel = call.channel("channel")?;
    call.arguments.ts("timestamp", "bad_timestamp")?;
    if !channel.has(&call.app.user) {
        return Err(ApiError::new("not_in_channel"));
    }
    let message = call.message(&channel, "timestamp")?;
    Ok((channel, message))
}
