//! The team on Slack, with a local Slack in its place.

mod away;
mod faults;
mod flood;
mod kills;
mod sessions;
mod stories;
