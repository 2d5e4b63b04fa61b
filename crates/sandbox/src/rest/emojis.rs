//! The emojis of applications, and pictures in request bodies.

use serde_json::{Value, json};

use super::errors::ApiError;
use super::form::parse_required_text;
use super::{ApiResult, Reply, RequestContext, ok};
use crate::snowflake::Snowflake;
use crate::state::{BadPicture, Emoji, Picture, Record};

/// "An application can own up to 2000 emojis."
const LIMIT: usize = 2000;
/// "Emojis have a maximum file size of 256 KiB."
const SIZE: usize = 256 * 1024;
const NAME: usize = 32;

pub(crate) fn list(call: &mut RequestContext) -> ApiResult {
    let application = call.caller_id()?;
    let world = &call.core.world;
    let items: Vec<Value> = world.pictures.of_application(application).map(|emoji| world.emoji(emoji)).collect();
    ok(json!({ "items": items }))
}

pub(crate) fn get(call: &mut RequestContext, id: Snowflake) -> ApiResult {
    let emoji = find(call, id)?;
    ok(call.core.world.emoji(&emoji))
}

pub(crate) fn create(call: &mut RequestContext) -> ApiResult {
    let application = call.caller_id()?;
    let name = parse_name(call, None)?;
    if call.core.world.pictures.of_application(application).count() >= LIMIT {
        return Err(ApiError::new(400, 30008, "Maximum number of emojis reached (2000)"));
    }
    let image = call.body.json["image"].clone();
    let picture = take_picture(call, &image, "image", SIZE)?;
    let emoji = Emoji { id: call.world().next_id(), application, name, picture };
    call.world().commit(Record::Emoji(emoji.clone()));
    Ok(Reply::Json(201, call.core.world.emoji(&emoji)))
}

pub(crate) fn update(call: &mut RequestContext, id: Snowflake) -> ApiResult {
    let mut emoji = find(call, id)?;
    emoji.name = parse_name(call, Some(id))?;
    call.world().commit(Record::Emoji(emoji.clone()));
    ok(call.core.world.emoji(&emoji))
}

pub(crate) fn delete(call: &mut RequestContext, id: Snowflake) -> ApiResult {
    let emoji = find(call, id)?;
    call.world().commit(Record::EmojiGone(emoji.id));
    Ok(Reply::Empty)
}

fn find(call: &RequestContext, id: Snowflake) -> Result<Emoji, ApiError> {
    let application = call.caller_id()?;
    let found = call.core.world.pictures.find_emoji(id).filter(|emoji| emoji.application == application);
    found.cloned().ok_or_else(|| ApiError::new(404, 10014, "Unknown Emoji"))
}

/// Reads a name and refuses one that another emoji of the application has.
fn parse_name(call: &RequestContext, own: Option<Snowflake>) -> Result<String, ApiError> {
    let name = parse_required_text(&call.body.json["name"], "name", NAME)?;
    if name.len() < 2 || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(ApiError::invalid("name", "STRING_TYPE_REGEX", "String value did not match validation regex."));
    }
    let mut others = call.core.world.pictures.of_application(call.caller_id()?).filter(|emoji| Some(emoji.id) != own);
    if others.any(|emoji| emoji.name == name) {
        return Err(ApiError::invalid("name", "APPLICATION_EMOJI_NAME_ALREADY_TAKEN", "This emoji name is already taken."));
    }
    Ok(name)
}

/// Stores the picture of a data URI and returns its hash.
pub(super) fn take_picture(call: &mut RequestContext, image: &Value, path: &str, limit: usize) -> Result<String, ApiError> {
    let uri = image.as_str().ok_or_else(|| ApiError::required(path))?;
    let picture = Picture::parse(uri).map_err(|bad| match bad {
        BadPicture::Data => ApiError::invalid(path, "IMAGE_INVALID", "Invalid image data"),
        BadPicture::Format => ApiError::invalid(path, "IMAGE_INVALID", "Unsupported image type given"),
    })?;
    if picture.bytes.len() > limit {
        let text = format!("File cannot be larger than {}.0 kb.", limit / 1024);
        return Err(ApiError::invalid(path, "BINARY_TYPE_MAX_SIZE", &text));
    }
    let hash = picture.hash.clone();
    if call.core.world.pictures.find(&hash).is_none() {
        call.world().commit(Record::Picture(picture));
    }
    Ok(hash)
}
