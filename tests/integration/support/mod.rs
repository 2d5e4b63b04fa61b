//! What integration tests share.

pub(crate) mod history;
pub(crate) mod skip;
