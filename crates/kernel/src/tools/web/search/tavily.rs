use reqwest::{Client, RequestBuilder, Url};
use serde_json::{Value, json};

use crate::tools::web::search::{Hit, MOST_HITS, text_of};

/// <https://docs.tavily.com/documentation/api-reference/endpoint/search>
pub(super) fn request(client: &Client, url: Url, key: &str, query: &str) -> RequestBuilder {
    client.post(url).bearer_auth(key).json(&json!({"query": query, "max_results": MOST_HITS}))
}

pub(super) fn parse(answer: &Value) -> Option<Vec<Hit>> {
    let hit = |result| Hit { title: text_of(result, "title"), url: text_of(result, "url"), snippet: text_of(result, "content") };
    Some(answer.get("results")?.as_array()?.iter().map(hit).collect())
}
