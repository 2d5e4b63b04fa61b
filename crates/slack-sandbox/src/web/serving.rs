//! From the HTTP request to a method and back.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use local_server::CutSwitch;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::errors::ApiError;
use super::methods::{Method, Token, find_method};
use super::{Call, Outcome};
use crate::faults::ApiFault;
use crate::journal::{CallExchange, Exchange};
use crate::limits::Tier;
use crate::server::{Core, Server};
use crate::state::App;

/// Slack's own limit is not documented. Files go to an upload address instead.
const BODY_LIMIT: usize = 4 * 1024 * 1024;
const PAGE: &str = "<!DOCTYPE html><html><body><h1>Sign in to your workspace</h1></body></html>";

pub(crate) async fn serve(
    State(server): State<Arc<Server>>,
    ConnectInfo(wire): ConnectInfo<CutSwitch>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let method = find_method(&name);
    let arguments = match axum::body::to_bytes(body, BODY_LIMIT).await {
        Ok(bytes) => Arguments::read(&parts, bytes, method.is_none_or(|method| method.json)).await,
        Err(_) => Err(ApiError::new("request_timeout")),
    };
    let token = find_token(&parts.headers, arguments.as_ref().ok());
    let asked = arguments.as_ref().map(Arguments::to_json).unwrap_or_default();
    let (app, fault, answer) = {
        let mut core = server.core();
        let app = token.as_deref().and_then(|token| app_of(&core, token)).map(|app| app.config.slug.clone());
        let fault = core.faults.take_api_fault(app.as_deref(), &name);
        let answer = match replacement(fault.as_ref(), &asked) {
            Some(replaced) => replaced,
            None => Answer::of(run(&mut core, method, &name, token.as_deref(), arguments)),
        };
        core.flush();
        (app, fault, answer)
    };
    server.journal.keep(|| {
        let json = if let Answer::Json { json, .. } = &answer { json.clone() } else { Value::Null };
        Exchange::Call(CallExchange { method: name, app, arguments: asked, status: answer.status(), answer: json })
    });
    match fault {
        Some(ApiFault::Hang) => server.stop.cancelled().await,
        Some(ApiFault::ResetBefore | ApiFault::ResetAfter) => wire.reset(),
        Some(ApiFault::Close) => wire.close(),
        _ => {}
    }
    answer.into_response()
}

enum Answer {
    Json { json: Value, retry_after: Option<u64>, scopes: Option<(String, String)> },
    Page,
    Status(u16),
}

impl Answer {
    fn of((outcome, scopes): (Outcome, Option<(String, String)>)) -> Self {
        match outcome {
            Ok(json) => Self::Json { json, retry_after: None, scopes },
            Err(error) => Self::Json { json: error.answer(), retry_after: error.retry_after, scopes },
        }
    }

    fn status(&self) -> u16 {
        match self {
            Self::Json { retry_after: Some(_), .. } => 429,
            Self::Json { .. } | Self::Page => 200,
            Self::Status(status) => *status,
        }
    }

    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        match self {
            Self::Page => Html(PAGE).into_response(),
            Self::Status(_) => (status, Body::empty()).into_response(),
            Self::Json { json, retry_after, scopes } => {
                let mut response = Response::new(Body::from(json.to_string()));
                *response.status_mut() = status;
                let headers = response.headers_mut();
                let mut set = |name: &'static str, value: &str| {
                    if let Ok(value) = HeaderValue::from_str(value) {
                        headers.insert(name, value);
                    }
                };
                set("content-type", "application/json; charset=utf-8");
                if let Some(seconds) = retry_after {
                    set("retry-after", &seconds.to_string());
                }
                if let Some((held, accepted)) = scopes {
                    set("x-oauth-scopes", &held);
                    set("x-accepted-oauth-scopes", &accepted);
                }
                response
            }
        }
    }
}

/// Whether a call has blocks or attachments. They may be JSON in text.
fn has_blocks(asked: &Value) -> bool {
    ["blocks", "attachments"].iter().any(|name| match &asked[*name] {
        Value::Array(list) => !list.is_empty(),
        Value::String(text) => !matches!(text.trim(), "" | "[]"),
        _ => false,
    })
}

