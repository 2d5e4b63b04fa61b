//! Types and rules of standups. Pure.

pub mod checkin;
pub mod health;
pub mod matter;
pub mod page;
pub mod prediction;
pub mod report;
pub mod tension;
