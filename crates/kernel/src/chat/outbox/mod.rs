//! The outbox: what the team has decided to say, on its way to the platform.
//!
//! Flows write rows together with their results; the [`Relay`] here is the only code that sends to a platform. It keeps the order within a
//! channel, sends channels side by side, and makes each row appear once from the reader's view: an attempt is stored before it is made,
//! a repetition carries the same nonce, and once the platform may have forgotten the nonce the channel is read back first.
//!
//! Here is also the last net for secrets: whatever flow wrote a row, every text of it is looked through on the way out (CHAT-25).
//!
//! A row waits in the order of its channel also when it belongs into a thread below it or in place of an earlier message: what it refers to was
//! sent before it, or was given up on.

mod delivery;
mod relay;
pub mod store;

pub use relay::Relay;
pub use store::{Delivery, OutboxRow};
