//! The backlog as people reach it: slash commands, buttons, and the terminal beside a team or without one.

mod buttons;
mod commands;
mod stage;
mod terminal;
