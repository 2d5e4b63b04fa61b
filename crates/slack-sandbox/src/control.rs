//! `/sandbox/*`: information and fault injection for scripts on this machine.
//! The answers have tokens, so foreign web pages are rejected.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use local_server::AboutPersona;
use serde_json::{Value, json};

use super::misbehave::Switch;
use super::server::Server;

pub(crate) fn router() -> Router<Arc<Server>> {
    Router::new()
        .route("/sandbox/info", get(async |State(server): State<Arc<Server>>| Json(info(&server))))
        .route("/sandbox/misbehave", post(misbehave))
}

/// The addresses and tokens that clients need.
pub(crate) fn info(server: &Server) -> Value {
    let core = server.core();
    let world = &core.world;
    let app = |app: &crate::state::App| {
        json!({
            "slug": app.config.slug, "id": app.id, "user": app.user, "bot": app.bot, "bot_token": app.bot_token,
            "app_token": app.app_token,
        })
    };
    let people = world.users.values().filter(|user| user.app.is_none());
    let channels = world.channels.values().filter(|channel| !channel.kind.is_direct());
    let about = &core.about;
    let persona = |persona: &AboutPersona| json!({ "slug": persona.slug, "name": persona.name, "role": persona.role });
    json!({
        "platform": "slack", "page": format!("{}/", server.base), "api": format!("{}/api/", server.base), "team": world.team.id,
        "apps": world.apps.values().map(app).collect::<Vec<_>>(),
        "people": people.map(|user| json!({ "id": user.id, "name": user.real_name, "token": user.token })).collect::<Vec<_>>(),
        "channels": channels.map(|channel| (channel.name.clone(), json!(channel.id))).collect::<serde_json::Map<_, _>>(),
        "personas": about.personas.iter().map(persona).collect::<Vec<_>>(),
        "models": about.models,
        "links": about.links.iter().map(|(label, url)| json!({ "label": label, "url": url })).collect::<Vec<_>>(),
    })
}

/// One switch, or an array of them.
async fn misbehave(State(server): State<Arc<Server>>, Json(body): Json<Value>) -> Response {
    let switches: Result<Vec<Switch>, _> = match body {
        Value::Array(_) => serde_json::from_value(body),
        one => serde_json::from_value(one).map(|switch| vec![switch]),
    };
    let refuse = |why: &dyn std::fmt::Display| (StatusCode::BAD_REQUEST, format!("{why}\n")).into_response();
    let switches = match switches {
        Ok(switches) => switches,
        Err(error) => return refuse(&format!("no such switch: {error}")),
    };
    let mut core = server.core();
    for switch in switches {
        if let Err(error) = core.misbehave(switch) {
            return refuse(&error);
        }
    }
    core.flush();
    StatusCode::NO_CONTENT.into_response()
}
