use std::time::Duration;

use serde::Deserialize;

use crate::adapters::discord::ids::ForeignId;
use kernel::chat::SendError;
use kernel::ids::PersonaSlug;

/// Why a call failed. Contains no address and no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// No answer, an incomplete one, or a server error. The call may have succeeded.
    #[error("{0}")]
    Unreachable(String),
    #[error("rate limited for {0:?}")]
    RateLimited(Duration),
    /// The token is not valid any more. No further calls use it.
    #[error("the token of {0} is invalid")]
    Revoked(PersonaSlug),
    /// The account lacks a permission, in Discord's words.
    #[error("the bot lacks a permission here. Give it: {needs}")]
    Denied { code: u64, needs: String },
    #[error("{reason}")]
    Refused { status: u16, code: u64, reason: String },
}

/// The permission to see a channel.
const VIEW: &str = "View Channel";

/// Discord's error codes that the adapter handles.
pub(crate) mod code {
    pub(crate) const UNKNOWN_CHANNEL: u64 = 10003;
    pub(crate) const UNKNOWN_MESSAGE: u64 = 10008;
    pub(crate) const UNKNOWN_WEBHOOK: u64 = 10015;
    pub(crate) const MISSING_ACCESS: u64 = 50001;
    pub(crate) const OTHERS_MESSAGE: u64 = 50005;
    pub(crate) const PERSON_NOT_REACHABLE: u64 = 50007;
    pub(crate) const MISSING_PERMISSIONS: u64 = 50013;
    pub(crate) const THREAD_ARCHIVED: u64 = 50083;
    pub(crate) const THREAD_EXISTS: u64 = 160_004;
}

impl From<ForeignId> for Failure {
    fn from(foreign: ForeignId) -> Self {
        Self::refused(foreign.to_string())
    }
}

impl Failure {
    /// A refusal by the adapter itself.
    pub(crate) fn refused(reason: impl Into<String>) -> Self {
        Self::Refused { status: 0, code: 0, reason: reason.into() }
    }

    /// Interprets an answer from 400 to 499. `needs` names the permissions of the call, which Discord leaves out.
    pub(crate) fn from_answer(status: u16, body: &[u8], needs: &str) -> Self {
        #[derive(Deserialize)]
        struct Answer {
            #[serde(default)]
            code: u64,
            #[serde(default)]
            message: String,
            errors: Option<serde_json::Value>,
        }
        let answer: Option<Answer> = serde_json::from_slice(body).ok();
        let (code, message) = answer.as_ref().map_or((0, ""), |answer| (answer.code, answer.message.as_str()));
        let reason = match (code, status) {
            (code::PERSON_NOT_REACHABLE, _) => "the person takes no direct messages from the bot".to_owned(),
            (code::MISSING_PERMISSIONS, _) | (0, 403) => return Self::Denied { code, needs: needs.to_owned() },
            // The channel itself is hidden, so the permission to see it is missing, whatever the call needs.
            (code::MISSING_ACCESS, _) => return Self::Denied { code, needs: VIEW.to_owned() },
            (0, _) => format!("HTTP {status}"),
            _ => {
                let detail = answer.as_ref().and_then(|answer| answer.errors.as_ref()).map(first_detail).unwrap_or_default();
                format!("{message}{detail} ({code})")
            }
        };
        Self::Refused { status, code, reason }
    }

    /// Interprets a failed edit. A message that is missing or belongs to another account cannot be edited. The account changes when a
    /// persona gets or loses its token.
    pub(crate) fn of_edit(self) -> SendError {
        match self {
            Self::Refused { code: code::UNKNOWN_CHANNEL | code::UNKNOWN_MESSAGE | code::OTHERS_MESSAGE, reason, .. } => {
                SendError::Gone(reason)
            }
            failure => failure.into(),
        }
    }

    pub(crate) fn has_code(&self, wanted: u64) -> bool {
        matches!(self, Self::Refused { code, .. } | Self::Denied { code, .. } if *code == wanted)
    }

    /// Interprets a failed read. A channel that may not be read is skipped, because nobody waits for it.
    pub(crate) fn of_read(self) -> SendError {
        match self {
            Self::Denied { .. } => SendError::Refused(self.to_string()),
            failure => failure.into(),
        }
    }

