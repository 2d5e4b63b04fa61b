//! The backlog end to end: the whole team in the sandbox, from a decision to a verified result.
//!
//! `stage` sets up the team with a `host` of pages and a scripted model. The stories: a `day`, a model that lies (`liar`), `approvals`,
//! missing resources (`limits`), questions that nobody can answer (`unknown`), files (`artefacts`), work in a `repository`, `bad_input`, and a `figure` of false completions.

mod approvals;
mod artefacts;
mod bad_input;
mod criteria;
mod day;
mod figure;
mod host;
mod liar;
mod limits;
mod part;
mod private;
mod repository;
mod stage;
mod unknown;
