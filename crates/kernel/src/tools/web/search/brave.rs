use reqwest::{Client, RequestBuilder, Url};
use serde_json::Value;

use crate::tools::web::search::{Hit, MOST_HITS, text_of};

/// <https://api-dashboard.search.brave.com/app/documentation/web-search/query>. Without decorations the text contains no HTML tags.
pub(super) fn request(client: &Client, url: Url, key: &str, query: &str) -> RequestBuilder {
    let most = MOST_HITS.to_string();
    client.get(url).header("X-Subscription-Token", key).query(&[("q", query), ("count", &most), ("text_decorations", "false")])
}

/// `web` is missing if nothing was found, so `type` shows whether this is a search result.
pub(super) fn parse(answer: &Value) -> Option<Vec<Hit>> {
    let results = match answer.get("web") {
        None if answer["type"] == "search" => return Some(Vec::new()),
        web => web?.get("results")?.as_array()?,
    };
    let hit = |result| Hit { title: text_of(result, "title"), url: text_of(result, "url"), snippet: text_of(result, "description") };
    Some(results.iter().map(hit).collect())
}
