//! Reactions.

use serde_json::{Value, json};

use crate::rest::errors::ApiError;
use crate::rest::{ApiResult, Reply, RequestContext, ok};
use crate::snowflake::Snowflake;
use crate::state::{Audience, Author, Intents, Message, Permissions, Reaction, emoji as emoji_json};

/// "Maximum number of reactions reached (20)"
const KINDS: usize = 20;

/// ASCII text is no emoji. All other text is accepted, because there is no table of emoji.
fn check_emoji(emoji: &str) -> Result<(), ApiError> {
    let is_custom = emoji.split_once(':').is_some_and(|(name, id)| !name.is_empty() && id.parse::<Snowflake>().is_ok());
    // The key-cap emoji begin with a digit, # or *.
    let is_unicode = emoji.chars().count() <= 12 && !emoji.is_ascii() && !emoji.chars().any(char::is_alphabetic);
    if is_custom || is_unicode { Ok(()) } else { Err(ApiError::unknown_emoji()) }
}

pub(crate) fn add(call: &mut RequestContext, channel: Snowflake, message: Snowflake, emoji: &str) -> ApiResult {
    check_emoji(emoji)?;
    let channel = call.channel(channel, &[Permissions::READ_MESSAGE_HISTORY])?;
    let mut message = call.message(channel.id, message)?;
    let caller = call.caller()?.clone();
    let kinds = message.reactions.len();
    match message.reactions.iter_mut().find(|reaction| reaction.emoji == emoji) {
        Some(reaction) if reaction.users.contains(&caller.id) => return Ok(Reply::Empty),
        Some(reaction) => reaction.users.push(caller.id),
        // Only the first reaction with an emoji needs the permission. Others may repeat it.
        None if !call.core.world.permissions(&caller, &channel).has(Permissions::ADD_REACTIONS) => {
            return Err(ApiError::missing_permissions());
        }
        None if kinds >= KINDS => {
            return Err(ApiError::new(400, 30010, "Maximum number of reactions reached (20)"));
        }
        None => message.reactions.push(Reaction { emoji: emoji.to_owned(), users: vec![caller.id] }),
    }
    let mut data = event(caller.id, &message, emoji);
    if let Author::User(author) = message.author {
        data["message_author_id"] = json!(author);
    }
    if !channel.is_direct() {
        data["member"] = call.core.world.member(caller.id);
    }
    announce(call, "MESSAGE_REACTION_ADD", &message, data);
    call.world().keep_reactions(message);
    Ok(Reply::Empty)
}

/// Removes a reaction of the caller or of somebody else.
pub(crate) fn remove(call: &mut RequestContext, channel: Snowflake, message: Snowflake, emoji: &str, of: Option<Snowflake>) -> ApiResult {
    let caller = call.caller_id()?;
    let user = of.unwrap_or(caller);
    let needed: &[Permissions] = if user == caller { &[] } else { &[Permissions::MANAGE_MESSAGES] };
    let channel = call.channel(channel, needed)?;
    let mut message = call.message(channel.id, message)?;
    let reaction = message.reactions.iter_mut().find(|reaction| reaction.emoji == emoji && reaction.users.contains(&user));
    reaction.ok_or_else(ApiError::unknown_emoji)?.users.retain(|other| *other != user);
    message.reactions.retain(|reaction| !reaction.users.is_empty());
    let data = event(user, &message, emoji);
    announce(call, "MESSAGE_REACTION_REMOVE", &message, data);
    call.world().keep_reactions(message);
    Ok(Reply::Empty)
}

/// Removes all reactions, or all with one emoji.
pub(crate) fn clear(call: &mut RequestContext, channel: Snowflake, message: Snowflake, emoji: Option<&str>) -> ApiResult {
    let channel = call.channel(channel, &[Permissions::MANAGE_MESSAGES])?;
    let mut message = call.message(channel.id, message)?;
    message.reactions.retain(|reaction| emoji.is_some_and(|emoji| emoji != reaction.emoji));
    let mut data = json!({ "channel_id": channel.id, "message_id": message.id });
    let name = match emoji {
        Some(emoji) => {
            data["emoji"] = emoji_json(emoji);
            "MESSAGE_REACTION_REMOVE_EMOJI"
        }
        None => "MESSAGE_REACTION_REMOVE_ALL",
    };
    announce(call, name, &message, data);
    call.world().keep_reactions(message);
    Ok(Reply::Empty)
}

pub(crate) fn list(call: &mut RequestContext, channel: Snowflake, message: Snowflake, emoji: &str) -> ApiResult {
    call.channel(channel, &[])?;
    let message = call.message(channel, message)?;
    let limit = call.limit(25, 100)?;
    let after = call.query_id("after").unwrap_or_default();
    let mut users: Vec<Snowflake> =
        message.reactions.iter().filter(|reaction| reaction.emoji == emoji).flat_map(|reaction| reaction.users.clone()).collect();
    users.sort_unstable();
    ok(users.into_iter().filter(|user| *user > after).take(limit).map(|user| call.core.world.user(user)).collect())
}

fn event(user: Snowflake, message: &Message, emoji: &str) -> Value {
    json!({
        "user_id": user, "channel_id": message.channel, "message_id": message.id, "emoji": emoji_json(emoji),
        "burst": false, "type": 0,
    })
}

fn announce(call: &mut RequestContext, event: &'static str, message: &Message, mut data: Value) {
    let world = &call.core.world;
    let intents = world.place(message.channel, &mut data, Intents::GUILD_MESSAGE_REACTIONS, Intents::DIRECT_MESSAGE_REACTIONS);
    let audience = message.ephemeral_to.map_or(Audience::Channel(message.channel), Audience::User);
    call.dispatch(event, audience, intents, data);
}

#[cfg(test)]
mod tests {
    use super::check_emoji;

    #[test]
    fn emoji_are_told_from_words() {
        for (emoji, ok) in
            [("👍", true), ("1️⃣", true), ("👩‍👩‍👧‍👧", true), ("party:123", true), ("ok", false), ("", false), (":1", false), ("ä", false)]
        {
            assert_eq!(check_emoji(emoji).is_ok(), ok, "{emoji}");
        }
    }
}
