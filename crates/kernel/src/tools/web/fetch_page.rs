use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::Url;
use serde_json::{Value, json};

use crate::tools::approval::Risk;
use crate::tools::web::address::normalize;
use crate::tools::web::fetch::{Fetched, fetch};
use crate::tools::web::page::{PageText, read_page};
use crate::tools::web::ssrf_guard::{Reach, SsrfGuard};
use crate::tools::web::{parse_url, read_from, reading, trace};
use crate::tools::{Tool, ToolContext, ToolError, ToolLimits, ToolOutput, Trace};

/// Fetches a web page as Markdown. Ignores `robots.txt`, which applies to scheduled research (TOOL-3) and not to single requests.
pub(super) struct FetchPage {
    pub ssrf_guard: Arc<SsrfGuard>,
}

#[async_trait]
impl Tool for FetchPage {
    fn name(&self) -> &'static str {
        "fetch_page"
    }

    fn description(&self) -> String {
        "Reads a public web page as Markdown. Give an address from the task, from a search or from a page that was read; for one that you made \
         up a person may have to be asked."
            .into()
    }

    fn asked_by(&self) -> &'static str {
        "website web site url link https http www article address Seite Webseite Artikel Adresse lien site"
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"url": {"type": "string", "minLength": 1, "maxLength": 2000, "description": "The whole address."}},
            "required": ["url"],
            "additionalProperties": false,
        })
    }

    fn limits(&self) -> ToolLimits {
        ToolLimits { timeout: Duration::from_secs(20), chars: 20_000 }
    }

    /// An invented address can leak what the run knows. A known address, or a host listed by the operator, cannot.
    fn risk(&self, arguments: &Value, context: &ToolContext<'_>) -> Risk {
        let Some(url) = arguments["url"].as_str().and_then(normalize).filter(|url| url.starts_with("http")) else {
            // The call itself refuses this address, so an approval would be useless.
            return Risk::Read;
        };
        let is_listed = || Url::parse(&url).is_ok_and(|url| self.ssrf_guard.is_listed(&url));
        if is_listed() || context.seen.iter().filter_map(|seen| normalize(seen)).any(|seen| seen == url) {
            Risk::Read
        } else {
            Risk::ReachOut
        }
    }

    fn describe_doing(&self, arguments: &Value) -> Option<String> {
        reading(arguments)
    }

    fn describe_done(&self, trace: &Trace) -> Option<String> {
        read_from(trace)
    }

    async fn call(&self, arguments: &Value, context: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let url = parse_url(arguments)?;
        let (fetched, page) = fetch_page(&self.ssrf_guard, &url).await?;
        let trace = trace(&url, &fetched, page.links, context.now);
        Ok(ToolOutput { text: page.text, outside: true, trace: Some(trace) })
    }
}

pub(super) async fn fetch_page(ssrf_guard: &SsrfGuard, url: &Url) -> Result<(Fetched, PageText), ToolError> {
    let accept = "text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9, application/json;q=0.9, application/xml;q=0.8";
    read_aside(fetch(ssrf_guard, url, Reach::Public, accept).await?).await
}

/// Converting a long page would block other tasks on this thread.
async fn read_aside(fetched: Fetched) -> Result<(Fetched, PageText), ToolError> {
    let read = tokio::task::spawn_blocking(move || read_page(&fetched).map(|page| (fetched, page)));
    read.await.unwrap_or_else(|_| Err(ToolError::Failed("the page cannot be read".into())))
}
