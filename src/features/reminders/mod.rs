//! What a reminder is and how people ask for one: "remind me tomorrow at 9 to pay the hosting bill". Nothing tells reminders yet.

pub mod model;
pub mod request;
pub mod when;
