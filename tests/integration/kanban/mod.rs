//! The kanban page over HTTP: access, content and live updates.

mod access;
mod browser;
mod health;
mod live;
mod pages;
mod stage;
