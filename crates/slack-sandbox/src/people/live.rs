//! `/people/live`: tells an open chat page what was changed.

use std::sync::Arc;

use axum::extract::ws::{CloseFrame, Message as Frame, WebSocket};
use axum::extract::{Query, State, WebSocketUpgrade};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

use super::Person;
use super::history::{render_doing, render_message, render_user, render_view};
use super::refusal::Refusal;
use crate::server::{Core, Server};
use crate::state::Change;

/// WebSocket close code "going away".
const GOING_AWAY: u16 = 1001;

#[derive(Deserialize)]
pub(super) struct Login {
    /// A browser cannot send headers with a WebSocket.
    token: String,
}

/// Serves an open page. The first frame is `ready`, with everything that the page needs. A page that reads too slowly is closed and connects again.
pub(super) async fn connect(State(server): State<Arc<Server>>, Query(login): Query<Login>, upgrade: WebSocketUpgrade) -> Response {
    let Some(person) = Person::by_token(&server, &login.token) else { return Refusal::new("invalid_auth").into_response() };
    let open = server.connections.subscribe();
    upgrade.on_upgrade(async move |socket| {
        server.core().note_page(&person.id, true);
        run(&server, &person, socket).await;
        server.core().note_page(&person.id, false);
        drop(open);
    })
}

async fn run(server: &Server, person: &Person, mut socket: WebSocket) {
    // Subscribed before the overview, so that nothing in between is missing.
    let mut changes = server.core().live.subscribe();
    let mut ready = person.overview();
    ready["type"] = json!("ready");
    if send(&mut socket, &ready).await.is_err() {
        return;
    }
    loop {
        let frame = tokio::select! {
            change = changes.recv() => match change {
                Ok(change) => person.frame(&change),
                Err(RecvError::Lagged(_) | RecvError::Closed) => break,
            },
            received = socket.recv() => match received {
                Some(Ok(_)) => None,
                _ => return,
            },
            () = server.stop.cancelled() => break,
        };
        if let Some(frame) = frame
            && send(&mut socket, &frame).await.is_err()
        {
            return;
        }
    }
    let _ = socket.send(Frame::Close(Some(CloseFrame { code: GOING_AWAY, reason: "".into() }))).await;
}

async fn send(socket: &mut WebSocket, frame: &Value) -> Result<(), axum::Error> {
    socket.send(Frame::Text(frame.to_string().into())).await
}

impl Core {
    /// Counts the open pages of a person. A person with an open page is online.
    fn note_page(&mut self, user: &str, is_open: bool) {
        let open = self.pages.entry(user.to_owned()).or_default();
        *open = if is_open { *open + 1 } else { open.saturating_sub(1) };
        let _ = self.live.send(Change::User(user.to_owned()));
    }
}

impl Person {
    /// The frame that tells this person's page about a change. `None` if the change does not concern this person.
    fn frame(&self, change: &Change) -> Option<Value> {
        let core = self.core();
        let world = &core.world;
        match change {
            Change::User(id) => Some(json!({ "type": "user", "user": render_user(&core, id) })),
            Change::App(id) | Change::Presence(id) => {
                let app = world.apps.get(id)?;
                Some(json!({ "type": "user", "user": render_user(&core, &app.user) }))
            }
            Change::Channel(id) => {
                let found = world.channels.get(id)?;
                let shown = if found.has(&self.id) { self.channel(found) } else { json!({ "id": id, "is_member": false }) };
                Some(json!({ "type": "channel", "channel": shown }))
            }
            Change::Message { channel, ts, is_new } => {
                let found = world.channels.get(channel).filter(|found| found.has(&self.id))?;
                match found.messages.get(ts) {
                    Some(message) if self.sees(message) => {
                        Some(json!({ "type": "message", "is_new": is_new, "message": render_message(world, found, message) }))
                    }
                    Some(_) => None,
                    None => Some(json!({ "type": "message_gone", "channel": channel, "ts": ts.to_string() })),
                }
            }
            Change::Doing { channel, thread } => {
                world.channels.get(channel).filter(|found| found.has(&self.id))?;
                Some(render_doing(world, channel, *thread))
            }
            Change::File(_) => None,
            Change::View(id) => match world.views.get(id) {
                Some(view) if view.user == self.id => Some(json!({ "type": "view", "view": render_view(world, view) })),
                Some(_) => None,
                None => Some(json!({ "type": "view_gone", "id": id })),
            },
        }
    }
}
