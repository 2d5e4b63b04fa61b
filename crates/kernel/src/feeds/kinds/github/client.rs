//! Requests to GitHub: conditional by `ETag`, and none while GitHub asks for a pause.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use chrono::{DateTime, TimeDelta, Utc};
use reqwest::header::{ACCEPT, ETAG, HeaderMap, IF_NONE_MATCH, LINK, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;

use crate::feeds::web::Web;
use crate::feeds::{FeedError, FeedSources};

const MOST_BYTES: usize = 8 << 20;

/// The most answers that are kept for conditional requests. Unchanged answers do not count against the rate limit.
const KEPT: usize = 64;

/// The pause if GitHub does not say how long it lasts.
const PAUSE: TimeDelta = TimeDelta::minutes(1);

pub(super) struct Client {
    web: Web,
    /// Without a slash at the end.
    base: String,
    token: Option<SecretString>,
    kept: Mutex<HashMap<String, Kept>>,
    /// Until then GitHub takes no requests.
    paused_until: Mutex<Option<DateTime<Utc>>>,
}

#[derive(Clone)]
struct Kept {
    etag: String,
    page: Page,
}

/// An answer.
#[derive(Clone)]
pub(super) struct Page {
    bytes: Arc<[u8]>,
    pub(super) has_next: bool,
}

impl Page {
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, FeedError> {
        serde_json::from_slice(&self.bytes)
            .map_err(|error| FeedError::Failed(format!("GitHub answered with something else than expected: {error}")))
    }
}

impl Client {
    pub(super) fn new(sources: &FeedSources) -> Self {
        let services = &sources.services;
        Self {
            web: sources.web.clone(),
            base: services.github_url.trim_end_matches('/').to_owned(),
            token: services.github_token.clone(),
            kept: Mutex::default(),
            paused_until: Mutex::default(),
        }
    }

    /// Fetches a path of a repository.
    pub(super) async fn get(&self, repo: &str, path: &str, now: DateTime<Utc>) -> Result<Page, FeedError> {
        if let Some(until) = self.paused_until().filter(|until| *until > now) {
            return Err(too_many(until - now));
        }
        let url = format!("{}/repos/{repo}{path}", self.base);
        let kept = self.kept().get(&url).cloned();
        let mut request = self.web.request(&url).header(ACCEPT, "application/vnd.github+json").header("X-GitHub-Api-Version", "2022-11-28");
        if let Some(token) = &self.token {
            request = request.bearer_auth(token.expose_secret());
        }
        if let Some(kept) = &kept {
            request = request.header(IF_NONE_MATCH, &kept.etag);
        }
        let response = self.web.send(request).await?;
        let pause = find_pause(response.status(), response.headers(), now);
        if let Some(until) = pause {
            *self.paused_until() = Some(until);
        }
        match (response.status(), kept) {
            (StatusCode::NOT_MODIFIED, Some(kept)) => Ok(kept.page),
            (status, _) if status.is_success() => self.keep(url, response).await,
            (status, _) => Err(pause.map_or_else(|| self.explain(status, repo), |until| too_many(until - now))),
        }
    }

    async fn keep(&self, url: String, response: Response) -> Result<Page, FeedError> {
        let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok()).map(str::to_owned);
        let has_next = response.headers().get(LINK).and_then(|link| link.to_str().ok()).is_some_and(|link| link.contains("rel=\"next\""));
        let page = Page { bytes: Web::read(response, MOST_BYTES).await?.into(), has_next };
        let mut kept = self.kept();
        // The paths contain times and commits, so old paths are never requested again.
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.extend(etag.map(|etag| (url, Kept { etag, page: page.clone() })));
        drop(kept);
        Ok(page)
    }

    fn explain(&self, status: StatusCode, repo: &str) -> FeedError {
        let has_token = self.token.is_some();
        FeedError::Failed(match status {
            StatusCode::UNAUTHORIZED if has_token => "GitHub refused the token in GITHUB_TOKEN. Create a new one".to_owned(),
            StatusCode::UNAUTHORIZED => "GitHub wants a token. Set GITHUB_TOKEN".to_owned(),
            StatusCode::FORBIDDEN => format!("the token in GITHUB_TOKEN may not read this of {repo}. Give it read access"),
            StatusCode::NOT_FOUND if has_token => {
                format!("GitHub has no repository {repo}, or the token in GITHUB_TOKEN may not read it")
            }
            StatusCode::NOT_FOUND => format!("GitHub has no repository {repo}. If it is private, set GITHUB_TOKEN"),
            status => format!("GitHub answered {status}"),
        })
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        self.kept.lock().expect("no code panics while it holds this")
    }

    fn paused_until(&self) -> MutexGuard<'_, Option<DateTime<Utc>>> {
        self.paused_until.lock().expect("no code panics while it holds this")
    }
}

fn too_many(left: TimeDelta) -> FeedError {
    let minutes = (left.num_seconds() + 59) / 60;
    FeedError::Failed(format!("GitHub takes no more requests for {minutes} min, because its limit is reached"))
}

/// The end of the pause that GitHub wants, because its limit is used up or because it says so.
fn find_pause(status: StatusCode, headers: &HeaderMap, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let number = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).and_then(|value| value.trim().parse::<i64>().ok());
    let is_refused = matches!(status, StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS);
    if let Some(seconds) = number(RETRY_AFTER.as_str()).filter(|_| is_refused) {
        return Some(now + TimeDelta::seconds(seconds.clamp(1, 86_400)));
    }
    if number("x-ratelimit-remaining") == Some(0) {
        let reset = number("x-ratelimit-reset").and_then(|reset| DateTime::from_timestamp(reset, 0));
        return Some(reset.filter(|reset| *reset > now).unwrap_or(now + PAUSE).min(now + TimeDelta::days(1)));
    }
    (status == StatusCode::TOO_MANY_REQUESTS).then_some(now + PAUSE)
}