    /// Whether another account may succeed: this one lacks the permission or has no valid token.
    pub(crate) fn is_of_account(&self) -> bool {
        matches!(self, Self::Denied { .. } | Self::Revoked(_))
    }

    /// Whether the resource is missing or invisible to this account.
    pub(crate) fn is_not_visible(&self) -> bool {
        matches!(
            self,
            Self::Refused { status: 404, .. }
                | Self::Refused { code: code::UNKNOWN_CHANNEL, .. }
                | Self::Denied { code: code::MISSING_ACCESS, .. }
        )
    }
}

impl From<Failure> for SendError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unreachable(reason) => Self::Unreachable(reason),
            Failure::RateLimited(wait) => Self::RateLimited(wait),
            Failure::Revoked(persona) => Self::Offline(persona),
            Failure::Denied { needs, .. } => Self::Denied { needs },
            Failure::Refused { reason, .. } => Self::Refused(reason),
        }
    }
}

/// The first message in Discord's nested error object, with its field.
fn first_detail(errors: &serde_json::Value) -> String {
    fn find(value: &serde_json::Value, field: &str) -> Option<String> {
        let object = value.as_object()?;
        if let Some(message) = object.get("_errors").and_then(|errors| errors.get(0)?.get("message")?.as_str()) {
            return Some(format!(": {field}: {message}"));
        }
        object.iter().find_map(|(name, inner)| find(inner, name))
    }
    find(errors, "request").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapters::discord::ids::to_discord;

    fn reason(status: u16, body: &str) -> String {
        Failure::from_answer(status, body.as_bytes(), "Send Messages").to_string()
    }

    #[test]
    fn an_id_of_another_platform_is_refused_for_good() {
        let foreign = to_discord("slack:C024BE91L").unwrap_err();
        let refused = SendError::Refused("\"slack:C024BE91L\" is not an id of Discord".to_owned());
        assert_eq!(SendError::from(Failure::from(foreign)), refused);
    }

    #[test]
    fn a_lost_permission_is_named() {
        let expected = "the bot lacks a permission here. Give it: Send Messages";
        assert_eq!(reason(403, r#"{"code": 50013, "message": "Missing Permissions"}"#), expected);
        assert_eq!(reason(403, "<html>"), expected);
    }

    #[test]
    fn closed_direct_messages_are_no_lost_permission() {
        let body = r#"{"code": 50007, "message": "Cannot send messages to this user"}"#;
        assert_eq!(reason(403, body), "the person takes no direct messages from the bot");
    }

    #[test]
    fn an_invalid_field_is_named() {
        let body = r#"{"code": 50035, "message": "Invalid Form Body", "errors": {"content": {"_errors":
            [{"code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length."}]}}}"#;
        assert_eq!(reason(400, body), "Invalid Form Body: content: Must be 2000 or fewer in length. (50035)");
        assert_eq!(reason(400, "garbage"), "HTTP 400");
    }

    #[test]
    fn each_failure_is_sorted_by_what_to_do_about_it() {
        assert_eq!(SendError::from(Failure::Revoked("vince".into())), SendError::Offline("vince".into()));
        assert_eq!(SendError::from(Failure::refused("no")), SendError::Refused("no".to_owned()));
        for (code, gone) in [(10_003, true), (10_008, true), (50_005, true), (50_035, false)] {
            let failure = Failure::Refused { status: 400, code, reason: String::new() };
            assert_eq!(matches!(failure.of_edit(), SendError::Gone(_)), gone, "{code}");
        }
        let denied = Failure::from_answer(403, br#"{"code": 50013, "message": "Missing Permissions"}"#, "Send Messages");
        assert_eq!(SendError::from(denied.clone()), SendError::Denied { needs: "Send Messages".to_owned() });
        assert!(denied.is_of_account() && matches!(denied.of_read(), SendError::Refused(_)));
        let hidden = Failure::from_answer(403, br#"{"code": 50001, "message": "Missing Access"}"#, "Send Messages");
        assert!(hidden.is_not_visible());
        assert_eq!(SendError::from(hidden), SendError::Denied { needs: "View Channel".to_owned() });
        assert!(Failure::from_answer(404, br#"{"code": 10003, "message": "Unknown Channel"}"#, "").is_not_visible());
    }
}
