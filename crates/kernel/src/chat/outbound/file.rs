use std::borrow::Cow;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutboundFile {
    pub name: String,
    #[serde(flatten)]
    pub content: FileContent,
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileContent {
    Text(String),
    /// Stored as base64, because rows are JSON.
    #[serde(with = "base64_text")]
    Bytes(Vec<u8>),
}

impl FileContent {
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }
}

mod base64_text {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Cow;

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        BASE64_STANDARD.decode(text.as_bytes()).map_err(|error| D::Error::custom(format!("a file is not base64: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_base64_is_an_error() {
        let read = serde_json::from_str::<OutboundFile>(r#"{"name": "chart.png", "bytes": "%%%"}"#);
        assert!(read.unwrap_err().to_string().contains("not base64"));
    }

    #[test]
    fn a_file_gives_its_bytes_whatever_it_holds() {
        assert_eq!(FileContent::Text("é".to_owned()).as_bytes(), [0xc3, 0xa9]);
        assert_eq!(FileContent::Bytes(vec![1, 2]).as_bytes(), [1, 2]);
    }
}
