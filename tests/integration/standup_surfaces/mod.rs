//! The standup as people reach it: slash commands in a channel, and the terminal beside a team or without one.

mod commands;
mod terminal;
