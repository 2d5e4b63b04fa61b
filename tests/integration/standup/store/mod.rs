//! What is stored of standups.

mod changes;
mod closing;
mod crash;
mod sample;
