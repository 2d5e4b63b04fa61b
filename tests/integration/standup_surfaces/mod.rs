//! The standup's slash commands, and its command line with and without a running team.

mod commands;
mod terminal;
