//! Tests of the sandbox over its port, as clients see it.

mod chat;
mod clients;
mod conversations;
mod descriptions;
mod faults;
mod fidelity;
mod files;
mod harness;
mod interactions;
mod limits;
mod page;
mod people;
mod people_routes;
mod persistence;
mod rules;
mod socket;
mod streams;
#[path = "../../../local-server/tests/support/mod.rs"]
mod support;
mod views;
