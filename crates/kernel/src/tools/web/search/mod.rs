//! Web search with the operator's search engine, one file per engine.
//!
//! An engine defines its request and the path of its results. Sending, limits and errors are shared.

mod brave;
mod searxng;
mod tavily;

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Context as _;
use async_trait::async_trait;
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use crate::chat::medium::Medium;
use crate::text::without_invisible;
use crate::tools::approval::Risk;
use crate::tools::settings::{SearchEngine, SearchSettings};
use crate::tools::web::address::normalize;
use crate::tools::web::fetch::{check_status, failed};
use crate::tools::{Tool, ToolContext, ToolError, ToolOutput, Trace};

const MOST_HITS: usize = 10;
const MOST_BYTES: usize = 1 << 20;
/// The most characters of a title and of a description.
const TITLE: usize = 200;
const SNIPPET: usize = 500;
/// Brave and Tavily accept no longer queries.
const QUERY: usize = 400;
const CONNECT: Duration = Duration::from_secs(5);

/// The client of the configured search engine, which is a tool and the source of feeds.
pub struct WebSearch {
    client: Client,
    engine: SearchEngine,
    url: Url,
    key: Option<SecretString>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub title: String,
    pub url: String,
    pub snippet: String,
}

impl WebSearch {
    /// # Errors
    /// The address is invalid, or TLS cannot be set up.
    pub fn new(settings: &SearchSettings) -> anyhow::Result<Self> {
        let agent = concat!("teamroom/", env!("CARGO_PKG_VERSION"));
        // The key is sent only to the configured address.
        let client = crate::network::client().connect_timeout(CONNECT).user_agent(agent).redirect(Policy::none()).build();
        let url = Url::parse(&settings.url).with_context(|| format!("reading the address of the web search, {}", settings.url))?;
        let client = client.context("cannot make an HTTP client for the web search")?;
        Ok(Self { client, engine: settings.engine, url, key: settings.key.clone() })
    }

    fn request(&self, query: &str) -> RequestBuilder {
        let key = self.key.as_ref().map(ExposeSecret::expose_secret).unwrap_or_default();
        match self.engine {
            SearchEngine::Brave => brave::request(&self.client, self.url.clone(), key, query),
            SearchEngine::Tavily => tavily::request(&self.client, self.url.clone(), key, query),
            SearchEngine::Searxng => searxng::request(&self.client, self.url.clone(), query),
        }
    }

    fn parse(&self, answer: &Value) -> Option<Vec<Hit>> {
        match self.engine {
            SearchEngine::Brave => brave::parse(answer),
            SearchEngine::Tavily => tavily::parse(answer),
            SearchEngine::Searxng => searxng::parse(answer),
        }
    }

    /// # Errors
    /// The engine refuses, fails or answers with something else.
    pub async fn find(&self, query: &str) -> Result<Vec<Hit>, ToolError> {
        let response = self.request(query).send().await.map_err(|error| about_the_search(&failed(&error)))?;
        match response.status().as_u16() {
            401 | 403 if self.engine == SearchEngine::Searxng => {
                return Err(ToolError::Failed("the search refused to answer; json has to be among search.formats of its settings".into()));
            }
            401 | 403 => return Err(ToolError::Failed("the search refused its key; the operator has to look at it".into())),
            402 | 429 | 432 | 433 => {
                return Err(ToolError::Failed("the search takes no more queries for now; work with what was found".into()));
            }
            _ => check_status(response.status()).map_err(|error| about_the_search(&error))?,
        }
        let answer: Option<Value> = serde_json::from_slice(&read(response).await?).ok();
        let hits = answer.and_then(|answer| self.parse(&answer));
        let hits = hits.ok_or_else(|| ToolError::Failed("the search answered with something that is no list of results".into()))?;
        Ok(hits.iter().filter_map(clean).take(MOST_HITS).collect())
    }
}

/// The most characters of a query in a line.
const DOING: usize = 60;

