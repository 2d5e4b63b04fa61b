//! A bot's first response to an interaction.

use serde_json::{Value, json};

use crate::rest::errors::ApiError;
use crate::rest::form::{AllowedMentions, Draft, parse_list, parse_modal};
use crate::rest::messages::Posting;
use crate::rest::{ApiResult, Reply, RequestContext, ok};
use crate::snowflake::Snowflake;
use crate::state::{Answer, Audience, Author, Intents, Interaction, InteractionKind, Message, MessageKind, Reference, flags};

const CHOICES: usize = 25;

/// The callback types, with Discord's numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Callback {
    Message = 4,
    DeferredMessage = 5,
    DeferredUpdate = 6,
    Update = 7,
    Choices = 8,
    Modal = 9,
}

impl Callback {
    /// Reads the type and checks that it is allowed for this interaction.
    fn parse(json: &Value, interaction: &Interaction) -> Result<Self, ApiError> {
        let callback = match json["type"].as_u64() {
            Some(4) => Self::Message,
            Some(5) => Self::DeferredMessage,
            Some(6) => Self::DeferredUpdate,
            Some(7) => Self::Update,
            Some(8) => Self::Choices,
            Some(9) => Self::Modal,
            _ => return Err(ApiError::bad_choice("type", "(1, 4, 5, 6, 7, 8, 9, 10, 12)")),
        };
        let is_completion = interaction.kind == InteractionKind::Autocomplete;
        let fits = match callback {
            Self::Choices => is_completion,
            Self::DeferredUpdate | Self::Update => interaction.source.is_some(),
            Self::Modal => matches!(interaction.kind, InteractionKind::Command | InteractionKind::Component),
            Self::Message | Self::DeferredMessage => !is_completion,
        };
        if fits { Ok(callback) } else { Err(ApiError::bad_choice("type", "the types that fit this interaction")) }
    }
}

/// `POST /interactions/{id}/{token}/callback`
pub(crate) fn create(call: &mut RequestContext, id: Snowflake, token: &str) -> ApiResult {
    let found = call.core.world.interactions.find(token).filter(|found| found.id == id);
    let interaction = found.ok_or_else(ApiError::unknown_interaction)?.clone();
    match interaction.answer {
        Answer::Missed => return Err(ApiError::unknown_interaction()),
        Answer::Thinking | Answer::Given => return Err(ApiError::already_acknowledged()),
        Answer::Waiting => {}
    }
    let callback = Callback::parse(&call.body.json, &interaction)?;
    let data = call.body.json["data"].clone();
    let message = match callback {
        Callback::Message => Some(answer(call, &interaction, &data)?),
        Callback::DeferredMessage => Some(defer(call, &interaction, &data)?),
        Callback::DeferredUpdate => None,
        Callback::Update => Some(update(call, &interaction, &data)?),
        Callback::Choices => {
            complete(call, &interaction, &data)?;
            None
        }
        Callback::Modal => {
            open_modal(call, &interaction, &data)?;
            None
        }
    };
    settle(call, &interaction, callback, message.as_ref());
    if call.asks_for("with_response") {
        return ok(describe(call, &interaction, callback, message.as_ref()));
    }
    Ok(Reply::Empty)
}

/// Records the response and its message, and notifies the person's client.
fn settle(call: &mut RequestContext, interaction: &Interaction, callback: Callback, message: Option<&Message>) {
    let original = match callback {
        Callback::DeferredUpdate => interaction.source,
        _ => message.map(|message| Reference { channel: message.channel, message: Some(message.id) }),
    };
    if let Some(kept) = call.world().interactions.find_mut(&interaction.token) {
        kept.original = original;
        kept.answer = if callback == Callback::DeferredMessage { Answer::Thinking } else { Answer::Given };
    }
    let data = json!({ "id": interaction.id, "nonce": interaction.nonce });
    call.dispatch("INTERACTION_SUCCESS", Audience::User(interaction.user), Intents::NONE, data);
}

