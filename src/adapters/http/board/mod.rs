//! The board: the backlog as a page that keeps itself up to date.
//!
//! The server renders all there is to see, so the page works without scripts; `page.js` fetches it anew when the backlog has moved. Nothing here
//! changes anything. `gate` says who may look, `view` what is shown, `page` how, `live` when to look again.

mod gate;
mod live;
mod page;
mod view;

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{DefaultBodyLimit, Multipart, Path, Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use tokio_util::sync::CancellationToken;

use self::gate::{Gate, Refusal};
use self::live::Listeners;
use self::view::{Asked, Viewer};
use crate::adapters::http::Shown;
use kernel::db::StoreError;
use kernel::ids::WorkItemId;

/// Where people type the token. All other addresses are below it.
const SIGN_IN: &str = "/backlog/sign-in";

/// More than any token is long.
const FORM_LIMIT: usize = 8 * 1024;

/// Everything comes from this server and nothing is written inline, so that even words that found a way into the markup could neither run nor
/// call out.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

#[derive(Clone)]
struct Board {
    gate: Arc<Gate>,
    viewer: Arc<Viewer>,
    listeners: Arc<Listeners>,
}

/// The board and everything below it, for a server that is bound to `address`.
pub(super) fn router(shown: &Shown, address: IpAddr, stop: CancellationToken) -> Router {
    let board = Board {
        gate: Arc::new(Gate::new(&shown.settings, address)),
        viewer: Arc::new(Viewer::new(shown)),
        listeners: Listeners::start(shown.store.clone(), shown.clock.clone(), stop),
    };
    Router::new()
        .route("/backlog", get(columns))
        .route("/backlog.json", get(json))
        .route("/backlog/items/{id}", get(item))
        .route("/backlog/live", get(live))
        .route(SIGN_IN, post(sign_in).layer(DefaultBodyLimit::max(FORM_LIMIT)))
        .route("/backlog/page/{file}", get(|Path(file): Path<String>| async move { page::file(&file) }))
        .layer(middleware::from_fn_with_state(board.clone(), guard))
        .with_state(board)
}

/// Lets through who may see what is asked for, and puts on every answer what keeps it from others.
async fn guard(State(board): State<Board>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let open = path == SIGN_IN || path.starts_with("/backlog/page/");
    let refused = board.gate.check(request.headers(), open);
    let mut response = match refused {
        Ok(()) => next.run(request).await,
        Err(Refusal::Hidden) => StatusCode::NOT_FOUND.into_response(),
        Err(Refusal::ForeignHost) => {
            (StatusCode::MISDIRECTED_REQUEST, "The board is not shown by this name; `server.hosts` lists those it has.\n").into_response()
        }
        Err(Refusal::ForeignOrigin) => (StatusCode::FORBIDDEN, "The board answers its own page only.\n").into_response(),
        Err(Refusal::Token) if path == "/backlog" => page::sign_in(StatusCode::UNAUTHORIZED, None),
        Err(Refusal::Token) => {
            let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
            (StatusCode::UNAUTHORIZED, challenge, "Give the token: Authorization: Bearer …\n").into_response()
        }
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::REFERRER_POLICY).or_insert(HeaderValue::from_static("no-referrer"));
    response
}

async fn columns(State(board): State<Board>, Query(asked): Query<Asked>) -> Result<Response, Unreadable> {
    Ok(page::board(&board.viewer.read_board(&asked).await?))
}

async fn json(State(board): State<Board>, Query(asked): Query<Asked>) -> Result<Response, Unreadable> {
    Ok(Json(board.viewer.read_board(&asked).await?).into_response())
}

async fn item(State(board): State<Board>, Path(id): Path<String>) -> Result<Response, Unreadable> {
    // Ours are letters and digits; what else there is in the world, PostgreSQL would refuse some of it.
    let is_id = id.chars().all(|c| c.is_ascii_alphanumeric());
    let item = if is_id { board.viewer.read_item(&WorkItemId::new(id)).await? } else { None };
    Ok(item.map_or_else(page::missing, |item| page::item(&item)))
}

async fn live(State(board): State<Board>) -> Response {
    match board.listeners.listen() {
        Some(events) => events.into_response(),
        None => (StatusCode::SERVICE_UNAVAILABLE, "Too many pages listen; this one is shown anew each minute.\n").into_response(),
    }
}

/// Reads the token from the form. A form of parts, because it needs nothing that is not in the tree.
async fn sign_in(State(board): State<Board>, mut form: Multipart) -> Response {
    let mut given = String::new();
    while let Ok(Some(field)) = form.next_field().await {
        if field.name() == Some("token") {
            given = field.text().await.unwrap_or_default();
        }
    }
    match board.gate.sign_in(given.trim()) {
        Some(cookie) => (StatusCode::SEE_OTHER, [(header::LOCATION, "/backlog"), (header::SET_COOKIE, &*cookie)]).into_response(),
        None => page::sign_in(StatusCode::UNAUTHORIZED, Some("This is not the token.")),
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
        tracing::warn!(error = %self.0, "the board cannot be read");
        (StatusCode::SERVICE_UNAVAILABLE, "The database does not answer; try again in a moment.\n").into_response()
    }
}
