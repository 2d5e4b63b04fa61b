//! The backlog with killed, frozen and concurrent processes: each item is done once, with evidence, and none is stuck.

mod boundaries;
mod crew;
mod crowd;
mod outage;
mod people;
mod poison;
mod recovery;
mod stage;
mod wall;
mod wholes;
