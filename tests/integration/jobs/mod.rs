//! Durable jobs: one contract suite on SQLite, on PostgreSQL, and with two workers on one PostgreSQL.

mod ends;
mod order;
mod retention;
mod stage;
mod steps;
mod times;
