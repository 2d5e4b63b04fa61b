//! The backlog's slash commands, buttons, and command line with and without a running team.

mod buttons;
mod commands;
mod stage;
mod terminal;
