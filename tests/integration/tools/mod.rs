//! Tools, called like in a run.

mod joins;
mod local;
mod local_command;
mod local_disk;
mod local_git;
mod local_store;
mod needed;
mod repository;
mod web;
