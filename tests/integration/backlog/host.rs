//! Pages and feeds on loopback with changeable content.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::response::{IntoResponse as _, Response};
use tokio::net::TcpListener;

/// The answer of a path.
#[derive(Clone)]
pub(crate) enum Page {
    Html(String),
    Json(String),
    /// A redirect.
    To(String),
    Down,
}

/// A web server that counts requests. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Host {
    shared: Arc<Mutex<Shared>>,
    /// `127.0.0.1:port`.
    pub(crate) address: String,
}

#[derive(Default)]
struct Shared {
    pages: HashMap<String, Page>,
    asked: usize,
}

impl Host {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let shared = Arc::<Mutex<Shared>>::default();
        let router = Router::new().fallback(serve).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { shared, address }
    }

    pub(crate) fn lay_out(&self, path: &str, page: Page) {
        lock(&self.shared).pages.insert(format!("/{path}"), page);
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    pub(crate) fn port(&self) -> &str {
        self.address.rsplit_once(':').expect("a port").1
    }

    pub(crate) fn count_asked(&self) -> usize {
        lock(&self.shared).asked
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().expect("no test panics with it")
}

async fn serve(State(shared): State<Arc<Mutex<Shared>>>, request: Request) -> Response {
    let mut shared = lock(&shared);
    shared.asked += 1;
    match shared.pages.get(request.uri().path()) {
        Some(Page::Html(text)) => ([(CONTENT_TYPE, "text/html")], format!("<html><body>{text}</body></html>")).into_response(),
        Some(Page::Json(text)) => ([(CONTENT_TYPE, "application/json")], text.clone()).into_response(),
        Some(Page::To(url)) => (StatusCode::FOUND, [(LOCATION, url.clone())]).into_response(),
        Some(Page::Down) | None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}
