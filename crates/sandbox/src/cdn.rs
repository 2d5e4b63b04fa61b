//! Downloads of attachments.

use std::sync::Arc;

use axum::extract::{Path, Query, State, rejection::QueryRejection};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::server::Server;
use super::state::Signature;

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
