//! Durable jobs. One contract suite, told on SQLite, on PostgreSQL, and by two workers on one PostgreSQL.

mod ends;
mod order;
mod retention;
mod stage;
mod steps;
mod times;
