//! The daily standup.

pub mod render;
