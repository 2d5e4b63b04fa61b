//! The outbox: messages on their way to the platform.
//!
//! A flow writes its rows together with its result; the commit wakes the [`Relay`]. Only the relay sends to a platform. Within a channel it keeps
//! the order of what belongs together ([`order`]), so that an identity in trouble does not hold up the others. Each row is posted once: a retry has
//! the same nonce, and a row that may have been attempted is read back first once the platform may have forgotten the nonce. An attempt is stored
//! before it is made, unless the row is so young that its nonce would still be known after a crash.
//!
//! A row that is refused because of a missing permission is held: later rows do not wait for it, and it is tried again when permissions change, or
//! now and then.
//!
//! The relay is also the last filter for secrets: it redacts every text (CHAT-25).
//!
//! Rows for threads and edits stand in the parent channel's order, behind the message they refer to.

mod delivery;
mod new_rows;
mod order;
mod relay;
pub mod store;
mod thread_name;

pub use relay::{Obstacle, Relay, Undelivered};
pub use store::{Delivery, HeldMessage, LostMessage, OutboxRow};
