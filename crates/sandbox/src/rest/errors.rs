//! Discord's error answers, with its codes and texts.

use serde_json::{Value, json};

/// An error response.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    pub(crate) status: u16,
    pub(crate) code: u32,
    pub(crate) message: String,
    /// Which field is wrong, in the nested form of code 50035.
    pub(crate) errors: Option<Value>,
}

impl ApiError {
    pub(crate) fn new(status: u16, code: u32, message: &str) -> Self {
        Self { status, code, message: message.to_owned(), errors: None }
    }

    /// An error in one field, given as a dotted path such as `embeds.0.title`.
    ///
    /// `code` is a string. Discord's description says integer, but real responses have strings and clients require
    /// them.
    pub(crate) fn invalid(path: &str, code: &str, message: &str) -> Self {
        let mut errors = json!({ "_errors": [{ "code": code, "message": message }] });
        for part in path.rsplit('.').filter(|part| !part.is_empty()) {
            errors = json!({ part: errors });
        }
        Self { status: 400, code: 50035, message: "Invalid Form Body".to_owned(), errors: Some(errors) }
    }

    pub(crate) fn required(path: &str) -> Self {
        Self::invalid(path, "BASE_TYPE_REQUIRED", "This field is required")
    }

    pub(crate) fn too_long(path: &str, max: usize) -> Self {
        Self::invalid(path, "BASE_TYPE_MAX_LENGTH", &format!("Must be {max} or fewer in length."))
    }

    pub(crate) fn bad_choice(path: &str, expected: &str) -> Self {
        Self::invalid(path, "BASE_TYPE_CHOICES", &format!("Value must be one of {expected}."))
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(401, 0, "401: Unauthorized")
    }

    pub(crate) fn no_route() -> Self {
        Self::new(404, 0, "404: Not Found")
    }

    pub(crate) fn unknown_application() -> Self {
        Self::new(404, 10002, "Unknown Application")
    }

    pub(crate) fn unknown_channel() -> Self {
        Self::new(404, 10003, "Unknown Channel")
    }

    pub(crate) fn unknown_guild() -> Self {
        Self::new(404, 10004, "Unknown Guild")
    }

    pub(crate) fn unknown_member() -> Self {
        Self::new(404, 10007, "Unknown Member")
    }

    pub(crate) fn unknown_message() -> Self {
        Self::new(404, 10008, "Unknown Message")
    }

    pub(crate) fn unknown_role() -> Self {
        Self::new(404, 10011, "Unknown Role")
    }

    pub(crate) fn unknown_user() -> Self {
        Self::new(404, 10013, "Unknown User")
    }

    pub(crate) fn unknown_emoji() -> Self {
        Self::new(400, 10014, "Unknown Emoji")
    }

    pub(crate) fn unknown_webhook() -> Self {
        Self::new(404, 10015, "Unknown Webhook")
    }

    pub(crate) fn unknown_interaction() -> Self {
        Self::new(404, 10062, "Unknown interaction")
    }

    pub(crate) fn unknown_command() -> Self {
        Self::new(404, 10063, "Unknown application command")
    }

    pub(crate) fn not_for_bots() -> Self {
        Self::new(403, 20001, "Bots cannot use this endpoint")
    }

    pub(crate) fn already_acknowledged() -> Self {
        Self::new(400, 40060, "Interaction has already been acknowledged.")
    }

    pub(crate) fn too_large() -> Self {
        Self::new(413, 40005, "Request entity too large")
    }

    pub(crate) fn missing_access() -> Self {
        Self::new(403, 50001, "Missing Access")
    }

    pub(crate) fn not_the_author() -> Self {
        Self::new(403, 50005, "Cannot edit a message authored by another user")
    }

    pub(crate) fn empty_message() -> Self {
        Self::new(400, 50006, "Cannot send an empty message")
    }

    pub(crate) fn missing_permissions() -> Self {
        Self::new(403, 50013, "Missing Permissions")
    }

    pub(crate) fn system_message() -> Self {
        Self::new(403, 50021, "Cannot execute action on a system message")
    }

    pub(crate) fn wrong_channel_type() -> Self {
        Self::new(400, 50024, "Cannot execute action on this channel type")
    }

    pub(crate) fn invalid_token() -> Self {
        Self::new(401, 50027, "Invalid Webhook Token")
    }

    pub(crate) fn bad_json() -> Self {
        Self::new(400, 50109, "The request body contains invalid JSON.")
    }

    pub(crate) fn archived_thread() -> Self {
        Self::new(400, 50083, "Thread is archived")
    }

    pub(crate) fn body(&self) -> Value {
        let mut body = json!({ "message": self.message, "code": self.code });
        if let Some(errors) = &self.errors {
            body["errors"] = errors.clone();
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_nested_fields_around_text_codes() {
        let error = ApiError::invalid("embeds.0.title", "X", "no");
        assert_eq!(error.body()["errors"]["embeds"]["0"]["title"]["_errors"][0], json!({ "code": "X", "message": "no" }));
        assert_eq!(error.body()["code"], 50035);
    }
}
