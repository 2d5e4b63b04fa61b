//! What the tests work with: the whole team, a scripted model, databases, real data.

pub(crate) mod browser;
pub(crate) mod command;
pub(crate) mod database;
pub(crate) mod history;
pub(crate) mod model;
pub(crate) mod nothing;
pub(crate) mod postgres;
pub(crate) mod process;
pub(crate) mod skip;
pub(crate) mod team;
pub(crate) mod time;
pub(crate) mod wire;

/// A number from the environment, for the long forms of tests.
pub(crate) fn number_from(variable: &str) -> Option<u64> {
    std::env::var_os(variable)?.to_str()?.parse().ok()
}
