//! The outbox: messages on their way to the platform.
//!
//! A flow writes its rows together with its result. Only the [`Relay`] sends to a platform. It keeps the order within a channel and sends
//! to several channels concurrently. Each row is posted once: an attempt is stored before it is made, a retry has the same nonce, and once
//! the platform may have forgotten the nonce, the channel is read back first.
//!
//! The relay is also the last filter for secrets: it redacts every text (CHAT-25).
//!
//! Rows for threads and edits keep their place in the order of the parent channel, so the message they refer to was sent or given up
//! before.

mod delivery;
mod relay;
pub mod store;

pub use relay::Relay;
pub use store::{Delivery, OutboxRow};
