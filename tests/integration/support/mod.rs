//! Test support: the whole team, a scripted model, databases, real data.

#[path = "../../../crates/local-server/tests/support/browser.rs"]
pub(crate) mod browser;
pub(crate) mod command;
pub(crate) mod database;
#[path = "../../../crates/sandbox/tests/server/descriptions.rs"]
pub(crate) mod descriptions;
pub(crate) mod git;
pub(crate) mod grading;
pub(crate) mod history;
pub(crate) mod items;
pub(crate) mod long;
pub(crate) mod migrated;
pub(crate) mod model;
pub(crate) use model::patience;
pub(crate) mod nobody;
pub(crate) mod nothing;
pub(crate) mod port;
pub(crate) mod postgres;
pub(crate) mod process;
pub(crate) mod requests;
#[path = "../../../crates/local-server/tests/support/skip.rs"]
pub(crate) mod skip;
pub(crate) mod stores;
pub(crate) mod team;
pub(crate) mod time;
pub(crate) mod wire;

/// The workspace's folder.
pub(crate) fn root() -> &'static std::path::Path {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
}
