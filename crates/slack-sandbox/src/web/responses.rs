//! Answers to interactions: by the payload of an acknowledgement, or by a response URL.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::chat::Content;
use super::views::parse_view;
use super::{ApiError, Core, Message, World};
use crate::server::Server;
use crate::state::{Author, Change, Delivery, DeliveryKind, ResponseUrl};

/// "These responses can be sent up to 5 times within 30 minutes."
const USES: u32 = 5;

/// `POST /actions/{team}/{token}`: a response URL.
pub(crate) async fn respond(State(server): State<Arc<Server>>, Path((_team, token)): Path<(String, String)>, body: Bytes) -> Response {
    let refuse = |status, code: &str| (status, Json(ApiError::new(code).answer())).into_response();
    let mut core = server.core();
    let now = core.now();
    let Some(target) = core.world.response_urls.get_mut(&token) else { return refuse(StatusCode::NOT_FOUND, "invalid_url") };
    if now >= target.until {
        return refuse(StatusCode::NOT_FOUND, "expired_url");
    }
    if target.uses >= USES {
        return refuse(StatusCode::NOT_FOUND, "used_url");
    }
    let Ok(answer) = serde_json::from_slice::<Value>(&body) else { return refuse(StatusCode::BAD_REQUEST, "invalid_payload") };
    target.uses += 1;
    let target = target.clone();
    let outcome = core.world.respond(&target, &answer);
    core.flush();
    match outcome {
        Ok(()) => "ok".into_response(),
        Err(error) => (StatusCode::OK, Json(error.answer())).into_response(),
    }
}

impl Core {
    /// Does what the payload of an acknowledgement says.
    pub(crate) fn acknowledged(&mut self, delivery: &Delivery, payload: &Value) {
        let done = match (delivery.kind, delivery.payload["type"].as_str()) {
            (DeliveryKind::Command, _) if payload["text"].is_string() || payload["blocks"].is_array() => {
                let user = delivery.payload["user_id"].as_str().unwrap_or_default().to_owned();
                let channel = delivery.payload["channel_id"].as_str().unwrap_or_default().to_owned();
                let (app, until) = (delivery.app.clone(), self.now());
                self.world.respond(&ResponseUrl { app, user, channel, message: None, until, uses: 0 }, payload)
            }
            (DeliveryKind::Interaction, Some("view_submission")) => self.world.answer_submission(&delivery.payload["view"], payload),
            _ => Ok(()),
        };
        if let Err(error) = done {
            tracing::warn!(error = %error.answer(), "an acknowledgement carried something that Slack refuses");
        }
    }
}

impl World {
    /// Posts, replaces or deletes a message in answer to an interaction.
    fn respond(&mut self, target: &ResponseUrl, answer: &Value) -> Result<(), ApiError> {
        if let Some(message) = target.message {
            if answer["delete_original"] == true {
                self.delete(&target.channel, message);
                return Ok(());
            }
            if answer["replace_original"] == true {
                let content = Content::parse(self, answer)?;
                content.require_something()?;
                self.edit(&target.channel, message, None, |message| content.change(message, answer["text"].is_string()));
                return Ok(());
            }
        }
        let content = Content::parse(self, answer)?;
        content.require_something()?;
        let mut message = Message::new(Author::App { id: target.app.clone(), custom: None }, "");
        content.fill(&mut message);
        if let Some(thread) = answer["thread_ts"].as_str().and_then(|ts| ts.parse().ok()) {
            message.thread = self.find_message(&target.channel, thread).map(|parent| parent.thread.unwrap_or(parent.ts));
        }
        // Only the person sees the message, unless the app asks for `in_channel`.
        if answer["response_type"] != "in_channel" {
            message.only_for = Some(target.user.clone());
        }
        self.post(&target.channel, message);
        Ok(())
    }

    /// Closes a submitted modal, or does what `response_action` says.
    fn answer_submission(&mut self, submitted: &Value, answer: &Value) -> Result<(), ApiError> {
        let id = submitted["id"].as_str().unwrap_or_default().to_owned();
        let Some(view) = self.views.get(&id).cloned() else { return Ok(()) };
        match answer["response_action"].as_str() {
            // The person sees the errors at the inputs, and the modal stays open.
            Some("errors") => {
                let errors = answer["errors"].clone();
                self.views.entry(id.clone()).and_modify(|view| view.body["errors"] = errors);
                self.changes.push(Change::View(id));
            }
            Some("update") => {
                let body = parse_view(self, answer["view"].clone(), "modal")?;
                self.update_view(&id, body);
            }
            Some("push") => {
                let body = parse_view(self, answer["view"].clone(), "modal")?;
                self.add_view(&view.app, &view.user, body, Some(&id));
            }
            Some("clear") => self.close_view(&id, true),
            None => self.close_view(&id, view.body["clear_on_close"] == json!(true)),
            Some(_) => return Err(ApiError::arguments("unknown `response_action`")),
        }
        Ok(())
    }
}
