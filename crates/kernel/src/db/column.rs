//! Conversions between domain types and columns.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::value::{Error as WordError, StringDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::db::StoreError;

/// A JSON column. Stored as text in both databases, because PostgreSQL's JSONB rejects U+0000, which people and models write.
#[derive(Debug)]
pub struct Document<T>(pub T);

impl<T: DeserializeOwned> TryFrom<String> for Document<T> {
    type Error = serde_json::Error;

    fn try_from(text: String) -> serde_json::Result<Self> {
        serde_json::from_str(&text).map(Self)
    }
}

impl<T: DeserializeOwned> Document<T> {
    /// Reads an optional document, which sqlx's row types cannot do.
    pub fn read(text: String) -> Result<T, StoreError> {
        Self::try_from(text).map(|document| document.0).map_err(|error| StoreError::Corrupt(error.to_string()))
    }
}

/// Serialises `value` for a JSON column.
pub fn document<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("the domain's types have text for keys, so they are JSON")
}

/// A column with the serde name of an enum variant.
#[derive(Debug)]
pub struct Word<T>(pub T);

impl<T: DeserializeOwned> TryFrom<String> for Word<T> {
    type Error = WordError;

    fn try_from(name: String) -> Result<Self, WordError> {
        let name: StringDeserializer<WordError> = name.into_deserializer();
        T::deserialize(name).map(Self)
    }
}

impl<T: DeserializeOwned> Word<T> {
    /// Reads an optional name, which sqlx's row types cannot do.
    pub fn read(name: String) -> Result<T, StoreError> {
        Self::try_from(name).map(|word| word.0).map_err(|error| StoreError::Corrupt(error.to_string()))
    }
}

/// Removes U+0000, which PostgreSQL rejects, so that both databases store the same text.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "")) } else { Cow::Borrowed(text) }
}

/// Converts a count, because the databases have no unsigned types.
pub fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum State {
        InProgress,
    }

    #[test]
    fn a_word_reads_back_what_was_written_and_refuses_others() {
        assert_eq!(Word::<State>::try_from("in_progress".to_owned()).unwrap().0, State::InProgress);
        assert!(Word::<State>::try_from("asleep".to_owned()).is_err());
    }

    #[test]
    fn text_loses_only_what_postgresql_refuses() {
        assert_eq!(plain("a\0b\u{200B}c"), "ab\u{200B}c");
        assert!(matches!(plain("abc"), Cow::Borrowed("abc")));
    }
}
