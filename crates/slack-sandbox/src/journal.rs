//! What the journal keeps of requests and frames, for tests that check them against Slack's descriptions.

use local_server::Direction;
use serde_json::Value;

#[derive(Clone, Debug)]
pub enum Exchange {
    Call(CallExchange),
    Frame(FrameExchange),
}

/// A call of the Web API with its answer.
#[derive(Clone, Debug)]
pub struct CallExchange {
    pub method: String,
    /// The slug of the app, if the token is known.
    pub app: Option<String>,
    pub arguments: Value,
    /// 0 if a fault left the call without an answer.
    pub status: u16,
    /// Null if it is not JSON.
    pub answer: Value,
}

/// A text frame of a Socket Mode connection.
#[derive(Clone, Debug)]
pub struct FrameExchange {
    pub app: String,
    /// The number of the connection.
    pub connection: u64,
    pub direction: Direction,
    pub payload: Value,
}
