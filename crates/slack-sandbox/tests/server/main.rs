//! Tests of the sandbox over its port, as clients see it.

#[path = "../../../sandbox/tests/server/support/browser.rs"]
mod browser;
mod chat;
mod clients;
mod conversations;
mod descriptions;
mod faults;
mod fidelity;
mod files;
mod harness;
mod interactions;
mod limits;
mod page;
mod people;
mod people_routes;
mod persistence;
mod rules;
#[path = "../../../sandbox/tests/server/support/skip.rs"]
mod skip;
mod socket;
mod streams;
mod views;

use std::path::Path;

/// The folder of the Cargo workspace.
fn root() -> &'static Path {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.ancestors().find(|folder| folder.join("Cargo.lock").exists()).expect("a workspace has a Cargo.lock")
}
