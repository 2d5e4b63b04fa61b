//! The sandbox as clients see it, over its real port.

mod clients;
mod faults;
pub(crate) mod fidelity;
mod fidelity_tour;
mod gateway;
mod harness;
mod interactions;
mod persistence;
mod rules;
