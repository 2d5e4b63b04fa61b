//! Meetings and their seats. Methods of [`Store`](crate::store::Store) store the changes by people, and [`MeetingRun`] the steps of the engine. Each
//! change first locks the meeting's row, so that nothing is stored in a meeting that has just ended. A step locks its job before that.

mod effect;
mod events;
mod meetings;
mod run;
mod seats;

pub use effect::{Effects, MeetingChange};
pub use events::MEETINGS;
pub use meetings::{Called, OpenMeeting};
pub use run::{MeetingRun, RUN, fail_meeting};

pub(crate) use meetings::{ask_wrap, insert_meeting};
pub(crate) use seats::{key_of, name_of, read_participant, skip_waiting};

pub use meetings::cause;
