use std::path::{Component, Path, PathBuf};

use reqwest::Url;
use serde_json::Value as Json;

use crate::persona::FeedSpec;

/// Why a declared feed cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FeedSpecError {
    #[error("there is no feed kind \"{kind}\". Available: {known}")]
    UnknownKind { kind: String, known: String },
    #[error("feed \"{feed}\" has no setting \"{key}\". Available: {allowed}")]
    UnknownKey { feed: String, key: String, allowed: String },
    #[error("feed \"{feed}\": {key} must be {allowed}")]
    Invalid { feed: String, key: &'static str, allowed: String },
}

/// The settings of one feed, read key by key. Keys that were never read are reported as errors.
pub struct Settings<'a> {
    spec: &'a FeedSpec,
    asked: Vec<&'static str>,
}

impl<'a> Settings<'a> {
    pub fn new(spec: &'a FeedSpec) -> Self {
        Self { spec, asked: Vec::new() }
    }

    /// An integer between `from` and `to`.
    pub fn number(&mut self, key: &'static str, from: u64, to: u64) -> Result<Option<u64>, FeedSpecError> {
        let Some(value) = self.find(key) else { return Ok(None) };
        match value.as_u64() {
            Some(number) if (from..=to).contains(&number) => Ok(Some(number)),
            _ => Err(self.invalid(key, format!("a whole number from {from} to {to}"))),
        }
    }

    /// A folder: absolute, or relative to `work`. A relative path with `..` that leaves `work` is refused, because it looks as if it stayed
    /// inside.
    pub fn folder(&mut self, key: &'static str, work: &Path) -> Result<Option<PathBuf>, FeedSpecError> {
        let Some(value) = self.find(key) else { return Ok(None) };
        match value.as_str().map(Path::new) {
            Some(path) if !path.as_os_str().is_empty() && !path.components().any(|part| part == Component::ParentDir) => {
                Ok(Some(work.join(path)))
            }
            _ => Err(self.invalid(key, "a folder without \"..\", relative to the working directory or absolute".into())),
        }
    }

    /// A required web address.
    pub fn address(&mut self, key: &'static str) -> Result<Url, FeedSpecError> {
        let allowed = "an address that begins with http:// or https://";
        let url = self.parsed(key, allowed, |value| {
            let url = Url::parse(value.as_str()?).ok()?;
            (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
        })?;
        url.ok_or_else(|| self.invalid(key, allowed.into()))
    }

    /// A required key's value, converted by `parse`. `allowed` describes valid values.
    pub fn required<T>(&mut self, key: &'static str, allowed: &str, parse: impl FnOnce(&'a Json) -> Option<T>) -> Result<T, FeedSpecError> {
        self.parsed(key, allowed, parse)?.ok_or_else(|| self.refuse(key, allowed))
    }

    /// The error for a key.
    pub fn refuse(&self, key: &'static str, allowed: &str) -> FeedSpecError {
        self.invalid(key, allowed.to_owned())
    }

    /// A key's value, converted by `parse`. `allowed` describes valid values.
    pub fn parsed<T>(
        &mut self,
        key: &'static str,
        allowed: &str,
        parse: impl FnOnce(&'a Json) -> Option<T>,
    ) -> Result<Option<T>, FeedSpecError> {
        let Some(value) = self.find(key) else { return Ok(None) };
        parse(value).map(Some).ok_or_else(|| self.invalid(key, allowed.to_owned()))
    }

    /// A table with at least one name, its values converted by `parse`.
    pub fn named<T>(
        &mut self,
        key: &'static str,
        allowed: &str,
        parse: impl Fn(&'a str, &'a Json) -> Option<T>,
    ) -> Result<Vec<T>, FeedSpecError> {
        let named = self.parsed(key, allowed, |value| value.as_object()?.iter().map(|(name, value)| parse(name, value)).collect())?;
        named.filter(|named: &Vec<T>| !named.is_empty()).ok_or_else(|| self.invalid(key, allowed.to_owned()))
    }

    /// Checks for unknown keys.
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
