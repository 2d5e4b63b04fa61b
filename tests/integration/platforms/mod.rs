//! The stories that run on several platforms: Discord, Slack, and one in memory that is unlike both.

pub(crate) mod both;
mod corner;
mod room;
pub(crate) mod slack;
mod small;
mod talk;
mod work;
