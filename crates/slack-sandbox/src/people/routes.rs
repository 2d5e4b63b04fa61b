//! `/people/*`: what the chat page does for a person, who is known by a bearer token.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, FromRequestParts, Multipart, Path, Query, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::history::Range;
use super::{Interaction, Person, Refused, live};
use crate::server::Server;
use crate::state::Progress;

/// For all files of one message.
const UPLOAD_LIMIT: usize = 64 * 1024 * 1024;

pub(crate) fn router() -> Router<Arc<Server>> {
    Router::new()
        .route("/people/live", get(live::connect))
        .route("/people/emojis", get(emojis))
        .route("/people/overview", get(async |Caller(person): Caller| Json(person.overview())))
        .route("/people/direct", post(open_direct))
        .route("/people/channels/{channel}/messages", get(history).post(say))
        .route("/people/channels/{channel}/files", post(upload).layer(DefaultBodyLimit::max(UPLOAD_LIMIT)))
        .route("/people/channels/{channel}/commands", post(command))
        .route("/people/channels/{channel}/messages/{ts}", put(edit).delete(delete))
        .route("/people/channels/{channel}/messages/{ts}/reactions/{emoji}", put(react).delete(unreact))
        .route("/people/channels/{channel}/messages/{ts}/actions", post(choose))
        .route("/people/homes/{app}", get(home).post(open_home))
        .route("/people/views/{view}", post(submit).delete(close))
        .route("/people/views/{view}/actions", post(act))
        .route("/people/files/{id}/{name}", get(download))
}

/// What a person is told in place of an answer.
pub(super) struct Refusal {
    code: String,
    message: String,
}

impl Refusal {
    pub(super) fn new(code: &str) -> Self {
        Self { code: code.to_owned(), message: explain(code) }
    }

    fn input(problem: impl std::fmt::Display) -> Self {
        Self { code: "invalid_input".to_owned(), message: format!("the request could not be read: {problem}") }
    }
}

fn explain(code: &str) -> String {
    let text = match code {
        "invalid_auth" => "nobody has this token; reload the page",
        "not_authed" => "the request has no token",
        "channel_not_found" => "this conversation does not exist, or you may not read it",
        "message_not_found" => "this message does not exist any more",
        "thread_not_found" => "the message that this thread belongs to does not exist any more",
        "not_in_channel" => "you are not in this channel",
        "is_archived" => "this channel is archived",
        "cant_update_message" => "only who wrote a message can change it",
        "no_text" => "a message needs a text or a file",
        "user_not_found" => "nobody has this id",
        "invalid_command" => "no app has this command",
        "no_such_element" => "this message has no such button or menu any more",
        "no_such_option" => "this menu has no such option",
        "interactivity_not_enabled" => "the app takes no buttons and menus",
        "required_input_is_empty" => "please fill in all fields that are not optional",
        "already_reacted" => "you have reacted with this already",
        "no_reaction" => "you have not reacted with this",
        "dispatch_failed" => "the app is not connected; try again in a moment",
        "operation_timeout" => "the app did not answer in time; try again in a moment",
        "not_enabled" => "there is no such app with a home tab",
        "not_found" => "this is not open any more",
        other => return format!("the local Slack refused this ({other})"),
    };
    text.to_owned()
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Self {
        Self::new(refused.0)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = match self.code.as_str() {
            "not_authed" | "invalid_auth" => StatusCode::UNAUTHORIZED,
            "dispatch_failed" | "operation_timeout" => StatusCode::GATEWAY_TIMEOUT,
            code if code.ends_with("not_found") => StatusCode::NOT_FOUND,
            _ => StatusCode::BAD_REQUEST,
        };
        (status, Json(json!({ "error": self.code, "message": self.message }))).into_response()
    }
}

type Answer = Result<Json<Value>, Refusal>;

impl Person {
    pub(super) fn by_token(server: &Arc<Server>, token: &str) -> Option<Self> {
        let id = server.core().world.users.values().find(|user| user.token.as_deref() == Some(token))?.id.clone();
        Some(Self::new(Arc::clone(server), id))
    }
}

/// The person whose token a request has.
struct Caller(Person);

impl FromRequestParts<Arc<Server>> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, server: &Arc<Server>) -> Result<Self, Refusal> {
        let header = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = header.and_then(|value| value.strip_prefix("Bearer ")).ok_or_else(|| Refusal::new("not_authed"))?;
        Person::by_token(server, token.trim()).map(Self).ok_or_else(|| Refusal::new("invalid_auth"))
    }
}

fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(Refusal::input)
}

fn done() -> Answer {
    Ok(Json(json!({})))
}

async fn ended(interaction: Interaction) -> Answer {
    match interaction.ended().await {
        Progress::Failed(code) => Err(Refusal::new(code)),
        Progress::Acknowledged(_) | Progress::Waiting => done(),
    }
}

/// Characters by the names that Slack has for them.
async fn emojis() -> Response {
    let all = emojis::iter().flat_map(|emoji| emoji.shortcodes().map(|name| (name.to_owned(), Value::from(emoji.as_str()))));
    ([(header::CACHE_CONTROL, "max-age=3600")], Json(Value::Object(all.collect()))).into_response()
}

