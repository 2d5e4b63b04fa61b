//! The board of the backlog over real HTTP: who may see it, what it shows, and that it keeps up.

mod access;
mod browser;
mod health;
mod live;
mod pages;
mod stage;
