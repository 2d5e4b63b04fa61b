//! `/sandbox/*`: information and fault injection for scripts on this machine.
//! The responses have tokens, so foreign web pages are rejected.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
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
        "personas": bots().map(|(a, slug)| json!({ "slug": slug, "id": a.id, "role": core.about.role(slug) })).collect::<Vec<_>>(),
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
