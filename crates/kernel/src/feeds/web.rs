use std::error::Error;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, RequestBuilder, Response, Url};

use crate::feeds::FeedError;
use crate::network;

/// The most redirects.
const REDIRECTS: usize = 3;
const CONNECT: Duration = Duration::from_secs(5);

/// The HTTP client of feeds. Cheap to clone.
///
/// Private addresses are allowed, because the operator wrote them (FEED-1). Redirects are not the operator's choice, so they may not lead
/// to another host.
#[derive(Clone)]
pub struct Web {
    client: Client,
}

impl Web {
    /// # Errors
    /// TLS or DNS cannot be set up.
    pub fn new() -> reqwest::Result<Self> {
        let agent = concat!("teamroom/", env!("CARGO_PKG_VERSION"));
        let client = network::client().connect_timeout(CONNECT).user_agent(agent).redirect(Policy::custom(follow)).build()?;
        Ok(Self { client })
    }

    /// Fetches `url`. More than `most` bytes is an error. The caller limits the time.
    pub async fn get(&self, url: &Url, accept: &str, most: usize) -> Result<Page, FeedError> {
        let response = check_status(self.send(self.client.get(url.clone()).header(ACCEPT, accept)).await?)?;
        let content_type = header(&response, &CONTENT_TYPE).unwrap_or_default();
        let bytes = Self::read(response, most).await?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(FeedError::Failed("its answer is empty".into()));
        }
        Ok(Page { content_type, bytes })
    }

    /// A GET request, to be completed and sent with [`Self::send`].
    pub(super) fn request(&self, url: &str) -> RequestBuilder {
        self.client.get(url)
    }

    /// The response, whatever its status is.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Response, FeedError> {
        request.send().await.map_err(|error| failed(&error))
    }

    /// The body. More than `most` bytes is an error.
    pub(super) async fn read(mut response: Response, most: usize) -> Result<Vec<u8>, FeedError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|_| FeedError::Failed("its answer was cut off".into()))? {
            if bytes.len() + chunk.len() > most {
                return Err(FeedError::Failed(format!("its answer is longer than {} MiB", most >> 20)));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

pub struct Page {
    /// Empty if the server did not send it.
    content_type: String,
    pub bytes: Vec<u8>,
}

impl Page {
    /// An error that says which format was found instead of `wanted`.
    pub fn is_no(&self, wanted: &str, reason: &dyn std::fmt::Display) -> FeedError {
        let kind = if self.content_type.is_empty() { "of unknown type" } else { &self.content_type };
        let begins = self.bytes.trim_ascii_start();
        let is_html =
            [&b"<!doctype html"[..], b"<html"].iter().any(|tag| begins.len() >= tag.len() && begins[..tag.len()].eq_ignore_ascii_case(tag));
        FeedError::Failed(if is_html || self.content_type.starts_with("text/html") {
            format!("it returned a web page ({kind}) instead of {wanted}")
        } else {
            format!("its answer ({kind}) is not {wanted}: {reason}")
        })
    }
}

/// An address for display: without credentials and query, which may contain a key.
pub(super) fn render_address(url: &Url) -> String {
    let port = url.port().map_or(String::new(), |port| format!(":{port}"));
    format!("{}{port}{}", url.host_str().unwrap_or_default(), url.path().trim_end_matches('/'))
}

fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let on_one_host = attempt.previous().first().is_some_and(|first| first.host_str() == attempt.url().host_str());
    if on_one_host && attempt.previous().len() <= REDIRECTS { attempt.follow() } else { attempt.stop() }
}

fn check_status(response: Response) -> Result<Response, FeedError> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    // A redirect that was not followed is returned as it is.
    let target = header(&response, &LOCATION).and_then(|target| response.url().join(&target).ok()).filter(|_| status.is_redirection());
    Err(FeedError::Failed(match target {
        Some(target) if target.host_str() == response.url().host_str() => format!("it redirected more than {REDIRECTS} times"),
        Some(target) => format!("it redirects to another host, {}. If that is right, use that address", render_address(&target)),
        None => format!("it answered {status}"),
    }))
}

fn header(response: &Response, name: &reqwest::header::HeaderName) -> Option<String> {
    response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).chars().take(1000).collect())
}

/// The innermost cause is the most useful: `connection refused`. The address is left out, because it may contain a key.
fn failed(error: &reqwest::Error) -> FeedError {
    let mut cause: &dyn Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    // An error without a cause is the outermost one, whose text contains the address.
    let reason = if cause.downcast_ref::<reqwest::Error>().is_some() { "the request failed".to_owned() } else { cause.to_string() };
    FeedError::Failed(format!("cannot connect: {reason}"))
}
