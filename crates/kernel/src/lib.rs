//! The basis of all features. Independent of features and platforms.

pub mod actor;
pub mod agent;
pub mod catch_panic;
pub mod chat;
pub mod commands;
pub mod config;
pub mod db;
pub mod events;
pub mod feeds;
pub mod figure;
pub mod finding;
pub mod ids;
pub mod jobs;
pub mod llm;
pub mod memory;
pub mod money;
pub mod network;
pub mod people;
pub mod persona;
pub mod program;
pub mod repository;
pub mod testing;
pub mod text;
pub mod time;
pub mod tools;
pub mod wakeup;
pub mod when;

/// For the macro `sql!`, which other packages use.
pub use sqlx;
