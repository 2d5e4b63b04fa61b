//! The prompt of a look back.

use serde::Serialize;

use crate::features::overwatch::model::LookBack;
use kernel::agent::Prompt;
use kernel::agent::context::{Cleaner, new_marker};
use kernel::agent::prompt::Template;

static LOOK: Template = Template::new(include_str!("look.md.j2"));

/// The most bytes of a run's record.
const DIGEST: usize = 14_000;

#[derive(Serialize)]
struct Values<'a> {
    marker: &'a str,
    kind: &'a str,
    role: &'a str,
    digest: String,
    note: &'a str,
}

/// `note` is an addition that depends on the rates of the last looks (OVER-7).
pub(super) fn look(system: String, role: &str, run: &LookBack, note: &str) -> Prompt {
    let marker = new_marker();
    let digest = Cleaner { marker: &marker }.text(&run.digest, DIGEST);
    let message = LOOK.render(Values { marker: &marker, kind: &run.kind, role, digest, note });
    Prompt { system, message, holds_outside: true, remarks: Vec::new() }
}