/// The answer of a fault, or `None` if the call is run anyway.
fn replacement(fault: Option<&ApiFault>, asked: &Value) -> Option<Answer> {
    Some(match fault? {
        ApiFault::ResetAfter => return None,
        ApiFault::Blocks(_) if !has_blocks(asked) => return None,
        ApiFault::Hang | ApiFault::Close | ApiFault::ResetBefore => Answer::Status(0),
        ApiFault::RateLimited(seconds) => Answer::of((Err(ApiError::rate_limited(*seconds)), None)),
        ApiFault::Error(code) | ApiFault::Blocks(code) => Answer::of((Err(ApiError::new(code)), None)),
        ApiFault::Html => Answer::Page,
        ApiFault::Status(status) => Answer::Status(*status),
    })
}

/// The token of the header, or of the arguments.
pub(crate) fn find_token(headers: &HeaderMap, arguments: Option<&Arguments>) -> Option<String> {
    let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let bearer = header.and_then(|value| value.strip_prefix("Bearer ")).map(str::trim);
    bearer.or_else(|| arguments.and_then(Arguments::token)).filter(|token| !token.is_empty()).map(str::to_owned)
}

pub(crate) fn app_of<'a>(core: &'a Core, token: &str) -> Option<&'a App> {
    core.world.apps.values().find(|app| app.bot_token == token || app.app_token == token)
}

/// The app of a valid token.
pub(crate) fn authenticate(core: &Core, token: Option<&str>) -> Result<App, ApiError> {
    let token = token.ok_or_else(|| ApiError::new("not_authed"))?;
    let app = app_of(core, token).ok_or_else(|| ApiError::new("invalid_auth"))?;
    if app.uninstalled {
        return Err(ApiError::new("account_inactive"));
    }
    // Revoking a bot token leaves the app token valid.
    if app.revoked && token == app.bot_token {
        return Err(ApiError::new("token_revoked"));
    }
    Ok(app.clone())
}

/// Runs a method. Returns its outcome, the scopes that the app has and the scope that the method needs.
fn run(
    core: &mut Core,
    method: Option<&Method>,
    name: &str,
    token: Option<&str>,
    arguments: Result<Arguments, ApiError>,
) -> (Outcome, Option<(String, String)>) {
    let Some(method) = method else { return (Err(ApiError::new("unknown_method").with("req_method", json!(name))), None) };
    let arguments = match arguments {
        Ok(arguments) => arguments,
        Err(error) => return (Err(error), None),
    };
    if method.name == "api.test" && token.is_none() {
        return (super::apps::answer_test(&arguments), None);
    }
    let app = match authenticate(core, token) {
        Ok(app) => app,
        Err(error) => return (Err(error), None),
    };
    let scopes = Some((app.provided(), method.scope.unwrap_or_default().to_owned()));
    let is_app_token = token == Some(app.app_token.as_str());
    let fits = match method.token {
        Token::Bot => !is_app_token,
        Token::App => is_app_token,
        Token::Any => true,
    };
    if !fits {
        return (Err(ApiError::new("not_allowed_token_type")), None);
    }
    if let Some(scope) = method.scope.filter(|scope| !app.has_scope(scope)) {
        return (Err(ApiError::missing_scope(scope, &app.provided())), scopes);
    }
    let channel = arguments.find("channel").filter(|_| method.tier == Tier::Posting);
    // A channel has one limit, by whatever name it is called.
    let channel = channel.map(|named| core.world.find_channel(&named).map_or(named, |found| found.id.clone()));
    let now = core.now();
    if let Err(retry_after) = core.limits.count(&app.id, name, method.tier, channel.as_deref(), now) {
        return (Err(ApiError::rate_limited(retry_after)), scopes);
    }
    let warnings: Vec<&'static str> = arguments.warning.into_iter().collect();
    let mut call = Call { core, app, arguments, warnings };
    let mut outcome = (method.run)(&mut call);
    let warnings = call.warnings;
    if let Ok(answer) = &mut outcome {
        answer["ok"] = json!(true);
        if !warnings.is_empty() {
            answer["warning"] = json!(warnings.join(","));
            answer["response_metadata"]["warnings"] = json!(warnings);
        }
    }
    (outcome, scopes)
}

/// The sign-in page. A client that downloads a file without a token gets this page, like a browser without a session.
pub(crate) async fn sign_in() -> Html<&'static str> {
    Html(PAGE)
}

/// Reads a body. `None` if it is larger than `limit`.
pub(crate) async fn read_body(body: Body, limit: usize) -> Option<Bytes> {
    axum::body::to_bytes(body, limit).await.ok()
}
