pub mod chat;
pub mod cli;
pub mod clock;
pub mod config;
pub mod domain;
pub mod llm;
pub mod persona;
