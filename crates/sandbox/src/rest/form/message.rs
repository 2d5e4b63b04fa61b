//! The body of a message, new or edited.

use serde_json::Value;

use super::{AllowedMentions, parse_components, parse_embeds, parse_text};
use crate::rest::body::{Body, Upload};
use crate::rest::errors::ApiError;
use crate::snowflake::Snowflake;
use crate::state::flags;

/// "Message contents (up to 2000 characters)"
const CONTENT: usize = 2_000;
const ATTACHMENTS: usize = 10;
const NONCE: usize = 25;
/// Flags that a sender may set; all others are Discord's.
const SETTABLE_FLAGS: u64 = flags::SUPPRESS_EMBEDS | flags::EPHEMERAL | flags::SUPPRESS_NOTIFICATIONS | flags::COMPONENTS_V2;

/// A file to attach, with its entry in the JSON.
#[derive(Clone, Debug)]
pub(crate) struct NewFile {
    pub(crate) upload: Upload,
    pub(crate) description: Option<String>,
}

/// The content of a new or edited message. `None` means not given; an edit does not change it.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) content: Option<String>,
    pub(crate) embeds: Option<Vec<Value>>,
    pub(crate) components: Option<Vec<Value>>,
    /// Attachments that an edit keeps.
    pub(crate) kept: Option<Vec<Snowflake>>,
    pub(crate) files: Vec<NewFile>,
    pub(crate) flags: Option<u64>,
    pub(crate) tts: bool,
    pub(crate) allowed: AllowedMentions,
    pub(crate) replies_to: Option<ReplyTo>,
    pub(crate) nonce: Option<Value>,
    pub(crate) enforce_nonce: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplyTo {
    pub(crate) message: Snowflake,
    pub(crate) channel: Option<Snowflake>,
    pub(crate) fail_if_not_exists: bool,
}

impl Draft {
    pub(crate) fn parse(body: &Body, default_mentions: AllowedMentions) -> Result<Self, ApiError> {
        Self::parse_json(&body.json, &body.uploads, default_mentions)
    }

    /// `json` is the message object. In interactions it is inside the body.
    pub(crate) fn parse_json(json: &Value, uploads: &[Upload], default_mentions: AllowedMentions) -> Result<Self, ApiError> {
        if json["poll"].is_object() {
            // Nobody may start a poll here. Discord sends the same error where the permission is missing.
            return Err(ApiError::missing_permissions());
        }
        let given = |key: &str| json.get(key).is_some();
        let flags = json["flags"].as_u64().map(|flags| flags & SETTABLE_FLAGS);
        let is_v2 = flags.is_some_and(|flags| flags & flags::COMPONENTS_V2 != 0);
        Ok(Self {
            content: if given("content") { Some(parse_text(&json["content"], "content", CONTENT)?.unwrap_or_default()) } else { None },
            embeds: given("embeds").then(|| parse_embeds(&json["embeds"])).transpose()?,
            components: given("components").then(|| parse_components(&json["components"], is_v2)).transpose()?,
            kept: parse_kept(&json["attachments"], uploads),
            files: parse_files(&json["attachments"], uploads)?,
            flags,
            tts: json["tts"].as_bool().unwrap_or(false),
            allowed: AllowedMentions::parse(&json["allowed_mentions"], default_mentions)?,
            replies_to: parse_reply(&json["message_reference"])?,
            nonce: parse_nonce(&json["nonce"])?,
            enforce_nonce: json["enforce_nonce"].as_bool().unwrap_or(false),
        })
    }
}

fn parse_nonce(nonce: &Value) -> Result<Option<Value>, ApiError> {
    // A nonce that is a number is returned as a number.
    let length = match nonce {
        Value::Null => return Ok(None),
        Value::String(text) => text.chars().count(),
        other => other.to_string().len(),
    };
    if length > NONCE {
        return Err(ApiError::too_long("nonce", NONCE));
    }
    Ok(Some(nonce.clone()))
}

