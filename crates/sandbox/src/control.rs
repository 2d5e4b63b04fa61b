//! `/sandbox/*`: information and fault injection for scripts on this machine.
//!
//! The responses have tokens. A foreign web page could request them through the browser, directly or with DNS
//! rebinding. Both are visible in the headers and rejected.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::misbehave::{Misbehaviour, Switch};
use super::server::Server;
use super::state::ChannelKind;

pub(crate) fn router() -> Router<Arc<Server>> {
    Router::new()
        .route("/sandbox/info", get(async |State(server): State<Arc<Server>>| Json(info(&server))))
        .route("/sandbox/misbehave", post(misbehave))
        .route("/sandbox/reset", post(reset))
        .route("/sandbox/pings/{message}", get(pings))
}

/// Rejects requests of foreign web pages.
pub(crate) async fn reject_foreign_requests(request: Request, next: Next) -> Response {
    if is_from_here(request.headers()) {
        return next.run(request).await;
    }
    (StatusCode::FORBIDDEN, "The sandbox answers to this machine only; open it as http://127.0.0.1.\n").into_response()
}

fn is_from_here(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"));
    let host_is_local = text(header::HOST).is_some_and(is_loopback);
    // The same origin is required: another port of this machine is not trusted.
    let same_origin =
        text(header::ORIGIN).is_none_or(|origin| origin.strip_prefix("http://").is_some_and(|host| Some(host) == text(header::HOST)));
    host_is_local && same_origin
}

fn is_loopback(host: &str) -> bool {
    let name = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
    ["127.0.0.1", "localhost", "[::1]"].contains(&name)
}

/// What `teamroom sandbox --json` prints.
pub(crate) fn info(server: &Server) -> Value {
    let core = server.core();
    let world = &core.world;
    let channels: BTreeMap<&str, String> = world
        .channels
        .values()
        .filter(|channel| channel.kind == ChannelKind::Text)
        .map(|channel| (channel.name.as_str(), channel.id.to_string()))
        .collect();
    let bots = || world.accounts.members().filter_map(|account| Some((account, account.slug.as_deref()?)));
    let people = world.accounts.members().filter(|account| !account.is_bot());
    json!({
        "page": format!("{}/", server.api_url()), "api": server.api_url(), "gateway": server.gateway_url(),
        "guild": world.guild.id, "channels": channels,
        "models": core.about.models, "links": core.about.links.iter().map(|(label, url)| json!({ "label": label, "url": url })).collect::<Vec<_>>(),
        "people": people.map(|a| json!({ "name": a.name, "id": a.id, "token": a.token })).collect::<Vec<_>>(),
        "personas": bots().map(|(a, slug)| json!({ "slug": slug, "id": a.id, "role": core.about.roles.get(slug) })).collect::<Vec<_>>(),
        "bots": bots().map(|(a, slug)| json!({ "slug": slug, "id": a.id, "token": a.token })).collect::<Vec<_>>(),
    })
}

/// One switch, or an array of them.
async fn misbehave(State(server): State<Arc<Server>>, Json(body): Json<Value>) -> Response {
    let switches: Result<Vec<Switch>, _> = match body {
        Value::Array(_) => serde_json::from_value(body),
        one => serde_json::from_value(one).map(|switch| vec![switch]),
    };
    let switches = match switches {
        Ok(switches) => switches,
        Err(error) => return (StatusCode::BAD_REQUEST, format!("no such switch: {error}\n")).into_response(),
    };
    let misbehaviour = Misbehaviour::new(server);
    for switch in switches {
        if let Err(error) = misbehaviour.set(switch) {
            return (StatusCode::BAD_REQUEST, format!("{error}\n")).into_response();
        }
    }
    StatusCode::NO_CONTENT.into_response()
}

/// Deletes all messages, threads, webhooks and commands. Accounts and channels stay.
async fn reset(State(server): State<Arc<Server>>) -> StatusCode {
    server.core().clear();
    StatusCode::NO_CONTENT
}

/// The users whom a message pinged.
async fn pings(State(server): State<Arc<Server>>, Path(message): Path<String>) -> Response {
    let found = message.parse().ok().and_then(|id| server.core().world.find_pings(id));
    found.map_or_else(|| StatusCode::NOT_FOUND.into_response(), |ids| Json(ids).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(host: &'static str, origin: Option<&'static str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().expect("a header"));
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().expect("a header"));
        }
        headers
    }

    #[test]
    fn only_this_machine_and_the_own_page_are_answered() {
        for (host, origin, expected) in [
            ("127.0.0.1:8080", None, true),
            ("localhost", None, true),
            ("[::1]:9", None, true),
            ("127.0.0.1:8080", Some("http://127.0.0.1:8080"), true),
            ("127.0.0.1:8080", Some("http://127.0.0.1:9999"), false),
            ("127.0.0.1:8080", Some("https://example.com"), false),
            ("127.0.0.1:8080", Some("null"), false),
            ("evil.example:8080", None, false),
            ("127.0.0.1.evil.example", None, false),
        ] {
            assert_eq!(is_from_here(&headers(host, origin)), expected, "{host} {origin:?}");
        }
        assert!(!is_from_here(&HeaderMap::new()));
    }
}
