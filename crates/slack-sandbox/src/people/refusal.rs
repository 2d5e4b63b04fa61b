//! The person behind a request, and error answers.

use std::sync::Arc;

use axum::Json;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::{Person, Refused};
use crate::server::Server;

/// An error answer to a person.
pub(super) struct Refusal {
    code: String,
    message: String,
}

impl Refusal {
    pub(super) fn new(code: &str) -> Self {
        Self { code: code.to_owned(), message: explain(code) }
    }

    pub(super) fn input(problem: impl std::fmt::Display) -> Self {
        Self { code: "invalid_input".to_owned(), message: format!("the request could not be read: {problem}") }
    }
}

fn explain(code: &str) -> String {
    let text = match code {
        "invalid_auth" => "nobody has this token; reload the page",
        "not_authed" => "the request has no token",
        "channel_not_found" => "this conversation does not exist, or you may not read it",
        "message_not_found" => "this message does not exist any more",
        "thread_not_found" => "the message that this thread belongs to does not exist any more",
        "not_in_channel" => "you are not in this channel",
        "is_archived" => "this channel is archived",
        "cant_update_message" => "only the author of a message can change it",
        "no_text" => "a message needs a text or a file",
        "user_not_found" => "nobody has this id",
        "invalid_shortcut" => "no app has this shortcut",
        "invalid_command" => "no app has this command",
        "no_such_element" => "this message has no such button or menu any more",
        "no_such_option" => "this menu has no such option",
        "interactivity_not_enabled" => "this app does not handle buttons or menus",
        "required_input_is_empty" => "please fill in all fields that are not optional",
        "already_reacted" => "you have reacted with this already",
        "no_reaction" => "you have not reacted with this",
        "dispatch_failed" => "the app is not connected; try again in a moment",
        "operation_timeout" => "the app did not answer in time; try again in a moment",
        "not_enabled" => "this app does not exist, or has no home tab",
        "nothing_to_stop" => "nobody works here any more",
        "not_found" => "this is not open any more",
        other => return format!("the local Slack refused this ({other})"),
    };
    text.to_owned()
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        Self::new(refused.0)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match self.code.as_str() {
            "not_authed" | "invalid_auth" => StatusCode::UNAUTHORIZED,
            "dispatch_failed" | "operation_timeout" => StatusCode::GATEWAY_TIMEOUT,
            code if code.ends_with("not_found") => StatusCode::NOT_FOUND,
            _ => StatusCode::BAD_REQUEST,
        };
        (status, Json(json!({ "error": self.code, "message": self.message }))).into_response()
    }
}

impl Person {
    pub(super) fn by_token(server: &Arc<Server>, token: &str) -> Option<Self> {
        let id = server.core().world.users.values().find(|user| user.token.as_deref() == Some(token))?.id.clone();
        Some(Self::new(Arc::clone(server), id))
    }
}

/// The person whose token a request has.
pub(super) struct Caller(pub(super) Person);

impl FromRequestParts<Arc<Server>> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> Result<Self, Refusal> {
        let header = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = header.and_then(|value| value.strip_prefix("Bearer ")).ok_or_else(|| Refusal::new("not_authed"))?;
        Person::by_token(server, token.trim()).map(Self).ok_or_else(|| Refusal::new("invalid_auth"))
    }
}
