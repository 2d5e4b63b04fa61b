//! The kanban page: the backlog as a web page that updates itself.
//!
//! The server renders everything, so the page works without scripts. `live.js` tells its scripts when the backlog changes. `auth` decides who may see
//! it and act on it, `view` collects the data, `page` renders it, `acts` carries out its forms, `live` sends updates, and `files` what items made.

mod acts;
mod auth;
mod files;
mod live;
mod page;
mod view;

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Multipart, Path, Query, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use self::acts::{Actor, Submissions};
use self::auth::{Auth, Refusal};
use self::live::Listeners;
use self::view::{Asked, Forms, Viewer};
use crate::adapters::http::Shown;
use kernel::db::StoreError;
use kernel::ids::WorkItemId;

/// The sign-in page. All other paths are below `/backlog`.
const SIGN_IN: &str = "/backlog/sign-in";

/// The form of a new item.
const NEW: &str = "/backlog/new";

/// Longer than any token.
const FORM_LIMIT: usize = 8 * 1024;

/// Allows only files of this server and nothing inline. Injected markup can therefore neither run scripts nor send requests.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

#[derive(Clone)]
struct Kanban {
    auth: Arc<Auth>,
    viewer: Arc<Viewer>,
    actor: Arc<Actor>,
    listeners: Arc<Listeners>,
}

/// The routes of the kanban page, for a server bound to `address`.
pub(super) fn router(shown: &Shown, address: IpAddr, stop: CancellationToken) -> Router {
    let kanban = Kanban {
        auth: Arc::new(Auth::new(&shown.settings, address)),
        viewer: Arc::new(Viewer::new(shown)),
        actor: Arc::new(Actor { commands: shown.commands.clone(), submissions: Submissions::new() }),
        listeners: Listeners::start(shown.store.clone(), shown.clock.clone(), stop),
    };
    Router::new()
        .route("/backlog", get(columns))
        .route("/backlog.json", get(json))
        .route(NEW, get(new_item))
        .route("/backlog/items", post(acts::add).layer(DefaultBodyLimit::max(acts::LARGEST)))
        .route("/backlog/items/{id}", get(item))
        .route("/backlog/items/{id}/{act}", post(acts::change).layer(DefaultBodyLimit::max(acts::LARGEST)))
        .route("/backlog/items/{id}/files/{place}", get(file))
        .route("/backlog/missions/{id}", get(mission))
        .route("/backlog/live", get(live))
        .route(SIGN_IN, post(sign_in).layer(DefaultBodyLimit::max(FORM_LIMIT)))
        .route("/backlog/page/{file}", get(|Path(file): Path<String>| async move { page::file(&file) }))
        .layer(middleware::from_fn_with_state(kanban.clone(), guard))
        .with_state(kanban)
}

