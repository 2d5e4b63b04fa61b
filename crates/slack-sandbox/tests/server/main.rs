//! Tests of the sandbox over its port, as clients see it.

mod chat;
mod conversations;
mod faults;
mod files;
mod harness;
mod interactions;
mod limits;
mod people;
mod rules;
mod socket;
mod streams;
mod views;
