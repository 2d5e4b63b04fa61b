//! Board meetings end to end: called, discussed in rounds, steered, and written down.

mod corrections;
mod crashes;
mod experts;
mod faults;
mod look_back;
mod meeting;
mod offline;
mod relationships;
mod sides;
mod sources;
mod stage;
mod standstill;
mod steering;
mod wide;

pub(crate) use stage::begin_at_once;
