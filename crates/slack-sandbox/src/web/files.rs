//! `files.*`, the upload address and the download of files.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, Multipart, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::{Value, json};

use super::chat::Content;
use super::serving::{authenticate, find_token, read_body};
use super::{ApiError, Call, Message, Outcome};
use crate::server::Server;
use crate::state::{Author, Change};

/// Slack's limit is 1 GB; this machine keeps files in memory.
const FILE_LIMIT: usize = 64 * 1024 * 1024;

pub(crate) fn get_upload_url(call: &mut Call) -> Outcome {
    let filename = call.arguments.text("filename")?;
    let length: usize = call.arguments.text("length")?.parse().map_err(|_| ApiError::arguments("`length` must be an integer"))?;
    if length == 0 {
        return Err(ApiError::new("file_upload_size_zero"));
    }
    if length > FILE_LIMIT {
        return Err(ApiError::new("file_upload_size_restricted"));
    }
    let user = call.app.user.clone();
    let base = call.core.world.base.clone();
    let file = call.world().add_file(&user, &filename, length);
    let token = file.upload.clone().unwrap_or_default();
    Ok(json!({ "upload_url": format!("{base}/upload/v1/{token}"), "file_id": file.id }))
}

/// `POST /upload/v1/{token}`: the bytes as they are, or as the first file of a form. It needs no token of the app.
pub(crate) async fn upload(State(server): State<Arc<Server>>, Path(token): Path<String>, request: Request) -> Response {
    let is_form = request.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"multipart/form-data"));
    let bytes = if is_form { read_form(request).await } else { read_body(request.into_body(), FILE_LIMIT).await };
    let Some(bytes) = bytes else { return StatusCode::BAD_REQUEST.into_response() };
    let mut core = server.core();
    let Some(file) = core.world.files.values().find(|file| file.upload.as_deref() == Some(&token)) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    if file.length != bytes.len() {
        return (StatusCode::BAD_REQUEST, format!("expected {} bytes", file.length)).into_response();
    }
    let (id, answer) = (file.id.clone(), format!("OK - {}", bytes.len()));
    core.world.fill_file(&id, bytes);
    core.flush();
    answer.into_response()
}

async fn read_form(request: Request) -> Option<Bytes> {
    let mut form = Multipart::from_request(request, &()).await.ok()?;
    while let Some(field) = form.next_field().await.ok()? {
        if field.file_name().is_some() || field.name() == Some("file") {
            return field.bytes().await.ok();
        }
    }
    None
}

/// Ends uploads, and shares the files as one message if a channel is given.
pub(crate) fn complete_upload(call: &mut Call) -> Outcome {
    let given = call.arguments.json("files", "invalid_arguments")?.ok_or_else(|| ApiError::missing("files"))?;
    let given = given.as_array().cloned().unwrap_or_default();
    let ids: Vec<String> = given.iter().filter_map(|file| file["id"].as_str()).map(str::to_owned).collect();
    if ids.is_empty() || ids.len() != given.len() {
        return Err(ApiError::missing("files"));
    }
    let bot = call.app.user.clone();
    for id in &ids {
        let file = call.core.world.files.get(id).filter(|file| file.user == bot && file.upload.is_some());
        let file = file.ok_or_else(|| ApiError::new("file_not_found"))?;
        if file.size == 0 {
            return Err(ApiError::new("file_not_found"));
        }
    }
    let message = share(call)?;
    for (id, given) in ids.iter().zip(&given) {
        if let Some(file) = call.world().files.get_mut(id) {
            file.upload = None;
            if let Some(title) = given["title"].as_str().filter(|title| !title.is_empty()) {
                title.clone_into(&mut file.title);
            }
        }
        call.world().changes.push(Change::File(id.clone()));
    }
    if let Some((channel, mut message)) = message {
        message.files.clone_from(&ids);
        call.world().post(&channel, message);
    }
    let world = &call.core.world;
    let files: Vec<Value> = ids.iter().filter_map(|id| world.files.get(id)).map(|file| world.file(file)).collect();
    Ok(json!({ "files": files }))
}

/// The message that is to carry the files, and its channel.
fn share(call: &mut Call) -> Result<Option<(String, Message)>, ApiError> {
    let named = call.arguments.find("channel_id").or_else(|| call.arguments.list("channels").into_iter().next());
    let Some(named) = named else { return Ok(None) };
    let bot = call.app.user.clone();
    let channel = call.core.world.channels.get(&named).filter(|channel| channel.is_visible_to(&bot)).cloned();
    let channel = channel.ok_or_else(|| ApiError::new("channel_not_found"))?;
    if channel.archived {
        return Err(ApiError::new("is_archived"));
    }
    if !channel.has(&bot) {
        return Err(ApiError::new("not_in_channel"));
    }
    let mut message = Message::new(Author::App { id: call.app.id.clone(), custom: None }, "");
    let said = json!({ "text": call.arguments.find("initial_comment"), "blocks": call.arguments.find("blocks") });
    Content::parse(call.world(), &said)?.fill(&mut message);
    let thread = call.arguments.ts("thread_ts", "invalid_thread_ts")?;
    message.thread = thread.and_then(|ts| channel.messages.get(&ts)).map(|parent| parent.thread.unwrap_or(parent.ts));
    Ok(Some((channel.id, message)))
}

pub(crate) fn info(call: &mut Call) -> Outcome {
    let id = call.arguments.text("file")?;
    let world = &call.core.world;
    let file = world.files.get(&id).filter(|file| file.upload.is_none() && world.can_see_file(file, &call.app.user));
    let file = file.ok_or_else(|| ApiError::new("file_not_found"))?;
    Ok(json!({ "file": world.file(file), "comments": [], "response_metadata": { "next_cursor": "" } }))
}

pub(crate) fn delete(call: &mut Call) -> Outcome {
    let id = call.arguments.text("file")?;
    let file = call.core.world.files.get(&id).ok_or_else(|| ApiError::new("file_not_found"))?;
    if file.user != call.app.user {
        return Err(ApiError::new("cant_delete_file"));
    }
    call.world().remove_file(&id);
    Ok(json!({}))
}

/// `GET /files-pri/{team}-{file}/…`. A request without the token of an app that may see the file is redirected to Slack's sign-in page.
pub(crate) async fn download(State(server): State<Arc<Server>>, Path((id, _rest)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let core = server.core();
    let id = id.split_once('-').map_or(id.as_str(), |(_, file)| file);
    let token = find_token(&headers, None);
    let app = authenticate(&core, token.as_deref()).ok().filter(|app| app.has_scope("files:read"));
    let Some(app) = app else { return Redirect::to("/sign-in?redir=%2Ffiles-pri").into_response() };
    let file = core.world.files.get(id).filter(|file| core.world.can_see_file(file, &app.user));
    match file {
        Some(file) => ([(header::CONTENT_TYPE, file.media_type())], core.world.contents.get(id).unwrap_or_default()).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
