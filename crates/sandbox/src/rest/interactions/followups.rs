//! A bot's messages after its first response to an interaction.

use crate::rest::errors::ApiError;
use crate::rest::form::{AllowedMentions, Draft};
use crate::rest::messages::Posting;
use crate::rest::{ApiResult, RequestContext, ok};
use crate::snowflake::Snowflake;
use crate::state::{Answer, Author, Interaction, Message, MessageKind, flags};

/// The interaction of a valid token. Before the first response its webhook does not exist.
fn find_interaction(call: &RequestContext, application: Snowflake, token: &str) -> Result<Interaction, ApiError> {
    let found = call.core.world.interactions.find(token).filter(|found| found.application == application);
    let interaction = found.ok_or_else(ApiError::unknown_webhook)?;
    if interaction.created.elapsed() > call.server.options.windows.interaction_token {
        return Err(ApiError::invalid_token());
    }
    match interaction.answer {
        Answer::Waiting | Answer::Missed => Err(ApiError::unknown_webhook()),
        Answer::Thinking | Answer::Given => Ok(interaction.clone()),
    }
}

pub(crate) fn create(call: &mut RequestContext, application: Snowflake, token: &str) -> ApiResult {
    let interaction = find_interaction(call, application, token)?;
    let draft = Draft::parse(&call.body, AllowedMentions::users_only())?;
    if draft.is_empty() {
        return Err(ApiError::empty_message());
    }
    let original = find_message(call, application, token, "@original");
    if interaction.answer == Answer::Thinking
        && let Ok(thinking) = original
    {
        // The first follow-up after a deferred response replaces "thinking".
        let edited = call.world().edit(thinking, draft)?;
        was_edited(call, token, edited.id);
        return ok(call.render(&edited));
    }
    let mut posting = Posting::new(interaction.channel, Author::User(application), MessageKind::Default);
    if interaction.original.is_some_and(|original| original.message.is_some()) {
        posting.kind = MessageKind::Reply;
        posting.reference = interaction.original;
    }
    posting.interaction = Some(interaction.metadata(false));
    if draft.flags.is_some_and(|flags| flags & flags::EPHEMERAL != 0) {
        posting.ephemeral_to = Some(interaction.user);
        posting.flags = flags::EPHEMERAL;
    }
    let message = call.world().post(posting, draft)?;
    ok(call.render(&message))
}

/// One of the bot's messages for the interaction. `@original` is the first.
pub(crate) fn find_message(call: &RequestContext, application: Snowflake, token: &str, message: &str) -> Result<Message, ApiError> {
    let interaction = find_interaction(call, application, token)?;
    let id = match message {
        "@original" => interaction.original.and_then(|original| original.message),
        id => id.parse().ok(),
    };
    let found = id.and_then(|id| call.core.world.messages.get(interaction.channel, id));
    found.filter(|found| found.is_of(application)).cloned().ok_or_else(ApiError::unknown_message)
}

/// The first edit of the "thinking" message is the response.
pub(crate) fn was_edited(call: &mut RequestContext, token: &str, message: Snowflake) {
    let Some(interaction) = call.world().interactions.find_mut(token) else { return };
    if interaction.original.is_some_and(|original| original.message == Some(message)) {
        interaction.answer = Answer::Given;
    }
}
