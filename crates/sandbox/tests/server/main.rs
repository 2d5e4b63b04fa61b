//! Tests of the sandbox over its port, as clients see it.

mod all_operations;
mod any_client;
mod clients;
mod descriptions;
mod faults;
mod fidelity;
mod gateway;
mod harness;
mod interactions;
mod page;
mod persistence;
mod rules;
mod search;
#[path = "../../../local-server/tests/support/mod.rs"]
mod support;
