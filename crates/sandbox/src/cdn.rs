//! Downloads of attachments and pictures.

use std::sync::Arc;

use axum::extract::{Path, Query, State, rejection::QueryRejection};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::server::Server;
use super::state::{Picture, Signature};

/// `GET /attachments/{channel}/{attachment}/{filename}`
pub(crate) async fn download(
    State(server): State<Arc<Server>>,
    Path((channel, id, _filename)): Path<(String, String, String)>,
    signature: Result<Query<Signature>, QueryRejection>,
) -> Response {
    let not_found = || (StatusCode::NOT_FOUND, "This content is no longer available.").into_response();
    let (Ok(channel), Ok(id)) = (channel.parse(), id.parse()) else { return not_found() };
    let Ok(Query(signature)) = signature else { return not_found() };
    let (path, content_type) = {
        let core = server.core();
        if !core.world.links.is_valid(channel, id, &signature) {
            return not_found();
        }
        let Some(attachment) = core.world.find_attachment(channel, id) else { return not_found() };
        (core.world.file_path(id), attachment.content_type.clone())
    };
    match tokio::fs::read(&path).await {
        // An attachment must not run in the page's origin.
        Ok(bytes) => (
            [
                (header::CONTENT_TYPE, content_type.as_str()),
                (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
                (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
            ],
            bytes,
        )
            .into_response(),
        Err(error) => {
            tracing::warn!(%error, path = %path.display(), "an attachment's file could not be read");
            not_found()
        }
    }
}

/// `GET /avatars/{account}/{hash}.png`. An account can be a webhook. The response has the format of the upload, even if that is not PNG.
pub(crate) async fn avatar(State(server): State<Arc<Server>>, Path((_account, name)): Path<(String, String)>) -> Response {
    let hash = without_extension(&name);
    picture(server.core().world.pictures.find(hash))
}

/// `GET /emojis/{id}.png`
pub(crate) async fn emoji(State(server): State<Arc<Server>>, Path(name): Path<String>) -> Response {
    let core = server.core();
    let emoji = without_extension(&name).parse().ok().and_then(|id| core.world.pictures.find_emoji(id));
    picture(emoji.and_then(|emoji| core.world.pictures.find(&emoji.picture)))
}

fn without_extension(name: &str) -> &str {
    name.split_once('.').map_or(name, |(name, _)| name)
}

fn picture(found: Option<&Picture>) -> Response {
    let Some(picture) = found else { return StatusCode::NOT_FOUND.into_response() };
    let headers = [
        (header::CONTENT_TYPE, picture.content_type.clone()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::CACHE_CONTROL, "public, max-age=31536000".to_owned()),
    ];
    (headers, picture.bytes.clone()).into_response()
}
