use secrecy::ExposeSecret as _;

use kernel::config::Setting as _;
use reqwest::Url;

use super::{loaded, refused};
use kernel::tools::settings::*;

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
        ["teamroom.toml:1: tools.search_url: is missing. Give the address of your SearXNG instance, such as \"http://127.0.0.1:8888\""]
    );
    assert_eq!(
        refused("[tools]\nsearch = \"tavily\"\n", &[("BRAVE_API_KEY", "x")]),
        ["environment or .env: TAVILY_API_KEY: is missing. tools.search = \"tavily\" needs a key"]
    );
    assert_eq!(
        refused("[tools]\nsearch = \"google\"\nsearch_url = \"ftp://x\"\n", &[]),
        [
            "teamroom.toml:2: tools.search: \"google\" is not allowed. Give \"brave\", \"tavily\", \"searxng\", or \"none\"",
            "teamroom.toml:3: tools.search_url: \"ftp://x\" is not allowed. Give an address that begins with http:// or https://, \
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
    assert!(host("example.org:80").matches(&url("http://example.org/")) && !host("example.org:80").matches(&url("https://example.org/")));
    assert!(host("[::1]:9000").matches(&url("http://[::1]:9000/")) && host("[::1]").matches(&url("http://[::1]:9000/")));
    for wrong in ["http://x", "x/y", "x:y", "user@x", "x?y", "x#y", "", ":80", "x:99999", "a b"] {
        assert_eq!(ListedHost::parse(wrong), None, "{wrong}");
    }
    assert_eq!(host("127.0.0.1:80").render(), "\"127.0.0.1:80\"");
}
