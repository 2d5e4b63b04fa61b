//! `/people/*`: the routes of the chat page. A bearer token names the person.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Multipart, Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::history::Range;
use super::refusal::{Caller, Refusal};
use super::{Interaction, live};
use crate::server::Server;
use crate::state::Progress;

/// The size limit for all files of one message together.
const UPLOAD_LIMIT: usize = 64 * 1024 * 1024;

pub(crate) fn router() -> Router<Arc<Server>> {
    Router::new()
        .route("/people/live", get(live::connect))
        .route("/people/emojis", get(emojis))
        .route("/people/overview", get(async |Caller(person): Caller| Json(person.overview())))
        .route("/people/search", get(search))
        .route("/people/direct", post(open_direct))
        .route("/people/channels/{channel}/messages", get(history).post(say))
        .route("/people/channels/{channel}/files", post(upload).layer(DefaultBodyLimit::max(UPLOAD_LIMIT)))
        .route("/people/channels/{channel}/commands", post(command))
        .route("/people/channels/{channel}/messages/{ts}", put(edit).delete(delete))
        .route("/people/channels/{channel}/messages/{ts}/reactions/{emoji}", put(react).delete(unreact))
        .route("/people/channels/{channel}/messages/{ts}/actions", post(choose))
        .route("/people/channels/{channel}/messages/{ts}/shortcuts", post(use_on_message))
        .route("/people/channels/{channel}/messages/{ts}/stop", post(stop_work))
        .route("/people/homes/{app}", get(home).post(open_home))
        .route("/people/views/{view}", post(submit).delete(close))
        .route("/people/views/{view}/actions", post(act))
        .route("/people/files/{id}/{name}", get(download))
}

type Answer = Result<Json<Value>, Refusal>;

fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(Refusal::input)
}

fn nothing() -> Json<Value> {
    Json(json!({}))
}

async fn ended(interaction: Interaction) -> Answer {
    match interaction.ended().await {
        Progress::Failed(code) => Err(Refusal::new(code)),
        Progress::Acknowledged(_) | Progress::Waiting => Ok(nothing()),
    }
}

/// All emoji characters, by Slack's names.
async fn emojis() -> Response {
    let mut all = serde_json::Map::new();
    for emoji in emojis::iter() {
        for name in emoji.shortcodes() {
            // Slack's names for circles and squares, such as `green_circle`, also exist with `large_` before them.
            if name.ends_with("_circle") || name.ends_with("_square") {
                all.insert(format!("large_{name}"), emoji.as_str().into());
            }
            all.insert(name.to_owned(), emoji.as_str().into());
        }
    }
    ([(header::CACHE_CONTROL, "max-age=3600")], Json(Value::Object(all))).into_response()
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
struct Wanted {
    text: String,
}

async fn search(Caller(person): Caller, wanted: Result<Query<Wanted>, axum::extract::rejection::QueryRejection>) -> Answer {
    let Query(wanted) = wanted.map_err(Refusal::input)?;
    Ok(Json(person.search(&wanted.text)))
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
    Ok(nothing())
}

async fn react(Caller(person): Caller, Path((channel, ts, emoji)): Path<(String, String, String)>) -> Answer {
    person.react(&channel, &ts, &emoji)?;
    Ok(nothing())
}

async fn unreact(Caller(person): Caller, Path((channel, ts, emoji)): Path<(String, String, String)>) -> Answer {
    person.unreact(&channel, &ts, &emoji)?;
    Ok(nothing())
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

/// Presses a button, or chooses in a menu. Answers once the app has acknowledged it.
async fn choose(Caller(person): Caller, Path((channel, ts)): Path<(String, String)>, body: Bytes) -> Answer {
    let chosen: Chosen = read(&body)?;
    ended(person.choose(&channel, &ts, &chosen.action, &chosen.values())?).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Offered {
    callback_id: String,
}

/// Uses a shortcut on a message. Answers once the app has acknowledged it.
async fn use_on_message(Caller(person): Caller, Path((channel, ts)): Path<(String, String)>, body: Bytes) -> Answer {
    let Offered { callback_id } = read(&body)?;
    ended(person.use_on_message(&channel, &ts, &callback_id)?).await
}

/// Stops what an agent does in the thread of a message.
async fn stop_work(Caller(person): Caller, Path((channel, ts)): Path<(String, String)>) -> Answer {
    person.stop_work(&channel, &ts)?;
    Ok(nothing())
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

/// Opens the home tab. The view that the app publishes arrives later as a change.
async fn open_home(Caller(person): Caller, Path(app): Path<String>) -> Answer {
    person.open_home(&app)?;
    Ok(Json(json!({ "view": person.home(&app) })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entered {
    inputs: Vec<Chosen>,
}

/// Submits a modal. `errors` in the answer has the app's complaints by block.
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
    Ok(nothing())
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
