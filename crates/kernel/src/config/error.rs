use std::fmt;

/// An error in the configuration. Never contains a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {key}: {problem}")]
pub struct ConfigError {
    /// `teamroom.toml:12`, `environment or .env`, `command line`.
    pub place: String,
    /// The key or variable as the operator wrote it.
    pub key: String,
    /// The problem and the allowed values.
    pub problem: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            1 => f.write_str("the configuration has an error:")?,
            count => write!(f, "the configuration has {count} errors:")?,
        }
        self.0.iter().try_for_each(|error| write!(f, "\n  {error}"))
    }
}

impl std::error::Error for ConfigErrors {}
