use std::path::{Component, Path, PathBuf};

use reqwest::Url;
use serde_json::Value as Json;

use crate::persona::FeedSpec;

/// Why a declared feed cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeedSpecError {
    #[error("there is no kind of feed called \"{kind}\"; there are {known}")]
    UnknownKind { kind: String, known: String },
    #[error("feed \"{feed}\" has no setting \"{key}\"; it takes {allowed}")]
    UnknownKey { feed: String, key: String, allowed: String },
    #[error("feed \"{feed}\": {key} must be {allowed}")]
    Invalid { feed: String, key: &'static str, allowed: String },
}

/// The settings of one feed, read key by key. It remembers what was asked for, so that what nobody asked for is an error.
pub struct Settings<'a> {
    spec: &'a FeedSpec,
    asked: Vec<&'static str>,
}

impl<'a> Settings<'a> {
    pub fn new(spec: &'a FeedSpec) -> Self {
        Self { spec, asked: Vec::new() }
    }

    /// A whole number between `from` and `to`.
    pub fn number(&mut self, key: &'static str, from: u64, to: u64) -> Result<Option<u64>, FeedSpecError> {
        let Some(value) = self.find(key) else { return Ok(None) };
        match value.as_u64() {
            Some(number) if (from..=to).contains(&number) => Ok(Some(number)),
            _ => Err(self.invalid(key, format!("a whole number from {from} to {to}"))),
        }
    }

    /// A folder: absolute, or below `work`. A relative path that climbs out is refused, because it looks as if it stayed inside.
    pub fn folder(&mut self, key: &'static str, work: &Path) -> Result<Option<PathBuf>, FeedSpecError> {
        let Some(value) = self.find(key) else { return Ok(None) };
        match value.as_str().map(Path::new) {
            Some(path) if !path.as_os_str().is_empty() && !path.components().any(|part| part == Component::ParentDir) => {
                Ok(Some(work.join(path)))
            }
            _ => Err(self.invalid(key, "a folder without \"..\", relative to the working directory or absolute".into())),
        }
    }

    /// An address on the web, which must be there.
    pub fn address(&mut self, key: &'static str) -> Result<Url, FeedSpecError> {
        let allowed = "an address that begins with http:// or https://";
        let url = self.parsed(key, allowed, |value| {
            let url = Url::parse(value.as_str()?).ok()?;
            (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
        })?;
        url.ok_or_else(|| self.invalid(key, allowed.into()))
    }

    /// What `parse` makes of the key's value; `allowed` says what it takes.
    pub fn parsed<T>(
        &mut self,
        key: &'static str,
        allowed: &str,
        parse: impl FnOnce(&'a Json) -> Option<T>,
    ) -> Result<Option<T>, FeedSpecError> {
        let Some(value) = self.find(key) else { return Ok(None) };
        parse(value).map(Some).ok_or_else(|| self.invalid(key, allowed.to_owned()))
    }

    /// At least one name with what `parse` makes of its value.
    pub fn named<T>(
        &mut self,
        key: &'static str,
        allowed: &str,
        parse: impl Fn(&'a str, &'a Json) -> Option<T>,
    ) -> Result<Vec<T>, FeedSpecError> {
        let named = self.parsed(key, allowed, |value| value.as_object()?.iter().map(|(name, value)| parse(name, value)).collect())?;
        named.filter(|named: &Vec<T>| !named.is_empty()).ok_or_else(|| self.invalid(key, allowed.to_owned()))
    }

    /// Checks that every key of the declaration was asked for.
    pub fn finish(self) -> Result<(), FeedSpecError> {
        match self.spec.settings.keys().find(|key| !self.asked.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => Err(FeedSpecError::UnknownKey { feed: self.spec.name.clone(), key: key.clone(), allowed: self.asked.join(", ") }),
        }
    }

    fn find(&mut self, key: &'static str) -> Option<&'a Json> {
        self.asked.push(key);
        self.spec.settings.get(key)
    }

    fn invalid(&self, key: &'static str, allowed: String) -> FeedSpecError {
        FeedSpecError::Invalid { feed: self.spec.name.clone(), key, allowed }
    }
}
