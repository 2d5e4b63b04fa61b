//! What the local Discord and the local Slack share. Knows neither protocol and nothing of the team.
//!
//! - `wire`: a listener whose connections can be cut. `faults`: faults for the next few occasions.
//! - `journal`: recorded traffic. `log`: the state file of a server.
//! - `about`: what the page says about the team. `origin`: rejects requests of foreign web pages. `page`: the chat page for people.
//! - `search`: which messages the page's search finds.

mod about;
mod faults;
mod journal;
mod log;
mod origin;
pub mod page;
pub mod search;
mod wire;

pub use about::{About, AboutPersona};
pub use faults::{Counted, take};
pub use journal::{Direction, Journal};
pub use log::{Log, StateError};
pub use origin::reject_foreign_requests;
pub use wire::{CutSwitch, Wire, WireListener};
