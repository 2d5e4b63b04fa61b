pub mod chat;
pub mod clock;
pub mod config;
pub mod domain;
pub mod llm;
pub mod store;
