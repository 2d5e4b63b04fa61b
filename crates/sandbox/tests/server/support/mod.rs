//! Checks for programs that a test needs.

pub(crate) mod browser;
pub(crate) mod skip;

use std::path::Path;

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.ancestors().find(|folder| folder.join("Cargo.lock").exists()).expect("a workspace has a Cargo.lock")
}
