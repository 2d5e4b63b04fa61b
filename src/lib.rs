pub mod chat;
pub mod clock;
pub mod config;
pub mod discord;
pub mod domain;
pub mod llm;
pub mod sandbox;
