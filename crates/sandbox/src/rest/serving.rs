//! From the HTTP request to a handler and back.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body as HttpBody;
use axum::extract::{ConnectInfo, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use local_server::CutSwitch;
use serde_json::{Value, json};

use super::body::{Body, read_bytes};
use super::errors::ApiError;
use super::{ApiResult, Reply, RequestContext, routes};
use crate::faults::RestFault;
use crate::journal::{Exchange, RestExchange};
use crate::limits::{Quota, RateDecision};
use crate::server::Server;
use crate::snowflake::Snowflake;
use crate::state::Account;

/// A response before it is written.
struct ResponseParts {
    /// 0 if a fault leaves the request without a response.
    status: u16,
    content: Content,
    headers: Vec<(&'static str, String)>,
}

enum Content {
    Nothing,
    Json(Value),
    Html(&'static str),
}

pub(crate) async fn serve(State(server): State<Arc<Server>>, ConnectInfo(wire): ConnectInfo<CutSwitch>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let path = api_path(parts.uri.path());
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let caller = authenticate(&server, &parts);
    let slug = caller.as_ref().and_then(|account| account.slug.as_deref());
    let fault = server.faults.take_rest_fault(slug, parts.method.as_str(), &format!("/{}", path.join("/")));
    let body = match read_bytes(body).await {
        Ok(bytes) => Body::read(&parts, bytes).await,
        Err(error) => Err(error),
    };
    let asked = body.as_ref().ok().filter(|_| server.journal.is_on()).map(|body| body.json.clone());
    let mut response = match fault.and_then(replacement) {
        Some(replaced) => replaced,
        None if server.limits().is_banned() => ResponseParts::html(429, "<html><body><h1>Too many invalid requests</h1></body></html>"),
        None => limited(&server, caller.as_ref(), &parts.method, &path, || answer(&server, caller.clone(), &parts, &path, body)),
    };
    if fault == Some(RestFault::GarbageHeaders) {
        spoil_headers(&mut response);
    }
    if matches!(response.status, 401 | 403 | 429) {
        server.limits().count_invalid();
    }
    if server.journal.is_on() {
        server.journal.keep(|| Exchange::Rest(record(&parts, asked.unwrap_or_default(), &response)));
    }
    match fault {
        Some(RestFault::ResetBefore | RestFault::ResetAfter) => wire.reset(),
        Some(RestFault::Hang) => server.stop.cancelled().await,
        _ => {}
    }
    write(response)
}

/// The parts of the path behind `/api` and the version, decoded.
fn api_path(path: &str) -> Vec<String> {
    let path = path.strip_prefix("/api").unwrap_or(path);
    let path = ["/v10", "/v9"].iter().find_map(|version| path.strip_prefix(version)).unwrap_or(path);
    path.split('/').filter(|part| !part.is_empty()).map(percent_decode).collect()
}

fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let decoded = match (first, tail) {
            (b'%', [high, low, ..]) => std::str::from_utf8(&[*high, *low]).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok()),
            _ => None,
        };
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The account of the token: `Bot …` for bots, without prefix for people, as user clients send it.
fn authenticate(server: &Server, parts: &Parts) -> Option<Account> {
    let header = parts.headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (token, says_bot) = match header.strip_prefix("Bot ") {
        Some(token) => (token, true),
        None => (header, false),
    };
    let core = server.core();
    core.world.accounts.find_by_token(token).filter(|account| account.is_bot() == says_bot).cloned()
}

fn answer(server: &Arc<Server>, caller: Option<Account>, parts: &Parts, path: &[&str], body: Result<Body, ApiError>) -> ApiResult {
    let query = Query::<HashMap<String, String>>::try_from_uri(&parts.uri).map(|query| query.0).unwrap_or_default();
    let mut call = RequestContext { server, core: server.core(), caller, query, body: body? };
    let answered = routes::route(&mut call, &parts.method, path);
    call.core.flush();
    answered
}

/// Runs the request unless the caller has no quota left. Adds the rate-limit headers in both cases.
fn limited(server: &Server, caller: Option<&Account>, method: &Method, path: &[&str], answer: impl FnOnce() -> ApiResult) -> ResponseParts {
    let by_token = matches!(path, ["webhooks", _, _, ..]);
    let counted = match caller {
        // Interactions get no rate-limit headers either, because hikari complains about them.
        _ if path.first() == Some(&"interactions") => None,
        // A request with a webhook's token has no caller, so it is counted by the webhook's id.
        Some(account) => account.is_bot().then_some(account.id),
        None => path.get(1).filter(|_| by_token).and_then(|id| id.parse::<Snowflake>().ok()),
    };
    let decision = match counted {
        Some(id) => server.limits().count(id, routes::rate_route(method, path), !by_token),
        None => RateDecision::Unlimited,
    };
    match decision {
        RateDecision::Unlimited => ResponseParts::of(answer()),
        RateDecision::Pass(quota) => {
            let mut response = ResponseParts::of(answer());
            response.headers.extend(quota.headers());
            response
        }
        RateDecision::Limited { quota, global } => too_many(Some(&quota), quota.reset_after, global),
    }
}

fn too_many(quota: Option<&Quota>, retry_after: Duration, global: bool) -> ResponseParts {
    let seconds = retry_after.as_secs_f64();
    let json = json!({
        "message": "You are being rate limited.", "retry_after": (seconds * 1000.0).ceil() / 1000.0, "global": global,
        "code": 0,
    });
    let mut headers = vec![("retry-after", format!("{}", seconds.ceil()))];
    headers.push(("x-ratelimit-scope", if global { "global" } else { "user" }.to_owned()));
    if global {
        headers.push(("x-ratelimit-global", "true".to_owned()));
    } else if let Some(quota) = quota {
        headers.extend(quota.headers());
    }
    ResponseParts { status: 429, content: Content::Json(json), headers }
}

/// The response of a fault, or `None` if the request is run anyway.
fn replacement(fault: RestFault) -> Option<ResponseParts> {
    Some(match fault {
        RestFault::ResetAfter | RestFault::GarbageHeaders => return None,
        RestFault::ResetBefore | RestFault::Hang => ResponseParts { status: 0, content: Content::Nothing, headers: Vec::new() },
        RestFault::BadGateway => ResponseParts::html(502, "<html><body><h1>502 Bad Gateway</h1></body></html>"),
        RestFault::RateLimited { retry_after, headers, global } => {
            let mut response = too_many(None, Duration::try_from_secs_f64(retry_after).unwrap_or_default(), global);
            if !headers {
                response.headers.clear();
            }
            response
        }
        RestFault::Status(status) => {
            let reason = StatusCode::from_u16(status).ok().and_then(|code| code.canonical_reason()).unwrap_or("Error");
            ResponseParts::error(&ApiError::new(status, 0, &format!("{status}: {reason}")))
        }
    })
}

fn spoil_headers(response: &mut ResponseParts) {
    response.headers.retain(|(name, _)| !name.starts_with("x-ratelimit"));
    let spoilt = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-reset-after"];
    response.headers.extend(spoilt.map(|name| (name, "NaN?".to_owned())));
}

impl ResponseParts {
    fn of(answered: ApiResult) -> Self {
        match answered {
            Ok(Reply::Json(status, json)) => Self { status, content: Content::Json(json), headers: Vec::new() },
            Ok(Reply::Empty) => Self { status: 204, content: Content::Nothing, headers: Vec::new() },
            Err(error) => Self::error(&error),
        }
    }

    fn error(error: &ApiError) -> Self {
        Self { status: error.status, content: Content::Json(error.body()), headers: Vec::new() }
    }

    fn html(status: u16, page: &'static str) -> Self {
        Self { status, content: Content::Html(page), headers: Vec::new() }
    }
}

fn write(parts: ResponseParts) -> Response {
    let (content_type, body) = match parts.content {
        Content::Nothing => (None, HttpBody::empty()),
        // Without a charset: discord.py reads any other value as text.
        Content::Json(json) => (Some("application/json"), HttpBody::from(json.to_string())),
        Content::Html(page) => (Some("text/html; charset=UTF-8"), HttpBody::from(page)),
    };
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(parts.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    if let Some(content_type) = content_type {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    for (name, value) in parts.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    response
}

fn record(parts: &Parts, request: Value, response: &ResponseParts) -> RestExchange {
    RestExchange {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().unwrap_or_default().to_owned(),
        request,
        status: response.status,
        headers: response.headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
        response: if let Content::Json(json) = &response.content { json.clone() } else { Value::Null },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_version_and_their_encoding() {
        assert_eq!(api_path("/api/v10/channels/1"), ["channels", "1"]);
        assert_eq!(api_path("/api/v9/gateway"), ["gateway"]);
        assert_eq!(api_path("/api/webhooks/1/t"), ["webhooks", "1", "t"]);
        assert_eq!(api_path("/api/v10/x/%F0%9F%91%8D/%40me"), ["x", "👍", "@me"]);
        assert_eq!(api_path("/api/v10/100%/%zz"), ["100%", "%zz"]);
    }
}
