//! A form as a browser sends it: as multipart, which needs no further dependency.

use axum::extract::Multipart;
use axum::extract::multipart::MultipartRejection;
use axum::http::StatusCode;

/// The most fields. Our largest form has half of them.
const FIELDS: usize = 40;

/// Names and values in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::adapters::http::kanban) struct Form(Vec<(String, String)>);

/// Why a form cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::adapters::http::kanban) enum BadForm {
    Unreadable,
    TooLarge,
}

impl BadForm {
    pub(in crate::adapters::http::kanban) fn answer(self) -> (StatusCode, &'static str) {
        match self {
            Self::Unreadable => (StatusCode::BAD_REQUEST, "Nothing was done: the form could not be read. Go back and send it again."),
            Self::TooLarge => {
                (StatusCode::PAYLOAD_TOO_LARGE, "Nothing was done: the texts are too long. Go back, shorten them and send it again.")
            }
        }
    }
}

impl Form {
    pub(in crate::adapters::http::kanban) async fn read(sent: Result<Multipart, MultipartRejection>) -> Result<Self, BadForm> {
        let mut sent = sent.map_err(|_| BadForm::Unreadable)?;
        let bad = |status| if status == StatusCode::PAYLOAD_TOO_LARGE { BadForm::TooLarge } else { BadForm::Unreadable };
        let mut fields = Vec::new();
        while let Some(field) = sent.next_field().await.map_err(|error| bad(error.status()))? {
            let name = field.name().ok_or(BadForm::Unreadable)?.to_owned();
            let text = field.text().await.map_err(|error| bad(error.status()))?;
            if fields.len() == FIELDS {
                return Err(BadForm::Unreadable);
            }
            // Browsers end the lines of a text area like this.
            fields.push((name, text.replace("\r\n", "\n").trim().to_owned()));
        }
        Ok(Self(fields))
    }

    /// The value of a field. A field that was not sent is empty.
    pub(in crate::adapters::http::kanban) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, text)| text)
    }

    pub(in crate::adapters::http::kanban) fn fields(&self) -> &[(String, String)] {
        &self.0
    }
}

#[cfg(test)]
impl From<&[(&str, &str)]> for Form {
    fn from(fields: &[(&str, &str)]) -> Self {
        Self(fields.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect())
    }
}
