//! What tests stand on: servers of the outside world that do as they are told.

pub(crate) mod model;
