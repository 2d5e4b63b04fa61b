//! Scripted embeddings: a text is the sum of the concepts that its words name.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::{ScriptedModel, Shared, lock};

/// Words with the same number mean the same.
const CONCEPTS: [(&str, usize); 12] = [
    ("deploy", 0),
    ("releases", 0),
    ("ship", 0),
    ("thursdays", 1),
    ("weekday", 1),
    ("herons", 2),
    ("birds", 2),
    ("fish", 3),
    ("eat", 3),
    ("vault", 4),
    ("safe", 4),
    ("code", 5),
];
const DIMENSIONS: usize = 32;

#[derive(Default)]
pub(super) struct Embedding {
    is_down: AtomicBool,
    requests: Mutex<Vec<Embedded>>,
}

/// A request for vectors.
#[derive(Debug, Clone)]
pub(crate) struct Embedded {
    pub(crate) model: String,
    pub(crate) texts: Vec<String>,
    pub(crate) dimensions: Option<u64>,
}

impl ScriptedModel {
    /// Whether requests for vectors are refused with a status of 503.
    pub(crate) fn break_embeddings(&self, is_down: bool) {
        self.shared.embedding.is_down.store(is_down, Ordering::Relaxed);
    }

    /// All requests for vectors, refused ones too.
    pub(crate) fn embedded(&self) -> Vec<Embedded> {
        lock(&self.shared.embedding.requests).clone()
    }
}

pub(super) async fn answer(State(shared): State<Arc<Shared>>, Json(body): Json<Value>) -> Response {
    let texts: Vec<String> = super::list(&body, "input").filter_map(Value::as_str).map(str::to_owned).collect();
    let asked =
        Embedded { model: super::text_of(&body, "model").to_owned(), texts: texts.clone(), dimensions: body["dimensions"].as_u64() };
    lock(&shared.embedding.requests).push(asked);
    if shared.embedding.is_down.load(Ordering::Relaxed) {
        return (StatusCode::SERVICE_UNAVAILABLE, "down").into_response();
    }
    // The order differs from the request, as the protocol allows.
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .rev()
        .map(|(index, text)| json!({"index": index, "object": "embedding", "embedding": vector(text)}))
        .collect();
    let tokens: usize = texts.iter().map(|text| text.split_whitespace().count()).sum();
    Json(json!({"object": "list", "data": data, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}})).into_response()
}

/// Words without a concept are spread over the other dimensions.
fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3).map(str::to_lowercase) {
        match CONCEPTS.iter().find(|(known, _)| *known == word) {
            Some((_, concept)) => vector[*concept] += 3.0,
            None => vector[8 + word.bytes().map(usize::from).sum::<usize>() % (DIMENSIONS - 8)] += 0.3,
        }
    }
    vector
}
