//! The whole team.

mod act_crashes;
mod acts;
mod bad_input;
mod changes;
mod claims;
mod command_line;
mod commands;
mod company;
mod crashes;
mod endpoints;
mod files;
mod kills;
mod load;
mod loops;
mod models;
mod places;
mod processes;
mod reconnects;
mod rooms;
mod seen;
mod soak;
mod talk;
mod time;
pub(crate) mod trace;
mod trouble;
mod turn_crashes;
mod unsure;