async fn history(
    Caller(person): Caller,
    Path(channel): Path<String>,
    range: Result<Query<Range>, axum::extract::rejection::QueryRejection>,
) -> Answer {
    let Query(range) = range.map_err(Refusal::input)?;
    Ok(Json(person.history(&channel, &range)?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    text: String,
    thread: Option<String>,
}

/// Posts a message, and returns it.
async fn say(Caller(person): Caller, Path(channel): Path<String>, body: Bytes) -> Answer {
    let said: Text = read(&body)?;
    if said.text.trim().is_empty() {
        return Err(Refusal::new("no_text"));
    }
    let ts = match said.thread {
        Some(thread) => person.reply(&channel, &thread, &said.text)?,
        None => person.say(&channel, &said.text)?,
    };
    Ok(Json(person.posted(&channel, &ts)))
}

/// Posts a message with files: a form with `text`, `thread` and one or more `file`.
async fn upload(
    Caller(person): Caller,
    Path(channel): Path<String>,
    form: Result<Multipart, axum::extract::multipart::MultipartRejection>,
) -> Answer {
    let mut form = form.map_err(Refusal::input)?;
    let (mut text, mut thread, mut files) = (String::new(), None, Vec::new());
    while let Some(field) = form.next_field().await.map_err(Refusal::input)? {
        match field.name() {
            Some("text") => text = field.text().await.map_err(Refusal::input)?,
            Some("thread") => thread = Some(field.text().await.map_err(Refusal::input)?),
            Some("file") => {
                let name = field.file_name().unwrap_or("file").to_owned();
                files.push((name, field.bytes().await.map_err(Refusal::input)?));
            }
            other => return Err(Refusal::input(format!("unknown field {:?}", other.unwrap_or_default()))),
        }
    }
    if files.is_empty() {
        return Err(Refusal::new("no_text"));
    }
    let ts = person.upload_all(&channel, thread.as_deref(), files, &text)?;
    Ok(Json(person.posted(&channel, &ts)))
}

async fn edit(Caller(person): Caller, Path((channel, ts)): Path<(String, String)>, body: Bytes) -> Answer {
    let said: Text = read(&body)?;
    if said.text.trim().is_empty() {
        return Err(Refusal::new("no_text"));
    }
    person.edit(&channel, &ts, &said.text)?;
    Ok(Json(person.posted(&channel, &ts)))
}

async fn delete(Caller(person): Caller, Path((channel, ts)): Path<(String, String)>) -> Answer {
    person.delete(&channel, &ts)?;
    done()
}

async fn react(Caller(person): Caller, Path((channel, ts, emoji)): Path<(String, String, String)>) -> Answer {
    person.react(&channel, &ts, &emoji)?;
    done()
}

async fn unreact(Caller(person): Caller, Path((channel, ts, emoji)): Path<(String, String, String)>) -> Answer {
    person.unreact(&channel, &ts, &emoji)?;
    done()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Chosen {
    action: String,
    #[serde(default)]
    values: Vec<String>,
}

impl Chosen {
    fn values(&self) -> Vec<&str> {
        self.values.iter().map(String::as_str).collect()
    }
}

/// Presses a button, or chooses in a menu. The answer comes when the app has taken it.
async fn choose(Caller(person): Caller, Path((channel, ts)): Path<(String, String)>, body: Bytes) -> Answer {
    let chosen: Chosen = read(&body)?;
    ended(person.choose(&channel, &ts, &chosen.action, &chosen.values())?).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    line: String,
}

/// Runs a slash command, such as `/team status`.
async fn command(Caller(person): Caller, Path(channel): Path<String>, body: Bytes) -> Answer {
    let Line { line } = read(&body)?;
    ended(person.command(&channel, line.trim())?).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct With {
    users: Vec<String>,
}

async fn open_direct(Caller(person): Caller, body: Bytes) -> Answer {
    let With { users } = read(&body)?;
    let id = person.open_direct_with_known(&users)?;
    let core = person.core();
    Ok(Json(core.world.channels.get(&id).map(|channel| person.channel(channel)).unwrap_or_default()))
}

async fn home(Caller(person): Caller, Path(app): Path<String>) -> Answer {
    Ok(Json(json!({ "view": person.home(&app) })))
}

/// Opens the home tab. The app publishes what it shows, which comes as a change.
async fn open_home(Caller(person): Caller, Path(app): Path<String>) -> Answer {
    person.open_home(&app)?;
    Ok(Json(json!({ "view": person.home(&app) })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entered {
    inputs: Vec<Chosen>,
}

/// Submits a modal. `errors` has what the app complains of, by block.
async fn submit(Caller(person): Caller, Path(view): Path<String>, body: Bytes) -> Answer {
    let Entered { inputs } = read(&body)?;
    let values: Vec<(&str, Vec<&str>)> = inputs.iter().map(|input| (input.action.as_str(), input.values())).collect();
    let values: Vec<(&str, &[&str])> = values.iter().map(|(action, values)| (*action, values.as_slice())).collect();
    let interaction = person.submit(&view, &values)?;
    let _ = ended(interaction).await?;
    Ok(Json(json!({ "errors": person.modal_errors(&view) })))
}

async fn act(Caller(person): Caller, Path(view): Path<String>, body: Bytes) -> Answer {
    let chosen: Chosen = read(&body)?;
    ended(person.act_in_view(&view, &chosen.action, &chosen.values())?).await
}

async fn close(Caller(person): Caller, Path(view): Path<String>) -> Answer {
    person.close_modal(&view)?;
    done()
}

/// A file for the page, whose images cannot send a token. It does not run in the page's origin.
async fn download(State(server): State<Arc<Server>>, Path((id, _name)): Path<(String, String)>) -> Response {
    let core = server.core();
    let found = core.world.files.get(&id).and_then(|file| Some((file.media_type(), core.world.contents.get(&id)?)));
    let Some((media_type, bytes)) = found else { return Refusal::new("file_not_found").into_response() };
    let headers = [
        (header::CONTENT_TYPE.as_str(), media_type),
        (header::X_CONTENT_TYPE_OPTIONS.as_str(), "nosniff"),
        (header::CONTENT_SECURITY_POLICY.as_str(), "default-src 'none'; sandbox"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    (headers, bytes).into_response()
}
