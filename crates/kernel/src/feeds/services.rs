//! Services that feeds read with an account.

use std::sync::Arc;

use secrecy::SecretString;

use crate::config::{Section, settings};
use crate::llm::settings::is_web_address;
use crate::tools::web::WebSearch;

const GITHUB: &str = "https://api.github.com";

settings! {
    /// `[feeds]`: the services that feeds of some kinds read.
    #[derive(Debug, Clone)]
    pub struct FeedSettings {
        github_url: String = GITHUB.into(), only "an address that begins with http:// or https://",
            |url: &String| is_web_address(url, &["http", "https"]),
            "The REST API of GitHub. That of GitHub Enterprise ends with /api/v3.";
        github_token: Option<SecretString> = None, by read_token;
    }
}

fn read_token(section: &mut Section<'_>) -> Option<SecretString> {
    section.secret("GITHUB_TOKEN", "Token for feeds of kind github. A fine-grained one with read access to contents, pull requests, issues, checks and commit statuses is enough.")
}

/// What feeds that read a service with an account need.
#[derive(Clone)]
pub struct Services {
    pub github_url: String,
    pub github_token: Option<SecretString>,
    /// None if no search engine is configured.
    pub search: Option<Arc<WebSearch>>,
}

impl Services {
    pub fn new(settings: &FeedSettings, search: Option<Arc<WebSearch>>) -> Self {
        Self { github_url: settings.github_url.clone(), github_token: settings.github_token.clone(), search }
    }
}

impl Default for Services {
    fn default() -> Self {
        Self::new(&FeedSettings::default(), None)
    }
}
