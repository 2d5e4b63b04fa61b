//! All integration tests, in one binary: one link, one PostgreSQL server.

mod store;
mod support;
