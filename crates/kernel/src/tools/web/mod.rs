//! Tools that reach out into the web: reading pages, reading from listed hosts, searching.
//!
//! Every request for an address that a model gave goes through `door`, which judges where it leads. What comes back is from outside, always.
//! Feeds have a client of their own, because an operator may name what a model may not (FEED-1).

mod address;
mod door;
mod fetch;
mod fetch_page;
mod http_get;
mod page;
mod search;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use reqwest::Url;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use self::door::Door;
use self::fetch::Fetched;
use self::fetch_page::FetchPage;
use self::http_get::HttpGet;
use self::search::WebSearch;
use crate::tools::settings::ToolSettings;
use crate::tools::{Tool, ToolError, Trace};

pub use address::normalize;
pub use door::{Lookup, SystemLookup};

/// The tools that these settings give a team: `fetch_page` always, `http_get` where hosts are listed, `web_search` where there is a search.
///
/// # Errors
/// The machine's TLS cannot be set up.
pub fn web_tools(settings: &ToolSettings, lookup: Arc<dyn Lookup>) -> anyhow::Result<Vec<Arc<dyn Tool>>> {
    let door = Arc::new(Door { hosts: settings.hosts.clone(), lookup });
    let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(FetchPage { door: door.clone() })];
    if !settings.hosts.is_empty() {
        tools.push(Arc::new(HttpGet { door }));
    }
    if let Some(search) = &settings.search {
        tools.push(Arc::new(WebSearch::new(search)?));
    }
    Ok(tools)
}

fn parse_url(arguments: &Value) -> Result<Url, ToolError> {
    let parsed = arguments["url"].as_str().and_then(|url| Url::parse(url.trim()).ok());
    parsed.ok_or_else(|| ToolError::Refused("that is no whole address; give one that begins with https:// or http://".into()))
}

fn trace(asked: &Url, fetched: &Fetched, links: Vec<String>, at: DateTime<Utc>) -> Trace {
    let sha256 = Sha256::digest(&fetched.bytes).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    Trace::Fetched { url: asked.to_string(), from: fetched.from.to_string(), sha256, at, links }
}
