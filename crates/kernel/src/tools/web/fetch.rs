use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, StatusCode, Url};

use crate::tools::ToolError;
use crate::tools::web::door::{Door, Reach, Way};

/// How often an answer may send us on (TOOL-3).
const REDIRECTS: usize = 5;
/// The longest answer that is read (TOOL-3).
const MOST_BYTES: usize = 4 << 20;
const CONNECT: Duration = Duration::from_secs(5);
const AGENT: &str = concat!("teamroom/", env!("CARGO_PKG_VERSION"));

/// What stood at an address.
pub(super) struct Fetched {
    /// Where it came from in the end.
    pub from: Url,
    /// As it came, in lower case; empty where nothing was said.
    pub content_type: String,
    pub bytes: Vec<u8>,
}

/// Reads what stands at an address, through the door at every hop. Without cookies, credentials or a proxy: a proxy would look names up by
/// itself. How long it may take in all is the toolbox's business.
///
/// # Errors
/// A sentence for the model in which there is no word of the other side.
pub(super) async fn fetch(door: &Door, url: &Url, reach: Reach, accept: &'static str) -> Result<Fetched, ToolError> {
    let mut response = send(door.admit(url, reach).await?, url, accept).await?;
    for _ in 0..REDIRECTS {
        let Some(target) = find_target(&response)? else { return read(response).await };
        let way = door.admit(&target, reach).await.map_err(|error| match error {
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

/// Each request has a client of its own, which knows no other way than this one: a shared one would keep names and connections of before.
async fn send(way: Way, url: &Url, accept: &'static str) -> Result<Response, ToolError> {
    let client = Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .connect_timeout(CONNECT)
        .user_agent(AGENT)
        .dns_resolver(Arc::new(way))
        .build()
        .map_err(|error| failed(&error))?;
    client.get(url.clone()).header(ACCEPT, accept).send().await.map_err(|error| failed(&error))
}

/// Where the answer sends us, if it does.
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

/// The deepest cause says most: `connection refused`. What a server wrote is never part of it.
pub(super) fn failed(error: &reqwest::Error) -> ToolError {
    let mut cause: &dyn Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    // An error without a cause is the outermost one, which quotes the address.
    let reason = if cause.downcast_ref::<reqwest::Error>().is_some() { "the request failed".to_owned() } else { cause.to_string() };
    ToolError::Failed(format!("it could not be reached: {reason}"))
}