/// Checks access and adds security headers to every response.
async fn guard(State(kanban): State<Kanban>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let open = path == SIGN_IN || path.starts_with("/backlog/page/");
    // Signing in needs the token itself, which no other site has.
    let acts = request.method() == Method::POST && path != SIGN_IN;
    let checked = kanban.auth.check(request.headers(), open);
    let refused = checked.and_then(|()| if acts { Auth::check_source(request.headers()) } else { Ok(()) });
    let mut response = match refused {
        Ok(()) => next.run(request).await,
        Err(Refusal::Hidden) => StatusCode::NOT_FOUND.into_response(),
        Err(Refusal::ForeignHost) => {
            (StatusCode::MISDIRECTED_REQUEST, "This host name is not allowed. Add it to `server.hosts` to use it.\n").into_response()
        }
        Err(Refusal::ForeignOrigin) => (StatusCode::FORBIDDEN, "Requests from other sites are not allowed.\n").into_response(),
        Err(Refusal::UnknownOrigin) => (
            StatusCode::FORBIDDEN,
            "Nothing was done: the request does not say which page it comes from. Use the form on the kanban page.\n",
        )
            .into_response(),
        Err(Refusal::Token) if path == "/backlog" => page::sign_in(StatusCode::UNAUTHORIZED, None),
        Err(Refusal::Token) => {
            let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
            (StatusCode::UNAUTHORIZED, challenge, "Token required. Send it as \"Authorization: Bearer <token>\".\n").into_response()
        }
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(CONTENT_SECURITY_POLICY));
    // With `no-referrer` the browser sends no `Origin`, and the forms would be refused as foreign.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

async fn columns(State(kanban): State<Kanban>, Query(asked): Query<Asked>) -> Result<Response, Unreadable> {
    Ok(page::kanban(&kanban.viewer.read_kanban(&asked).await?))
}

async fn json(State(kanban): State<Kanban>, Query(asked): Query<Asked>) -> Result<Response, Unreadable> {
    Ok(Json(kanban.viewer.read_kanban(&asked).await?).into_response())
}

async fn item(State(kanban): State<Kanban>, Path(id): Path<String>, Query(sent): Query<Sent>) -> Result<Response, Unreadable> {
    let Some(id) = read_id(id) else { return Ok(page::missing()) };
    let forms = kanban.prepare_forms(&sent).await;
    let item = kanban.viewer.read_item(&id, forms).await?;
    Ok(item.map_or_else(page::missing, |item| page::item(&item)))
}

async fn mission(State(kanban): State<Kanban>, Path(id): Path<String>) -> Result<Response, Unreadable> {
    let Some(id) = read_id(id) else { return Ok(page::missing()) };
    let mission = kanban.viewer.read_mission(&id).await?;
    Ok(mission.map_or_else(page::missing, |mission| page::mission(&mission)))
}

async fn new_item(State(kanban): State<Kanban>, Query(sent): Query<Sent>) -> Response {
    page::new_item(&kanban.viewer.show_new(kanban.prepare_forms(&sent).await))
}

/// The answer that a page shows.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Sent {
    sent: String,
}

impl Kanban {
    async fn prepare_forms(&self, sent: &Sent) -> Forms {
        let answer = self.actor.submissions.find(&sent.sent).await;
        Forms { key: self.actor.submissions.issue(), owners: self.actor.list_owners().await, answer }
    }
}

/// Our ids are letters and digits. PostgreSQL rejects some other characters.
fn read_id(id: String) -> Option<WorkItemId> {
    id.chars().all(|c| c.is_ascii_alphanumeric()).then(|| WorkItemId::new(id))
}

async fn file(State(kanban): State<Kanban>, Path((id, place)): Path<(String, u32)>) -> Result<Response, Unreadable> {
    let Some(id) = read_id(id) else { return Ok(page::missing()) };
    let file = kanban.viewer.find_file(&id, place).await?;
    Ok(file.map_or_else(page::missing, files::serve))
}

async fn live(State(kanban): State<Kanban>) -> Response {
    match kanban.listeners.listen() {
        Some(events) => events.into_response(),
        None => (StatusCode::SERVICE_UNAVAILABLE, "Too many pages are open, so this one has no live updates. It reloads every minute.\n")
            .into_response(),
    }
}

/// Reads the token from a multipart form, which needs no further dependency.
async fn sign_in(State(kanban): State<Kanban>, mut form: Multipart) -> Response {
    let mut given = String::new();
    while let Ok(Some(field)) = form.next_field().await {
        if field.name() == Some("token") {
            given = field.text().await.unwrap_or_default();
        }
    }
    match kanban.auth.sign_in(given.trim()) {
        Some(cookie) => (StatusCode::SEE_OTHER, [(header::LOCATION, "/backlog"), (header::SET_COOKIE, &*cookie)]).into_response(),
        None => page::sign_in(StatusCode::UNAUTHORIZED, Some("Wrong token. Try again.")),
    }
}

/// The store did not answer.
struct Unreadable(StoreError);

impl From<StoreError> for Unreadable {
    fn from(error: StoreError) -> Self {
        Self(error)
    }
}

impl IntoResponse for Unreadable {
    fn into_response(self) -> Response {
        tracing::warn!(error = %self.0, "cannot read the backlog for the kanban page");
        (StatusCode::SERVICE_UNAVAILABLE, "The database is not responding. Try again in a moment.\n").into_response()
    }
}
