//! Reminders, by a team that has no model: asked for, listed, changed and told once, whatever happens to processes and clocks.

mod asking;
mod buttons;
mod clocks;
mod commands;
mod crashes;
mod stage;
mod terminal;
