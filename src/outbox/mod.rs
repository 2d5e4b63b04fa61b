//! The outbox: what the team has decided to say, on its way to the platform.
//!
//! Flows write rows together with their results; the [`Relay`] here is the only code that sends to a platform. It keeps the order within a
//! channel, sends channels side by side, and makes each row appear once from the reader's view: an attempt is stored before it is made,
//! a repetition carries the same nonce, and once the platform may have forgotten the nonce the channel is read back first.

mod relay;

pub use relay::Relay;
