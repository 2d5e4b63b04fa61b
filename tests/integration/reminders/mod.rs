//! Reminders, most of them of a team without a model. People ask for them, list and change them. Each is told once, whatever happens to processes and clocks.

mod asking;
mod buttons;
mod clocks;
mod commands;
mod crashes;
mod gone;
mod model;
mod stage;
mod terminal;
