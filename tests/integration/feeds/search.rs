//! The search feed with a search engine on loopback.

use std::path::Path;
use std::sync::Arc;

use chrono::TimeDelta;
use kernel::feeds::{self, FeedQuery, FeedSources, Services};
use kernel::time::ManualClock;
use kernel::tools::settings::{SearchEngine, SearchSettings};
use kernel::tools::web::WebSearch;
use serde_json::json;

use super::web::{Answer, Site};
use super::{last_days, now, sources, spec};

#[tokio::test]
async fn results_are_entries_and_a_search_is_made_once_an_hour() {
    let site = Site::start().await;
    let results = r#"{"results": [{"title": "Payment provider down", "url": "https://a.example/1", "content": "since noon"},
        {"title": "", "url": "https://b.example/2", "content": "no title"}, {"title": "no address", "url": "", "content": ""}]}"#;
    site.json("/search", results);
    let url = site.json("/search", results).trim_end_matches("/search").to_owned();
    let engine = WebSearch::new(&SearchSettings { engine: SearchEngine::Searxng, url, key: None }).unwrap();
    let services = Services { search: Some(Arc::new(engine)), ..Services::default() };
    let sources = FeedSources { services, ..sources(Path::new("/nowhere"), &ManualClock::new(now())) };
    let feed = feeds::build(&spec("search", "outages", json!({"query": "payment outage"})), &sources).unwrap();
    let reading = feed.read(&last_days(1)).await.unwrap();
    let told: Vec<_> = reading.items.iter().map(|item| (item.at, item.text.as_str(), item.reference.as_str())).collect();
    assert_eq!(told, [(None, "Payment provider down", "https://a.example/1"), (None, "no title", "https://b.example/2")]);
    assert_eq!((reading.total, reading.source.as_str()), (2, "search for payment outage"));

    feed.read(&FeedQuery { now: now() + TimeDelta::minutes(59), ..last_days(1) }).await.unwrap();
    assert_eq!(site.asked().len(), 1, "a search costs money");
    site.tell("/search", Answer::Status(429));
    let error = feed.read(&FeedQuery { now: now() + TimeDelta::minutes(61), ..last_days(1) }).await.unwrap_err().to_string();
    assert!(error.contains("the search takes no more queries for now"), "{error}");
}

#[test]
fn without_a_search_engine_the_declaration_says_where_to_set_one() {
    let sources = sources(Path::new("/nowhere"), &ManualClock::new(now()));
    let refused = |settings| feeds::build(&spec("search", "outages", settings), &sources).err().unwrap().to_string();
    let told = "feed \"outages\": kind must be another one, or set a search engine as tools.search in teamroom.toml";
    assert_eq!(refused(json!({"query": "payment outage"})), told);
    assert_eq!(refused(json!({"query": " "})), "feed \"outages\": query must be what to search for");
}
