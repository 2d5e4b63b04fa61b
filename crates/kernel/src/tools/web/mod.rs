//! Web tools: fetching pages, fetching from listed hosts, searching.
//!
//! The SSRF guard checks every address from a model. All results count as text from outside. Feeds use another client, because operators
//! may use addresses that models may not (FEED-1).

mod address;
mod fetch;
mod fetch_page;
mod http_get;
mod page;
mod search;
mod ssrf_guard;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::Url;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use self::fetch::Fetched;
use self::fetch_page::FetchPage;
use self::http_get::HttpGet;
use self::ssrf_guard::SsrfGuard;
use crate::chat::medium::Medium;
use crate::tools::settings::ToolSettings;
use crate::tools::{Tool, ToolError, Trace};

pub use address::normalize;
pub use search::{Hit, WebSearch};
pub use ssrf_guard::{Lookup, SystemLookup};

/// The most characters of an address in a line.
const LABEL: usize = 48;

/// The web tools for these settings: `fetch_page` always, `http_get` if hosts are listed, `web_search` if a search engine is configured.
///
/// # Errors
/// TLS cannot be set up.
pub fn web_tools(settings: &ToolSettings, lookup: Arc<dyn Lookup>) -> anyhow::Result<Vec<Arc<dyn Tool>>> {
    let ssrf_guard = Arc::new(SsrfGuard { hosts: settings.hosts.clone(), lookup });
    let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(FetchPage { ssrf_guard: ssrf_guard.clone() })];
    if !settings.hosts.is_empty() {
        tools.push(Arc::new(HttpGet { ssrf_guard }));
    }
    if let Some(search) = &settings.search {
        tools.push(Arc::new(WebSearch::new(search)?));
    }
    Ok(tools)
}

/// Reads public web pages for a feature, under the same rules as the tool of a persona.
pub struct PageReader {
    ssrf_guard: SsrfGuard,
}

/// How long reading a page may take.
const PAGE_TIME: Duration = Duration::from_secs(20);

impl PageReader {
    pub fn new(settings: &ToolSettings, lookup: Arc<dyn Lookup>) -> Self {
        Self { ssrf_guard: SsrfGuard { hosts: settings.hosts.clone(), lookup } }
    }

    /// The text of a page as Markdown.
    ///
    /// # Errors
    /// Why it cannot be read: not allowed, not there, or no text.
    pub async fn read(&self, url: &str) -> Result<String, ToolError> {
        let url = Url::parse(url).map_err(|_| ToolError::Refused("that is no whole address".into()))?;
        match tokio::time::timeout(PAGE_TIME, fetch_page::fetch_page(&self.ssrf_guard, &url)).await {
            Ok(read) => read.map(|(_, page)| page.text),
            Err(_) => Err(ToolError::Failed("it took too long".into())),
        }
    }
}

fn parse_url(arguments: &Value) -> Result<Url, ToolError> {
    let parsed = arguments["url"].as_str().and_then(|url| Url::parse(url.trim()).ok());
    parsed.ok_or_else(|| ToolError::Refused("that is no whole address; give one that begins with https:// or http://".into()))
}

/// The name of a page in a line: its host and the beginning of its path.
fn label(url: &Url) -> String {
    let path = url.path().trim_end_matches('/');
    let whole = format!("{}{path}", url.host_str().unwrap_or_default());
    let shown: String = whole.chars().take(LABEL).collect();
    if shown.len() < whole.len() { format!("{shown}…") } else { shown }
}

/// The line of a call that reads a page.
fn reading(arguments: &Value) -> Option<String> {
    let url = parse_url(arguments).ok()?;
    Some(format!("Reading {}", Medium::Chat.line_within(url.host_str()?, LABEL)))
}

/// The small print of a call that has read a page, with a link to it.
fn read_from(trace: &Trace) -> Option<String> {
    let Trace::Fetched { url, .. } = trace else { return None };
    let url = Url::parse(url).ok()?;
    let shown = label(&url);
    // An address with characters that could end the link is shown as it is.
    let is_plain = !url.as_str().contains(['<', '>', ' ']);
    Some(if is_plain {
        format!("Read [{}](<{url}>)", shown.replace(['[', ']', '`', '*', '_', '@'], " "))
    } else {
        "Read a page".to_owned()
    })
}

fn trace(asked: &Url, fetched: &Fetched, links: Vec<String>, at: DateTime<Utc>) -> Trace {
    let sha256 = Sha256::digest(&fetched.bytes).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    Trace::Fetched { url: asked.to_string(), from: fetched.from.to_string(), sha256, at, links }
}
