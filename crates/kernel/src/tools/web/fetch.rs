use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Response, StatusCode, Url};

use crate::network;
use crate::tools::ToolError;
use crate::tools::web::ssrf_guard::{CheckedAddresses, Reach, SsrfGuard};

/// The most redirects (TOOL-3).
const REDIRECTS: usize = 5;
/// The largest response (TOOL-3).
const MOST_BYTES: usize = 4 << 20;
const CONNECT: Duration = Duration::from_secs(5);
const AGENT: &str = concat!("teamroom/", env!("CARGO_PKG_VERSION"));

/// A fetched response.
pub(super) struct Fetched {
    /// The final address after redirects.
    pub from: Url,
    /// In lower case. Empty if the server did not send it.
    pub content_type: String,
    pub bytes: Vec<u8>,
}

/// Fetches an address, and checks it with the SSRF guard at every redirect. Uses no cookies and no credentials. The toolbox limits the total time.
///
/// # Errors
/// A sentence for the model without text from the server.
pub(super) async fn fetch(ssrf_guard: &SsrfGuard, url: &Url, reach: Reach, accept: &'static str) -> Result<Fetched, ToolError> {
    let mut response = send(ssrf_guard.admit(url, reach).await?, url, accept).await?;
    for _ in 0..REDIRECTS {
        let Some(target) = find_target(&response)? else { return read(response).await };
        let way = ssrf_guard.admit(&target, reach).await.map_err(|error| match error {
            ToolError::Refused(why) => ToolError::Refused(format!("it sends on to another address, and {why}")),
            ToolError::Failed(why) => ToolError::Failed(format!("it sends on to another address, and {why}")),
        })?;
        response = send(way, &target, accept).await?;
    }
    match find_target(&response)? {
        Some(_) => Err(ToolError::Failed(format!("it sends on more than {REDIRECTS} times"))),
        None => read(response).await,
    }
}

/// Each request has its own client, bound to the checked addresses. A shared client would reuse names and connections. A proxy connects itself, so its
/// own name is resolved as usual.
async fn send(way: CheckedAddresses, url: &Url, accept: &'static str) -> Result<Response, ToolError> {
    let client = network::client().redirect(Policy::none()).connect_timeout(CONNECT).user_agent(AGENT);
    let client = match network::find_proxy(url) {
        Some(_) => client,
        None => client.dns_resolver(Arc::new(way)),
    };
    let client = client.build().map_err(|error| failed(&error))?;
    client.get(url.clone()).header(ACCEPT, accept).send().await.map_err(|error| failed(&error))
}

/// The redirect target, if any.
fn find_target(response: &Response) -> Result<Option<Url>, ToolError> {
    let sends_on = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    match header(response.headers(), &LOCATION).filter(|_| sends_on) {
        None => Ok(None),
        Some(target) => match response.url().join(&target) {
            Ok(url) => Ok(Some(url)),
            Err(_) => Err(ToolError::Failed("it sends on to something that is no address".into())),
        },
    }
}

async fn read(mut response: Response) -> Result<Fetched, ToolError> {
    check_status(response.status())?;
    let too_long = || ToolError::Failed(format!("it is longer than {} MiB", MOST_BYTES >> 20));
    if response.content_length().is_some_and(|length| length > MOST_BYTES as u64) {
        return Err(too_long());
    }
    let content_type = header(response.headers(), &CONTENT_TYPE).unwrap_or_default().to_lowercase();
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|_| ToolError::Failed("the answer broke off".into()))? {
        if bytes.len() + chunk.len() > MOST_BYTES {
            return Err(too_long());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Fetched { from: response.url().clone(), content_type, bytes })
}

pub(super) fn check_status(status: StatusCode) -> Result<(), ToolError> {
    if status.is_success() { Ok(()) } else { Err(ToolError::Failed(format!("it answered {status}"))) }
}

fn header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// The innermost cause is the most useful: `connection refused`. Contains no text from the server.
pub(super) fn failed(error: &reqwest::Error) -> ToolError {
    let mut cause: &dyn Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    // An error without a cause is the outermost one, whose text contains the address.
    let reason = if cause.downcast_ref::<reqwest::Error>().is_some() { "the request failed".to_owned() } else { cause.to_string() };
    ToolError::Failed(format!("cannot connect: {reason}"))
}
