//! Missions end to end: a document is dropped, planned, worked off by the team, and delivered.

mod budget;
mod cancelling;
mod changes;
mod coding;
mod colleagues;
mod crashes;
mod critique;
mod delivery;
mod fabrication;
mod late;
mod look_back;
mod new_personas;
mod people;
mod questions;
mod setbacks;
pub(crate) mod stage;
mod wide;
