//! The whole team.

mod bad_input;
mod command_line;
mod commands;
mod crashes;
mod load;
mod loops;
mod models;
mod places;
mod talk;
mod time;
