//! All integration tests in one binary: one link, one PostgreSQL server.

mod llm;
mod offline;
mod sandbox;
mod store;
mod support;
mod team;
