//! The backlog from end to end: the whole team in the sandbox, from what was decided to what is done, proven and remembered.
//!
//! `stage` sets the team up with a `host` of pages and a model that plays parts; the others are stories: of a `day`, of a model that lies
//! (`liar`), of `approvals`, of what runs out or goes away (`limits`), and of `bad_input`.

mod approvals;
mod bad_input;
mod day;
mod host;
mod liar;
mod limits;
mod part;
mod stage;
