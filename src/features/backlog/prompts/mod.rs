//! The prompts of work and of its review.

pub mod work;
pub mod work_review;
