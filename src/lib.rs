pub mod chat;
pub mod clock;
pub mod config;
pub mod domain;
pub mod feeds;
pub mod llm;
pub mod persona;
