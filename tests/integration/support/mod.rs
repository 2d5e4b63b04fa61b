//! What the tests work with: the whole team, a scripted model, databases, real data.

pub(crate) mod history;
pub(crate) mod model;
pub(crate) mod postgres;
pub(crate) mod process;
pub(crate) mod skip;
pub(crate) mod team;
