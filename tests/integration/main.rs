//! All integration tests, as one binary: one link instead of twenty.

mod offline;
mod support;
