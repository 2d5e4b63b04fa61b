//! Meetings and their seats. Each step first locks the meeting's row, so that nothing is stored in a meeting that has just ended.

mod effect;
mod events;
mod meetings;
mod seats;

pub use effect::{MeetingChange, MeetingEffect};
pub use events::MEETINGS;
pub use meetings::{Called, OpenMeeting};

pub(crate) use meetings::{cause, close_meeting};