#[async_trait]
impl Tool for WebSearch {
    fn name(&self) -> &'static str {
        "web_search"
    }

    fn description(&self) -> String {
        format!(
            "Searches the web: at most {MOST_HITS} results with title, address and a few words. Read those that matter with fetch_page."
        )
    }

    fn asked_by(&self) -> &'static str {
        "internet online google look up news research recent Suche Internet Netz recherchieren Neuigkeiten cherche recherche busca noticias"
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 1, "maxLength": QUERY, "description": "A few words, as one types them into a search."},
            },
            "required": ["query"],
            "additionalProperties": false,
        })
    }

    /// Only the configured engine sees the query.
    fn risk(&self, _: &Value, _: &ToolContext<'_>) -> Risk {
        Risk::Read
    }

    fn describe_doing(&self, arguments: &Value) -> Option<String> {
        Some(format!("Searching the web for {}", Medium::Chat.line_within(arguments["query"].as_str()?, DOING)))
    }

    async fn call(&self, arguments: &Value, _: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let hits = self.find(arguments["query"].as_str().unwrap_or_default()).await?;
        let urls = hits.iter().map(|hit| hit.url.clone()).collect();
        Ok(ToolOutput { text: render(&hits), outside: true, trace: Some(Trace::Found { urls }) })
    }
}

async fn read(mut response: Response) -> Result<Vec<u8>, ToolError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| ToolError::Failed("the answer of the search broke off".into()))? {
        if bytes.len() + chunk.len() > MOST_BYTES {
            return Err(ToolError::Failed("the answer of the search is too long".into()));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Rewords the error, because "it answered 500" would sound like a result page.
fn about_the_search(error: &ToolError) -> ToolError {
    ToolError::Failed(format!("the search failed: {error}"))
}

/// Text at `field`, or empty.
fn text_of(result: &Value, field: &str) -> String {
    result[field].as_str().unwrap_or_default().to_owned()
}

/// None if it has no web address.
fn clean(hit: &Hit) -> Option<Hit> {
    let line = |text: &str, most: usize| {
        let visible = without_invisible(&text.split_whitespace().collect::<Vec<_>>().join(" "));
        visible.chars().take(most).collect::<String>()
    };
    Some(Hit { url: normalize(&hit.url)?, title: line(&hit.title, TITLE), snippet: line(&hit.snippet, SNIPPET) })
}

fn render(hits: &[Hit]) -> String {
    if hits.is_empty() {
        return "Nothing was found.".into();
    }
    hits.iter().enumerate().fold(String::new(), |mut text, (at, Hit { title, url, snippet })| {
        writeln!(text, "{}. {title}\n   {url}\n   {snippet}", at + 1).expect("a String takes everything");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(title: &str, url: &str, snippet: &str) -> Hit {
        Hit { title: title.into(), url: url.into(), snippet: snippet.into() }
    }

    #[test]
    fn results_of_each_engine_are_read() {
        let expected = Some(vec![hit("A", "https://a.org/", "about a")]);
        assert_eq!(
            brave::parse(&json!({"web": {"results": [{"title": "A", "url": "https://a.org/", "description": "about a", "age": "1d"}]}})),
            expected
        );
        assert_eq!(
            tavily::parse(&json!({"results": [{"title": "A", "url": "https://a.org/", "content": "about a", "score": 0.9}]})),
            expected
        );
        assert_eq!(searxng::parse(&json!({"results": [{"title": "A", "url": "https://a.org/", "content": "about a"}]})), expected);
        // Brave leaves out the part if nothing was found.
        assert_eq!(brave::parse(&json!({"type": "search", "query": {}})), Some(vec![]));
        for garbage in [json!([]), json!({"error": "x"}), json!({"results": 3}), json!({"web": []})] {
            assert_eq!((brave::parse(&garbage), tavily::parse(&garbage), searxng::parse(&garbage)), (None, None, None), "{garbage}");
        }
    }

    #[test]
    fn a_result_is_three_clean_lines_and_leads_to_a_page() {
        let cleaned = clean(&hit("A\n\u{202E}B", "HTTPS://A.org#x", &"word\n".repeat(200))).unwrap();
        assert_eq!((cleaned.title.as_str(), cleaned.url.as_str(), cleaned.snippet.chars().count()), ("A B", "https://a.org/", 500));
        assert_eq!(clean(&hit("A", "javascript:alert(1)", "")), None);
        assert_eq!(render(&[hit("A", "https://a.org/", "about a")]), "1. A\n   https://a.org/\n   about a\n");
        assert_eq!(render(&[]), "Nothing was found.");
    }
}
