//! The whole team.

mod bad_input;
mod changes;
mod command_line;
mod commands;
mod company;
mod crashes;
mod files;
mod kills;
mod load;
mod loops;
mod models;
mod places;
mod processes;
mod talk;
mod time;
pub(crate) mod trace;
mod turn_crashes;
