//! `/sandbox/*`: information and fault injection for scripts on this machine.
//! The responses have tokens, so foreign web pages are rejected.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use local_server::search::{MOST, Words, collect_text};
use serde::Deserialize;
use serde_json::{Value, json};

use super::misbehave::{Misbehaviour, Switch};
use super::server::Server;
use super::state::{Author, ChannelKind, Message};

pub(crate) fn router() -> Router<Arc<Server>> {
    Router::new()
        .route("/sandbox/info", get(async |State(server): State<Arc<Server>>| Json(info(&server))))
        .route("/sandbox/misbehave", post(misbehave))
        .route("/sandbox/reset", post(reset))
        .route("/sandbox/pings/{message}", get(pings))
        .route("/sandbox/search", get(search))
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

#[derive(Deserialize)]
struct Wanted {
    text: String,
}

/// The messages with all the words that the person of the token may read, newest first, and how many there are. Words of the author's name count too.
async fn search(State(server): State<Arc<Server>>, headers: HeaderMap, Query(wanted): Query<Wanted>) -> Response {
    let core = server.core();
    let world = &core.world;
    let token = headers.get(header::AUTHORIZATION).and_then(|token| token.to_str().ok()).unwrap_or_default();
    let Some(person) = world.accounts.find_by_token(token) else { return StatusCode::UNAUTHORIZED.into_response() };
    let Some(words) = Words::parse(&wanted.text) else { return Json(json!({ "count": 0, "found": [] })).into_response() };
    let is_shown = |message: &&Message| {
        let channel = world.channels.get(&message.channel);
        message.ephemeral_to.is_none_or(|only| only == person.id) && channel.is_some_and(|channel| world.can_view(person.id, channel))
    };
    let mut found: Vec<(&Message, String, Value)> = Vec::new();
    for message in world.messages.iter().filter(is_shown) {
        let files: Vec<&str> = message.attachments.iter().map(|file| file.filename.as_str()).collect();
        let text = [message.content.as_str(), &collect_text(&Value::from(message.embeds.clone())), &files.join("\n")].join("\n");
        let author = world.author(&message.author);
        let name = author["global_name"].as_str().or(author["username"].as_str()).unwrap_or_default();
        if words.are_in(&[&text, name]) && !text.trim().is_empty() {
            found.push((message, text, author));
        }
    }
    found.sort_by_key(|(message, ..)| std::cmp::Reverse(message.id));
    let count = found.len();
    let shown = found.into_iter().take(MOST).map(|(message, text, author)| {
        let webhook = if let Author::Webhook { id, .. } = &message.author { Some(id) } else { None };
        json!({ "id": message.id, "channel_id": message.channel, "author": author, "webhook_id": webhook, "text": text.trim() })
    });
    Json(json!({ "count": count, "found": shown.collect::<Vec<_>>() })).into_response()
}
