//! The outbox: messages on their way to the platform.
//!
//! A flow writes its rows together with its result; the commit wakes the [`Relay`]. Only the relay sends to a platform. It keeps the order within
//! a channel and sends to several channels concurrently. Each row is posted once: a retry has the same nonce, and a row that may have been
//! attempted is read back first once the platform may have forgotten the nonce. An attempt is stored before it is made, unless the row is so
//! young that its nonce would still be known after a crash.
//!
//! The relay is also the last filter for secrets: it redacts every text (CHAT-25).
//!
//! Rows for threads and edits keep their place in the order of the parent channel, so the message they refer to was sent or given up
//! before.

mod delivery;
mod new_rows;
mod relay;
pub mod store;

pub(crate) use new_rows::NewRows;
pub use relay::Relay;
pub use store::{Delivery, OutboxRow};
