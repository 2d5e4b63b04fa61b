use reqwest::{Client, RequestBuilder, Url};
use serde_json::Value;

use crate::tools::web::search::{Hit, text_of};

/// <https://docs.searxng.org/dev/search_api.html>. The operator sets the address of the instance, which may have a path.
pub(super) fn request(client: &Client, mut url: Url, query: &str) -> RequestBuilder {
    let path = format!("{}/search", url.path().trim_end_matches('/'));
    url.set_path(&path);
    client.get(url).query(&[("q", query), ("format", "json")])
}

pub(super) fn parse(answer: &Value) -> Option<Vec<Hit>> {
    let hit = |result| Hit { title: text_of(result, "title"), url: text_of(result, "url"), snippet: text_of(result, "content") };
    Some(answer.get("results")?.as_array()?.iter().map(hit).collect())
}
