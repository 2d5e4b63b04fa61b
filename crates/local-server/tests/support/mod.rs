//! Programs that a test needs: a browser, clients in other languages. The tests of both local servers include this folder. The tests of the team
//! include some of its files.

pub(crate) mod browser;
pub(crate) mod clients;
pub(crate) mod patience;
pub(crate) mod skip;

use std::path::Path;

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.ancestors().find(|folder| folder.join("Cargo.lock").exists()).expect("a workspace has a Cargo.lock")
}
