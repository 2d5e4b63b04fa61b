//! The backlog end to end: the whole team in the sandbox, from a decision to a verified result.
//!
//! `stage` sets up the team with a `host` of pages and a scripted model. The stories: a model that lies (`liar`), `approvals`, how similar items were done (`approaches`), what rejections lead to (`amendments`),
//! missing resources (`limits`), questions that nobody can answer (`unknown`), files (`artefacts`), work in a `repository`, `bad_input`, how a task reaches its worker (`whole_task`), what items wait for (`waits`), and a `figure` of false completions.

mod amendments;
mod approaches;
mod approvals;
mod artefacts;
mod bad_input;
mod criteria;
mod criticism;
mod elsewhere;
mod figure;
pub(crate) mod host;
mod liar;
pub(crate) mod limits;
pub(crate) mod part;
mod private;
mod repository;
mod reviewers;
pub(crate) mod stage;
mod stopped;
mod told;
mod unknown;
mod waits;
mod whole_task;
