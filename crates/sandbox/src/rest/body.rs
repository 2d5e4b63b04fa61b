//! Request bodies: JSON, and multipart with files beside it.

use axum::body::{Body as HttpBody, Bytes};
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::{header, request::Parts};
use futures_util::StreamExt;
use serde_json::{Map, Value};

use super::errors::ApiError;

/// "The file upload size limit applies to each file in a request": 10 MiB without boosts.
pub(crate) const FILE_LIMIT: usize = 10 * 1024 * 1024;
/// "The maximum request size when sending a message is 25 MiB."
pub(crate) const REQUEST_LIMIT: usize = 25 * 1024 * 1024;

/// A file as it was sent.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    /// The number in `files[0]`, by which the JSON may refer to it.
    pub(crate) number: u64,
    pub(crate) filename: String,
    pub(crate) content_type: Option<String>,
    pub(crate) bytes: Bytes,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Body {
    /// An empty object if the request has no body.
    pub(crate) json: Value,
    pub(crate) uploads: Vec<Upload>,
}

impl Body {
    /// Reads a body in every form that clients use: parts in any order, and the JSON part with any content type.
    pub(crate) async fn read(parts: &Parts, bytes: Bytes) -> Result<Self, ApiError> {
        if bytes.is_empty() {
            return Ok(Self { json: Value::Object(Map::new()), uploads: Vec::new() });
        }
        let content_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("");
        if content_type.starts_with("multipart/form-data") {
            return Self::read_multipart(parts, bytes).await;
        }
        Ok(Self { json: parse(&bytes)?, uploads: Vec::new() })
    }

    async fn read_multipart(parts: &Parts, bytes: Bytes) -> Result<Self, ApiError> {
        let malformed = |_| ApiError::new(400, 50035, "Invalid Form Body");
        let request = Request::from_parts(parts.clone(), HttpBody::from(bytes));
        let mut multipart = Multipart::from_request(request, &()).await.map_err(|_| ApiError::bad_json())?;
        let mut body = Self { json: Value::Object(Map::new()), uploads: Vec::new() };
        while let Some(field) = multipart.next_field().await.map_err(malformed)? {
            let name = field.name().unwrap_or_default().to_owned();
            let filename = field.file_name().map(str::to_owned);
            let content_type = field.content_type().map(str::to_owned);
            let bytes = field.bytes().await.map_err(malformed)?;
            match filename {
                Some(filename) => {
                    let number = file_number(&name).unwrap_or(body.uploads.len() as u64);
                    body.uploads.push(Upload { number, filename, content_type, bytes });
                }
                None if name == "payload_json" => body.json = parse(&bytes)?,
                None => {
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    body.json[name.as_str()] = Value::String(text);
                }
            }
        }
        if body.uploads.iter().any(|upload| upload.bytes.len() > FILE_LIMIT) {
            return Err(ApiError::too_large());
        }
        Ok(body)
    }
}

fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    let json: Value = serde_json::from_slice(bytes).map_err(|_| ApiError::bad_json())?;
    // Command lists are arrays; anything else is an object.
    if json.is_object() || json.is_array() { Ok(json) } else { Err(ApiError::bad_json()) }
}

/// Reads the bytes of a request up to Discord's limit.
///
/// Reads and drops bytes over the limit, up to a second limit. Otherwise a client that is still sending would see a
/// broken connection instead of the error response.
pub(crate) async fn read_bytes(body: HttpBody) -> Result<Bytes, ApiError> {
    const READ_LIMIT: usize = 4 * REQUEST_LIMIT;
    let mut stream = body.into_data_stream();
    let (mut kept, mut seen) = (Vec::new(), 0);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| ApiError::bad_json())?;
        seen += chunk.len();
        if seen <= REQUEST_LIMIT {
            kept.extend_from_slice(&chunk);
        } else if seen > READ_LIMIT {
            break;
        }
    }
    if seen > REQUEST_LIMIT { Err(ApiError::too_large()) } else { Ok(kept.into()) }
}

/// The number in `files[3]`.
fn file_number(name: &str) -> Option<u64> {
    name.strip_prefix("files[")?.strip_suffix(']')?.parse().ok()
}
