//! People who are asked, told and reminded, and what they answer.

mod asked;
mod crashes;
mod names;
mod stage;
