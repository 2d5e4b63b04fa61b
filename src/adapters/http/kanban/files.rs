//! Serves a file that an item made. Models wrote it, so a browser gets nothing to execute: pictures are shown, everything else is a download.

use std::fmt::Write as _;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::features::backlog::model::Artefact;

/// Even a file that a browser mistakes for a page may do nothing.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; sandbox";

pub(super) fn serve(file: Artefact) -> Response {
    let Artefact { facts, content } = file;
    let charset = if facts.is_text() { "; charset=utf-8" } else { "" };
    let media_type = HeaderValue::try_from(format!("{}{charset}", facts.media_type));
    let shown = if facts.is_picture() { "inline" } else { "attachment" };
    let name = facts.name.rsplit('/').next().unwrap_or_default();
    let disposition = HeaderValue::try_from(format!("{shown}; filename*=UTF-8''{}", encode(name)));
    let headers = [
        (header::CONTENT_TYPE, media_type.unwrap_or(HeaderValue::from_static("application/octet-stream"))),
        (header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment"))),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(CONTENT_SECURITY_POLICY)),
    ];
    (headers, content).into_response()
}

/// A name as RFC 8187 wants it.
fn encode(name: &str) -> String {
    let mut encoded = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::backlog::model::ArtefactFacts;

    fn served(name: &str, media_type: &str) -> Response {
        let facts = ArtefactFacts { name: name.into(), media_type: media_type.into(), bytes: 1, sha256: String::new() };
        serve(Artefact { facts, content: vec![b'x'] })
    }

    #[test]
    fn only_pictures_are_shown_and_nothing_may_run() {
        for (name, media_type, content_type, disposition) in [
            ("docs/plan.md", "text/markdown", "text/markdown; charset=utf-8", "attachment; filename*=UTF-8''plan.md"),
            ("a \"b\"\r\n.csv", "text/csv", "text/csv; charset=utf-8", "attachment; filename*=UTF-8''a%20%22b%22%0D%0A.csv"),
            ("chart.png", "image/png", "image/png", "inline; filename*=UTF-8''chart.png"),
            ("zwölf.bin", "application/octet-stream", "application/octet-stream", "attachment; filename*=UTF-8''zw%C3%B6lf.bin"),
        ] {
            let response = served(name, media_type);
            let header = |name| response.headers()[&name].to_str().expect("text").to_owned();
            assert_eq!((header(header::CONTENT_TYPE).as_str(), header(header::CONTENT_DISPOSITION).as_str()), (content_type, disposition));
            assert!(header(header::CONTENT_SECURITY_POLICY).ends_with("sandbox"));
        }
    }
}
