//! What the journal keeps of HTTP requests and gateway frames, for tests that check them against Discord's descriptions.

use local_server::{Direction, Journal};
use serde_json::Value;

use super::snowflake::Snowflake;

#[derive(Clone, Debug)]
pub enum Exchange {
    Rest(RestExchange),
    Frame(FrameExchange),
}

/// One request and its answer.
#[derive(Clone, Debug)]
pub struct RestExchange {
    pub method: String,
    /// Without the query; begins with `/api/v10/`.
    pub path: String,
    pub query: String,
    /// The JSON of the request, also if it was sent as `payload_json`. Null if there is none.
    pub request: Value,
    /// 0 if a fault left the request without a response.
    pub status: u16,
    /// Answer headers by lower-case name.
    pub headers: Vec<(String, String)>,
    /// The JSON of the response. Null if there is none.
    pub response: Value,
}

/// One gateway payload.
#[derive(Clone, Debug)]
pub struct FrameExchange {
    /// The user's id, once the connection has identified.
    pub user: Option<String>,
    pub direction: Direction,
    pub payload: Value,
}

/// Keeps a gateway frame.
pub(crate) fn keep_frame(journal: &Journal<Exchange>, user: Option<Snowflake>, direction: Direction, text: &str) {
    journal.keep(|| {
        let payload = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        Exchange::Frame(FrameExchange { user: user.map(|user| user.to_string()), direction, payload })
    });
}
