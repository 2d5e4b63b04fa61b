use std::fmt;

use reqwest::Url;
use secrecy::SecretString;

use super::models::is_web_address;
use super::reader::{Given, Section, Setting, choice};

/// `[tools]`: what personas may reach with their tools.
#[derive(Debug, Clone, Default)]
pub struct ToolSettings {
    /// None: nobody searches the web.
    pub search: Option<SearchSettings>,
    /// Hosts that are read without asking a person, inside or outside.
    pub hosts: Vec<ListedHost>,
}

/// Who searches the web for the team.
#[derive(Debug, Clone)]
pub struct SearchSettings {
    pub engine: SearchEngine,
    /// Of the engine's API; for `SearXNG` the address of the instance.
    pub url: String,
    /// `SearXNG` needs none.
    pub key: Option<SecretString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchEngine {
    Brave,
    Tavily,
    Searxng,
}

choice!(SearchEngine { "brave" => Self::Brave, "tavily" => Self::Tavily, "searxng" => Self::Searxng });

/// A host of the operator's choice, on one port or on all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedHost {
    /// As addresses are normalised: in lower case, an IPv6 address in brackets.
    host: String,
    port: Option<u16>,
}

impl ListedHost {
    /// `host` or `host:port`; nothing else of an address.
    pub fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(&format!("http://{text}/")).ok()?;
        let host = url.host_str()?.to_owned();
        // What is left of the address shows whether there was more than a host. The port 80 is dropped by the parser.
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

impl Setting for ListedHost {
    fn allowed() -> String {
        "a host such as \"status.example.org\" or \"127.0.0.1:8080\"".into()
    }

    fn parse(given: &Given) -> Option<Self> {
        String::parse(given).as_deref().and_then(Self::parse)
    }

    fn render(&self) -> String {
        format!("\"{self}\"")
    }
}

impl SearchEngine {
    /// Where it is asked unless the operator says otherwise.
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

impl ToolSettings {
    pub(super) fn read(section: &mut Section<'_>) -> Self {
        let engine = section.read("search", None, "Who searches the web for the personas that may; Brave and Tavily need a key.");
        let url = section.read_where(
            "search_url",
            None,
            "an address that begins with http:// or https://, without user and password, or \"none\"",
            "Where the search is asked, if not at its usual address; SearXNG has none.",
            |url: &Option<String>| url.as_ref().is_none_or(|url| is_web_address(url, &["http", "https"])),
        );
        let hosts = section.read(
            "hosts",
            Vec::new(),
            "Hosts that personas may read from without asking, also inside your network, as host or host:port. List none that does things when read.",
        );
        let keys = [
            (SearchEngine::Brave, section.secret("BRAVE_API_KEY", "The key of the web search, for search = \"brave\".")),
            (SearchEngine::Tavily, section.secret("TAVILY_API_KEY", "The key of the web search, for search = \"tavily\".")),
        ];
        let search = engine.and_then(|engine: SearchEngine| {
            let key = keys.into_iter().find(|(of, _)| *of == engine).and_then(|(_, key)| key);
            let url = url.or_else(|| engine.default_url().map(str::to_owned));
            if url.is_none() {
                section.refuse("search_url", "is missing; give the address of your SearXNG instance, such as \"http://127.0.0.1:8888\"");
            }
            if let Some(variable) = engine.key_variable().filter(|_| key.is_none()) {
                section.refuse_variable(variable, format!("is missing; tools.search = {} needs a key", engine.render()));
            }
            Some(SearchSettings { engine, url: url?, key })
        });
        Self { search, hosts }
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::super::tests::{loaded, refused};
    use super::*;

    #[test]
    fn by_default_nobody_searches_and_no_host_is_listed() {
        let tools = loaded("", &[]).tools;
        assert!(tools.search.is_none() && tools.hosts.is_empty());
    }

    #[test]
    fn a_search_has_its_usual_address_and_its_key_is_a_secret() {
        let config = loaded("[tools]\nsearch = \"brave\"\n", &[("BRAVE_API_KEY", "hunter2")]);
        let search = config.tools.search.as_ref().unwrap();
        assert_eq!((search.engine, search.url.as_str()), (SearchEngine::Brave, "https://api.search.brave.com/res/v1/web/search"));
        assert!(config.list_secrets().iter().any(|secret| secret.expose_secret() == "hunter2"));
        assert!(!format!("{config:?}").contains("hunter2"));

        let config = loaded("[tools]\nsearch = \"searxng\"\nsearch_url = \"http://127.0.0.1:8888\"\n", &[("TAVILY_API_KEY", "unused")]);
        let search = config.tools.search.unwrap();
        assert_eq!((search.url.as_str(), search.key.is_none()), ("http://127.0.0.1:8888", true));
    }

    #[test]
    fn a_search_that_cannot_work_is_refused() {
        assert_eq!(
            refused("[tools]\nsearch = \"searxng\"\n", &[]),
            ["teamroom.toml:1: tools.search_url: is missing; give the address of your SearXNG instance, such as \"http://127.0.0.1:8888\""]
        );
        assert_eq!(
            refused("[tools]\nsearch = \"tavily\"\n", &[("BRAVE_API_KEY", "x")]),
            ["environment or .env: TAVILY_API_KEY: is missing; tools.search = \"tavily\" needs a key"]
        );
        assert_eq!(
            refused("[tools]\nsearch = \"google\"\nsearch_url = \"ftp://x\"\n", &[]),
            [
                "teamroom.toml:2: tools.search: \"google\" is not allowed; give \"brave\", \"tavily\", \"searxng\", or \"none\"",
                "teamroom.toml:3: tools.search_url: \"ftp://x\" is not allowed; give an address that begins with http:// or https://, \
                 without user and password, or \"none\"",
            ]
        );
    }

    #[test]
    fn a_listed_host_is_met_on_its_port_alone() {
        let url = |text: &str| Url::parse(text).unwrap();
        let host = |text: &str| ListedHost::parse(text).unwrap();
        assert!(host("Status.example.org").matches(&url("https://status.EXAMPLE.org:444/x?y")));
        assert!(!host("example.org").matches(&url("https://status.example.org/")));
        assert!(!host("status.example.org").matches(&url("https://status.example.org.evil.net/")));
        assert!(host("127.0.0.1:8080").matches(&url("http://127.1:8080/")));
        assert!(!host("127.0.0.1:8080").matches(&url("http://127.0.0.1/")));
        assert!(
            host("example.org:80").matches(&url("http://example.org/")) && !host("example.org:80").matches(&url("https://example.org/"))
        );
        assert!(host("[::1]:9000").matches(&url("http://[::1]:9000/")) && host("[::1]").matches(&url("http://[::1]:9000/")));
        for wrong in ["http://x", "x/y", "x:y", "user@x", "x?y", "x#y", "", ":80", "x:99999", "a b"] {
            assert_eq!(ListedHost::parse(wrong), None, "{wrong}");
        }
        assert_eq!(host("127.0.0.1:80").render(), "\"127.0.0.1:80\"");
    }
}