fn posting(interaction: &Interaction, data: &Value) -> Posting {
    let kind = if interaction.kind == InteractionKind::Command { MessageKind::Command } else { MessageKind::Reply };
    let mut posting = Posting::new(interaction.channel, Author::User(interaction.application), kind);
    // A response to a button or modal refers to the message with the component.
    posting.reference = interaction.source;
    if posting.reference.is_none() && kind == MessageKind::Reply {
        posting.kind = MessageKind::Default;
    }
    posting.interaction = Some(interaction.metadata(true));
    if data["flags"].as_u64().is_some_and(|flags| flags & flags::EPHEMERAL != 0) {
        posting.ephemeral_to = Some(interaction.user);
        posting.flags = flags::EPHEMERAL;
    }
    posting
}

fn parse_draft(call: &RequestContext, data: &Value) -> Result<Draft, ApiError> {
    Draft::parse_json(data, &call.body.uploads, AllowedMentions::users_only())
}

fn answer(call: &mut RequestContext, interaction: &Interaction, data: &Value) -> Result<Message, ApiError> {
    let draft = parse_draft(call, data)?;
    if draft.is_empty() {
        return Err(ApiError::empty_message());
    }
    call.world().post(posting(interaction, data), draft)
}

fn defer(call: &mut RequestContext, interaction: &Interaction, data: &Value) -> Result<Message, ApiError> {
    let mut posting = posting(interaction, data);
    posting.flags |= flags::LOADING;
    let nothing = parse_draft(call, &json!({}))?;
    call.world().post(posting, nothing)
}

fn update(call: &mut RequestContext, interaction: &Interaction, data: &Value) -> Result<Message, ApiError> {
    let source = interaction.source.and_then(|source| call.core.world.messages.get(source.channel, source.message?));
    let source = source.cloned().ok_or_else(ApiError::unknown_message)?;
    let draft = parse_draft(call, data)?;
    call.world().edit(source, draft)
}

fn complete(call: &mut RequestContext, interaction: &Interaction, data: &Value) -> Result<(), ApiError> {
    let choices = parse_list(&data["choices"], "data.choices", CHOICES)?;
    for (index, choice) in choices.iter().enumerate() {
        crate::rest::form::parse_required_text(&choice["name"], &format!("data.choices.{index}.name"), 100)?;
    }
    let data = json!({ "choices": choices, "nonce": interaction.nonce });
    call.dispatch("APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE", Audience::User(interaction.user), Intents::NONE, data);
    Ok(())
}

fn open_modal(call: &mut RequestContext, interaction: &Interaction, data: &Value) -> Result<(), ApiError> {
    let modal = parse_modal(data)?;
    call.world().interactions.show_modal(interaction, &modal);
    let application = call.core.world.user(interaction.application);
    let event = json!({
        "id": interaction.id, "channel_id": interaction.channel, "custom_id": modal["custom_id"],
        "title": modal["title"], "components": modal["components"],
        "application": { "id": interaction.application, "name": application["global_name"], "bot": application },
        "nonce": interaction.nonce,
    });
    call.dispatch("INTERACTION_MODAL_CREATE", Audience::User(interaction.user), Intents::NONE, event);
    Ok(())
}

/// The body of a callback that was asked for with `with_response`.
fn describe(call: &RequestContext, interaction: &Interaction, callback: Callback, message: Option<&Message>) -> Value {
    let mut about = json!({ "id": interaction.id, "type": interaction.kind.code(), "channel_id": interaction.channel });
    if call.core.world.channels.get(&interaction.channel).is_some_and(|channel| !channel.is_direct()) {
        about["guild_id"] = json!(call.core.world.guild.id);
    }
    let Some(message) = message else { return json!({ "interaction": about }) };
    about["response_message_id"] = json!(message.id);
    about["response_message_loading"] = json!(message.flags & flags::LOADING != 0);
    about["response_message_ephemeral"] = json!(message.ephemeral_to.is_some());
    // By Discord's description a deferred response has no resource, although its message exists.
    if callback == Callback::DeferredMessage {
        return json!({ "interaction": about });
    }
    json!({ "interaction": about, "resource": { "type": callback as u8, "message": call.render(message) } })
}
