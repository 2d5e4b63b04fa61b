//! Meetings are heard, and voice messages understood.

mod crashes;
mod faults;
mod hearing;
mod local;
mod playing;
mod stage;
