//! A web server on loopback with scripted answers.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt as _, stream};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The answer to a request.
#[derive(Clone)]
pub(crate) enum Answer {
    Body(&'static str, Bytes),
    Status(u16),
    Redirect(String),
    /// Sends these parts, then nothing.
    Stalls(Vec<&'static str>),
    /// Sends each part separately.
    Pieces(Vec<&'static str>),
    /// Closes the connection in the middle.
    Broken,
    Hangs,
    /// Waits for a permit.
    Waits(Arc<Semaphore>, &'static str),
}

#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<(String, Answer)>>>);

/// The server. Stopped on drop.
pub(crate) struct Site {
    told: Told,
    asked: Arc<Mutex<Vec<String>>>,
    base: String,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let (told, asked) = (Told::default(), Arc::new(Mutex::new(Vec::new())));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state((told.clone(), asked.clone()));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { told, asked, base }
    }

    /// Sets the answer of `path`. Returns its address.
    pub(crate) fn tell(&self, path: &str, answer: Answer) -> String {
        let mut told = self.told.0.lock().unwrap();
        told.retain(|(known, _)| known != path);
        told.push((path.to_owned(), answer));
        format!("{}{path}", self.base)
    }

    pub(crate) fn json(&self, path: &str, body: &'static str) -> String {
        self.tell(path, Answer::Body("application/json", body.into()))
    }

    pub(crate) fn xml(&self, path: &str, body: impl Into<Bytes>) -> String {
        self.tell(path, Answer::Body("application/xml", body.into()))
    }

    /// The requested paths in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// The address for display, without scheme.
    pub(crate) fn shown(&self, path: &str) -> String {
        format!("{}{path}", self.base.trim_start_matches("http://"))
    }
}

async fn answer(State((told, asked)): State<(Told, Arc<Mutex<Vec<String>>>)>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let answer = told.0.lock().unwrap().iter().find(|(known, _)| *known == path).map(|(_, answer)| answer.clone());
    asked.lock().unwrap().push(path);
    let json = |body: Body| ([(CONTENT_TYPE, "application/json")], body).into_response();
    let pieces = |pieces: Vec<&'static str>| stream::iter(pieces.into_iter().map(Ok::<_, Infallible>));
    match answer {
        None => StatusCode::NOT_FOUND.into_response(),
        Some(Answer::Body(kind, body)) => ([(CONTENT_TYPE, kind)], body).into_response(),
        Some(Answer::Status(status)) => StatusCode::from_u16(status).unwrap().into_response(),
        Some(Answer::Redirect(target)) => (StatusCode::FOUND, [(LOCATION, target)]).into_response(),
        Some(Answer::Pieces(list)) => json(Body::from_stream(pieces(list))),
        Some(Answer::Stalls(list)) => json(Body::from_stream(pieces(list).chain(stream::pending()))),
        Some(Answer::Broken) => {
            let failure = stream::once(async {
                // Lets the server flush before the next part.
                tokio::task::yield_now().await;
                Err(std::io::Error::other("the cable was pulled"))
            });
            let broken = stream::iter([Ok("{\"queue\"")]).chain(failure);
            json(Body::from_stream(broken))
        }
        Some(Answer::Hangs) => std::future::pending().await,
        Some(Answer::Waits(permits, body)) => {
            permits.acquire().await.unwrap().forget();
            json(body.into())
        }
    }
}
