use std::fmt;

use reqwest::Url;
use secrecy::SecretString;

use crate::config::{Section, Setting as _, choice, setting, settings};
use crate::llm::settings::is_web_address;

settings! {
    /// `[tools]`: what personas may access with their tools.
    #[derive(Debug, Clone)]
    pub struct ToolSettings {
        /// None: no web search.
        search: Option<SearchSettings> = None, by read_search;
        hosts: Vec<ListedHost> = Vec::new(),
            "Hosts that may be fetched without approval, including inside your network, as host or host:port. Do not list hosts where a plain GET request changes something.";
    }
}

#[derive(Debug, Clone)]
pub struct SearchSettings {
    pub engine: SearchEngine,
    /// The address of the API, or of the `SearXNG` instance.
    pub url: String,
    /// Not needed for `SearXNG`.
    pub key: Option<SecretString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchEngine {
    Brave,
    Tavily,
    Searxng,
}

choice!(SearchEngine { "brave" => Self::Brave, "tavily" => Self::Tavily, "searxng" => Self::Searxng });

/// A host allowed by the operator, on one port or all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedHost {
    /// Normalised: lower case, an IPv6 address in brackets.
    host: String,
    port: Option<u16>,
}

impl ListedHost {
    /// Parses `host` or `host:port`.
    pub fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(&format!("http://{text}/")).ok()?;
        let host = url.host_str()?.to_owned();
        // Anything left in the URL means that there was more than a host. The parser drops port 80.
        let (_, port) = text.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')).unzip();
        let port = port.map(str::parse::<u16>).transpose().ok()?;
        let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none() && !text.contains(['@', '/', '?', '#']);
        bare.then_some(Self { host, port })
    }

    pub fn matches(&self, url: &Url) -> bool {
        url.host_str() == Some(&self.host) && self.port.is_none_or(|port| url.port_or_known_default() == Some(port))
    }
}

impl fmt::Display for ListedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

setting! {
    ListedHost: "a host such as \"status.example.org\" or \"127.0.0.1:8080\"",
        |given| String::parse(given).as_deref().and_then(Self::parse), |host| format!("\"{host}\"");
}

impl SearchEngine {
    /// The default address.
    fn default_url(self) -> Option<&'static str> {
        match self {
            Self::Brave => Some("https://api.search.brave.com/res/v1/web/search"),
            Self::Tavily => Some("https://api.tavily.com/search"),
            Self::Searxng => None,
        }
    }

    fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::Brave => Some("BRAVE_API_KEY"),
            Self::Tavily => Some("TAVILY_API_KEY"),
            Self::Searxng => None,
        }
    }
}

fn read_search(section: &mut Section<'_>) -> Option<SearchSettings> {
    let engine: Option<SearchEngine> = section.read("search", None, "The web search engine. Brave and Tavily need a key.");
    let url = section.read_where(
        "search_url",
        None,
        "an address that begins with http:// or https://, without user and password, or \"none\"",
        "Address of the search engine, if not the default. SearXNG has no default.",
        |url: &Option<String>| url.as_ref().is_none_or(|url| is_web_address(url, &["http", "https"])),
    );
    let keys = [
        (SearchEngine::Brave, section.secret("BRAVE_API_KEY", "API key of the web search, for search = \"brave\".")),
        (SearchEngine::Tavily, section.secret("TAVILY_API_KEY", "API key of the web search, for search = \"tavily\".")),
    ];
    let engine = engine?;
    let key = keys.into_iter().find(|(of, _)| *of == engine).and_then(|(_, key)| key);
    let url = url.or_else(|| engine.default_url().map(str::to_owned));
    if url.is_none() {
        section.refuse("search_url", "is missing. Give the address of your SearXNG instance, such as \"http://127.0.0.1:8888\"");
    }
    if let Some(variable) = engine.key_variable().filter(|_| key.is_none()) {
        section.refuse_variable(variable, format!("is missing. tools.search = {} needs a key", engine.render()));
    }
    Some(SearchSettings { engine, url: url?, key })
}
