//! The kanban page over HTTP: access, content and live updates.

mod access;
mod acts;
mod browser;
mod health;
mod live;
mod missions;
mod pages;
mod stage;