fn parse_reply(reference: &Value) -> Result<Option<ReplyTo>, ApiError> {
    if !reference.is_object() {
        return Ok(None);
    }
    // Type 1 forwards a message, which the sandbox does not support.
    if reference["type"].as_u64().unwrap_or(0) != 0 {
        return Err(ApiError::bad_choice("message_reference.type", "(0,)"));
    }
    let id = |key: &str| serde_json::from_value::<Snowflake>(reference[key].clone()).ok();
    let message = id("message_id").ok_or_else(|| ApiError::required("message_reference.message_id"))?;
    let fail_if_not_exists = reference["fail_if_not_exists"].as_bool().unwrap_or(true);
    Ok(Some(ReplyTo { message, channel: id("channel_id"), fail_if_not_exists }))
}

/// In an edit the list names the attachments to keep. An id that is the number of a part is a new file.
fn parse_kept(attachments: &Value, uploads: &[Upload]) -> Option<Vec<Snowflake>> {
    let listed = attachments.as_array()?;
    let ids = listed.iter().filter_map(|one| serde_json::from_value::<Snowflake>(one["id"].clone()).ok());
    let is_new = |id: &Snowflake| uploads.iter().any(|upload| upload.number.to_string() == id.to_string());
    Some(ids.filter(|id| !is_new(id)).collect())
}

fn parse_files(attachments: &Value, uploads: &[Upload]) -> Result<Vec<NewFile>, ApiError> {
    if uploads.len() > ATTACHMENTS {
        return Err(ApiError::too_long("attachments", ATTACHMENTS));
    }
    let listed = attachments.as_array().map(Vec::as_slice).unwrap_or_default();
    let about = |upload: &Upload| {
        let number = upload.number.to_string();
        listed.iter().find(move |one| one["id"].as_str().map_or_else(|| one["id"].to_string(), str::to_owned) == number)
    };
    let file = |upload: &Upload| {
        let description = about(upload).and_then(|one| one["description"].as_str());
        let filename = about(upload).and_then(|one| one["filename"].as_str()).unwrap_or(&upload.filename);
        let upload = Upload { filename: safe_name(filename), ..upload.clone() };
        NewFile { upload, description: description.map(str::to_owned) }
    };
    Ok(uploads.iter().map(file).collect())
}

/// Cleans a file name as Discord does: no path, no special characters, never empty.
fn safe_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept = last.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' });
    let kept: String = kept.take(120).collect();
    let kept = kept.trim_start_matches('.');
    if kept.is_empty() { "unknown".to_owned() } else { kept.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn draft(json: &Value) -> Result<Draft, ApiError> {
        Draft::parse_json(json, &[], AllowedMentions::all())
    }

    #[test]
    fn two_thousand_code_points_are_the_most() {
        assert!(draft(&json!({ "content": "🦀".repeat(2_000) })).is_ok());
        let error = draft(&json!({ "content": "x".repeat(2_001) })).expect_err("too long");
        assert_eq!(error.body()["errors"]["content"]["_errors"][0]["code"], "BASE_TYPE_MAX_LENGTH");
    }

    #[test]
    fn a_nonce_has_at_most_25_characters() {
        assert!(draft(&json!({ "nonce": "n".repeat(25) })).is_ok());
        assert!(draft(&json!({ "nonce": "n".repeat(26) })).is_err());
        assert_eq!(draft(&json!({ "nonce": 7 })).expect("valid").nonce, Some(json!(7)));
    }

    #[test]
    fn file_names_are_names_and_nothing_else() {
        for (given, kept) in [
            ("../../etc/passwd", "passwd"),
            (r"C:\x.txt", "x.txt"),
            ("..", "unknown"),
            ("", "unknown"),
            ("a b\n.txt", "a_b_.txt"),
            ("report.md", "report.md"),
        ] {
            assert_eq!(safe_name(given), kept);
        }
        assert_eq!(safe_name(&"x".repeat(300)).len(), 120);
    }

    #[test]
    fn a_sender_cannot_set_flags_of_the_platform() {
        let flags = draft(&json!({ "flags": u64::from(u32::MAX) })).expect("valid").flags;
        assert_eq!(flags, Some(SETTABLE_FLAGS));
    }
}
