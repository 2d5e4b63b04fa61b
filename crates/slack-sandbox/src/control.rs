//! `/sandbox/*`: information and fault injection for scripts on this machine.
//!
//! The answers have tokens. A foreign web page could ask for them through the browser, directly or with DNS rebinding.
//! Both are visible in the headers and rejected.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router, middleware};
use serde_json::{Value, json};

use super::misbehave::Switch;
use super::server::Server;

pub(crate) fn router() -> Router<Arc<Server>> {
    Router::new()
        .route("/sandbox/info", get(async |State(server): State<Arc<Server>>| Json(info(&server))))
        .route("/sandbox/misbehave", post(misbehave))
        .layer(middleware::from_fn(reject_foreign_requests))
}

async fn reject_foreign_requests(request: Request, next: Next) -> Response {
    if is_from_here(request.headers()) {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "The sandbox answers to this machine only; open it as http://127.0.0.1.\n").into_response()
}

/// A browser sends an origin with each request of a page. No page belongs here yet.
fn is_from_here(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
    ["127.0.0.1", "localhost", "[::1]"].contains(&name) && !headers.contains_key(header::ORIGIN)
}

/// Where clients connect, and with which tokens.
fn info(server: &Server) -> Value {
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
    json!({
        "api": format!("{}/api/", server.base), "team": world.team.id, "apps": world.apps.values().map(app).collect::<Vec<_>>(),
        "people": people.map(|user| json!({ "id": user.id, "name": user.real_name })).collect::<Vec<_>>(),
        "channels": channels.map(|channel| json!({ "id": channel.id, "name": channel.name })).collect::<Vec<_>>(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_answered() {
        for (host, origin, expected) in [
            ("127.0.0.1:8080", None, true),
            ("localhost", None, true),
            ("[::1]:9", None, true),
            ("127.0.0.1:8080", Some("https://example.com"), false),
            ("evil.example:8080", None, false),
            ("127.0.0.1.evil.example", None, false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().expect("a header"));
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().expect("a header"));
            }
            assert_eq!(is_from_here(&headers), expected, "{host} {origin:?}");
        }
    }
}
