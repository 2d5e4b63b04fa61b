//! Arguments of a call, in each form that clients use: JSON, a form, multipart, or the query.

use std::str::FromStr;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::header;
use axum::http::request::Parts;
use serde_json::{Map, Value};

use super::errors::ApiError;
use crate::state::Ts;

#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    values: Map<String, Value>,
    /// `missing_charset` or `superfluous_charset`.
    pub(crate) warning: Option<&'static str>,
}

impl Arguments {
    pub(crate) async fn read(parts: &Parts, bytes: Bytes, takes_json: bool) -> Result<Self, ApiError> {
        let mut arguments = Self::default();
        arguments.read_form(parts.uri.query().unwrap_or_default().as_bytes());
        let content_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let (media_type, has_charset) = (content_type.split(';').next().unwrap_or_default().trim(), content_type.contains("charset"));
        match media_type {
            "application/json" => {
                // Methods that only read accept only forms. They ignore arguments in JSON.
                if takes_json {
                    arguments.read_json(&bytes)?;
                }
                arguments.warning = (!has_charset).then_some("missing_charset");
            }
            "application/x-www-form-urlencoded" => {
                arguments.read_form(&bytes);
                arguments.warning = has_charset.then_some("superfluous_charset");
            }
            "multipart/form-data" => arguments.read_multipart(parts, bytes).await?,
            "" if bytes.is_empty() => {}
            "" => return Err(ApiError::new("missing_post_type")),
            _ => return Err(ApiError::new("invalid_post_type")),
        }
        Ok(arguments)
    }

    fn read_form(&mut self, bytes: &[u8]) {
        for (name, value) in form_urlencoded::parse(bytes) {
            self.values.insert(name.into_owned(), Value::String(value.into_owned()));
        }
    }

    fn read_json(&mut self, bytes: &[u8]) -> Result<(), ApiError> {
        if bytes.is_empty() {
            return Ok(());
        }
        match serde_json::from_slice(bytes) {
            Ok(Value::Object(values)) => self.values.extend(values),
            Ok(_) => return Err(ApiError::new("json_not_object")),
            Err(_) => return Err(ApiError::new("invalid_json")),
        }
        Ok(())
    }

    async fn read_multipart(&mut self, parts: &Parts, bytes: Bytes) -> Result<(), ApiError> {
        let malformed = |_| ApiError::new("invalid_form_data");
        let request = Request::from_parts(parts.clone(), Body::from(bytes));
        let mut multipart = Multipart::from_request(request, &()).await.map_err(|_| ApiError::new("invalid_form_data"))?;
        while let Some(field) = multipart.next_field().await.map_err(malformed)? {
            let name = field.name().unwrap_or_default().to_owned();
            let text = field.text().await.map_err(malformed)?;
            self.values.insert(name, Value::String(text));
        }
        Ok(())
    }

    pub(crate) fn to_json(&self) -> Value {
        Value::Object(self.values.clone())
    }

    /// The token in the arguments. Clients that cannot set headers put it there.
    pub(crate) fn token(&self) -> Option<&str> {
        self.values.get("token").and_then(Value::as_str)
    }

    /// A text that is there and not empty.
    pub(crate) fn find(&self, name: &str) -> Option<String> {
        self.values.get(name).and_then(text_of)
    }

    pub(crate) fn text(&self, name: &str) -> Result<String, ApiError> {
        self.find(name).ok_or_else(|| ApiError::missing(name))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|value| !value.is_null())
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.find(name).is_some_and(|text| ["true", "1"].contains(&text.to_lowercase().as_str()))
    }

    /// A number from 1 to `max`. A larger number counts as `max`, as with Slack.
    pub(crate) fn limit(&self, default: usize, max: usize) -> Result<usize, ApiError> {
        let Some(text) = self.find("limit") else { return Ok(default) };
        let limit = usize::from_str(&text).map_err(|_| ApiError::new("invalid_limit"))?;
        // 0 stands for the default.
        Ok(if limit == 0 { default } else { limit.min(max) })
    }

    /// A timestamp. `error` is the error for one that cannot be parsed.
    pub(crate) fn ts(&self, name: &str, error: &str) -> Result<Option<Ts>, ApiError> {
        self.find(name).map(|text| text.parse().map_err(|_| ApiError::new(error))).transpose()
    }

    /// A structured argument.
    pub(crate) fn json(&self, name: &str, error: &str) -> Result<Option<Value>, ApiError> {
        self.values.get(name).map_or(Ok(None), |value| structured(value, error))
    }

    /// Texts separated by commas, or a list in JSON.
    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        if let Some(Value::Array(items)) = self.values.get(name) {
            return items.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        }
        let text = self.find(name).unwrap_or_default();
        text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
    }
}

/// The value as text. `None` if it is empty.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => (!text.is_empty()).then(|| text.clone()),
        other => Some(other.to_string()),
    }
}

/// A JSON value, or a text that contains JSON, as in forms.
pub(crate) fn structured(value: &Value, error: &str) -> Result<Option<Value>, ApiError> {
    match value {
        Value::Null => Ok(None),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::String(text) => serde_json::from_str(text).map(Some).map_err(|_| ApiError::new(error)),
        other => Ok(Some(other.clone())),
    }
}
