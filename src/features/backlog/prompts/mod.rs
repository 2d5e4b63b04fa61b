//! Prompts for work and its review.

pub(crate) mod amendment;
pub(crate) mod answer_check;
pub(crate) mod below_result;
pub(crate) mod critique;
pub(crate) mod open_question;
pub mod work;
pub mod work_review;
