//! Board meetings end to end: called, discussed in rounds, steered, and written down.

mod crashes;
mod faults;
mod look_back;
mod meeting;
mod offline;
mod stage;
mod steering;
mod wide;
