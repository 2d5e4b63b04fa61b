//! Prompts for work and its review.

pub mod work;
pub mod work_review;
