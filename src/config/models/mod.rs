//! `[models]`: which endpoints there are, which model each tier asks, what a token costs.
//!
//! The settings and their defaults stand here, `known` lists providers that need no address, `read` puts together what the operator gave.
//! No endpoint is ever called from here.

mod known;
mod read;

use std::collections::BTreeMap;
use std::time::Duration;

use secrecy::SecretString;

use super::reader::choice;
use crate::domain::persona::Tier;

pub(super) use read::is_web_address;

/// `[models]`: providers, tiers and prices. Without a provider the team runs offline.
#[derive(Debug, Clone)]
pub struct ModelSettings {
    pub providers: Vec<ProviderSettings>,
    /// What each tier tries, in order. A tier that is missing is served by the one below; `t1` is there whenever a provider is.
    pub tiers: BTreeMap<Tier, Vec<ModelRef>>,
    /// By model name. An unlisted model costs nothing and the ledger says so by its zero.
    pub prices: BTreeMap<String, ModelPrice>,
    pub connect_timeout: Duration,
    /// The longest silence of a stream, its start included.
    pub idle_timeout: Duration,
    /// The longest a call may take in all.
    pub total_timeout: Duration,
    /// Attempts per call, the first included.
    pub attempts: u32,
    pub max_output_tokens: u32,
}

/// One endpoint.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    pub name: String,
    pub kind: ProviderKind,
    /// Up to and including the version: `http://127.0.0.1:11434/v1`, `https://api.anthropic.com/v1`.
    pub base_url: String,
    pub key: Option<SecretString>,
    /// Calls in flight at once.
    pub parallel: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderKind {
    OpenAi,
    Anthropic,
}

choice!(ProviderKind { "openai" => Self::OpenAi, "anthropic" => Self::Anthropic });

/// A model of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRef {
    pub provider: String,
    pub model: String,
}

/// Dollars for a million tokens.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct ModelPrice {
    pub input: f64,
    pub cached: f64,
    pub output: f64,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            providers: Vec::new(),
            tiers: BTreeMap::new(),
            prices: BTreeMap::new(),
            connect_timeout: Duration::from_secs(5),
            idle_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_mins(2),
            attempts: 3,
            max_output_tokens: 1500,
        }
    }
}
