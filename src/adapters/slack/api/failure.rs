use std::time::Duration;

use kernel::chat::SendError;
use kernel::ids::PersonaSlug;

use crate::adapters::slack::api::{Credential, Token};
use crate::adapters::slack::ids::ForeignId;

/// Why a call failed. Contains no address and no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::adapters::slack) enum Failure {
    /// No answer, an incomplete one, or a fault of the server. The call may have succeeded.
    #[error("{0}")]
    Unreachable(String),
    #[error("rate limited for {0:?}")]
    RateLimited(Duration),
    /// The token is not valid any more.
    #[error("the {token} token of {persona} is not accepted ({error})")]
    Revoked { persona: PersonaSlug, token: Token, error: String },
    /// A scope or a channel membership is missing, which a person can grant.
    #[error("it lacks {needs}")]
    Denied { needs: String },
    /// Slack's error code, such as `channel_not_found`.
    #[error("Slack says {0}")]
    Refused(String),
}

/// Slack's error codes for a token that is no longer valid.
const REVOKED: [&str; 6] = ["invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type"];

/// Slack's error codes for its own faults. The call may have been carried out.
const FAULTS: [&str; 5] = ["internal_error", "fatal_error", "service_unavailable", "request_timeout", "accesslimited"];

/// Slack's error codes for a message that it does not take in this form.
const FORM: [&str; 7] = [
    "msg_blocks_too_long",
    "invalid_blocks",
    "invalid_blocks_format",
    "msg_too_long",
    "invalid_attachments",
    "too_many_attachments",
    "attachment_payload_limit_exceeded",
];

/// Slack's error codes for places where an app may not post or read.
const NOT_ALLOWED: [&str; 5] =
    ["restricted_action", "restricted_action_thread_only_channel", "restricted_action_read_only_channel", "no_permission", "access_denied"];

impl Failure {
    /// Interprets an answer that is not `ok`. `needed`: the scope that is missing, as Slack names it.
    pub(super) fn from_answer(error: &str, needed: Option<&str>, with: &Credential) -> Self {
        let persona = &with.persona;
        match error {
            "missing_scope" => Self::Denied { needs: format!("the scope {}", needed.unwrap_or("that this call needs")) },
            "not_in_channel" => {
                Self::Denied { needs: format!("a place in the channel: type /invite and the name of {persona}'s app there") }
            }
            "ratelimited" | "rate_limited" => Self::RateLimited(Duration::from_secs(1)),
            error if REVOKED.contains(&error) => Self::Revoked { persona: persona.clone(), token: with.kind, error: error.to_owned() },
            error if FAULTS.contains(&error) => Self::Unreachable(format!("Slack says {error}")),
            error if NOT_ALLOWED.contains(&error) => Self::Denied { needs: format!("the right to post there ({error})") },
            error => Self::Refused(error.to_owned()),
        }
    }

    pub(in crate::adapters::slack) fn is(&self, word: &str) -> bool {
        matches!(self, Self::Refused(error) if error == word)
    }

    /// Whether Slack may take the message in another form.
    pub(in crate::adapters::slack) fn is_about_form(&self) -> bool {
        matches!(self, Self::Refused(error) if FORM.contains(&error.as_str()))
    }

    /// Interprets a failed edit.
    pub(in crate::adapters::slack) fn of_edit(self) -> SendError {
        match self {
            Self::Refused(error) if ["message_not_found", "cant_update_message", "channel_not_found"].contains(&error.as_str()) => {
                SendError::Gone(error)
            }
            failure => failure.into(),
        }
    }

    /// Interprets a failed read. A channel that may not be read is skipped, because nobody waits for it.
    pub(in crate::adapters::slack) fn of_read(self) -> SendError {
        match self {
            Self::Denied { .. } => SendError::Refused(self.to_string()),
            failure => failure.into(),
        }
    }
}

impl From<ForeignId> for Failure {
    fn from(foreign: ForeignId) -> Self {
        Self::Refused(foreign.to_string())
    }
}

impl From<Failure> for SendError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Unreachable(reason) => Self::Unreachable(reason),
            Failure::RateLimited(wait) => Self::RateLimited(wait),
            // The message waits, because the token may be replaced.
            Failure::Revoked { persona, .. } => Self::Offline(persona),
            Failure::Denied { needs } => Self::Denied { needs },
            Failure::Refused(_) => Self::Refused(failure.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(error: &str, needed: Option<&str>) -> SendError {
        let with = Credential { persona: "kelly".into(), kind: Token::Bot, token: "xoxb-1".to_owned().into() };
        Failure::from_answer(error, needed, &with).into()
    }

    #[test]
    fn each_refusal_is_handled_by_what_it_means() {
        assert_eq!(
            of("missing_scope", Some("chat:write.customize")),
            SendError::Denied { needs: "the scope chat:write.customize".to_owned() }
        );
        assert!(matches!(of("not_in_channel", None), SendError::Denied { needs } if needs.contains("/invite")));
        assert_eq!(of("token_revoked", None), SendError::Offline("kelly".into()));
        assert!(matches!(of("internal_error", None), SendError::Unreachable(_)));
        assert!(matches!(of("is_archived", None), SendError::Refused(_)));
        assert_eq!(Failure::Refused("message_not_found".to_owned()).of_edit(), SendError::Gone("message_not_found".to_owned()));
        assert!(matches!(Failure::Denied { needs: "x".to_owned() }.of_read(), SendError::Refused(_)));
    }
}
