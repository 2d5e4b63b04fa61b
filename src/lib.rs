pub mod chat;
pub mod clock;
pub mod config;
pub mod conversation;
pub mod domain;
pub mod llm;
