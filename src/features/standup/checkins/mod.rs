//! Check-ins: before a scheduled standup, people who want it are asked by direct message for their yesterday, today and blockers (STAND-19).
//!
//! `opting` turns this on and off for a person, `asking` sends the questions, `listener` takes the answers. The standup reads them with its shared
//! page. `late` keeps a report that comes after a standup for the next one. `absences`
//! leaves people alone until they are back.
//!
//! | the process dies | what is stored | what follows |
//! | --- | --- | --- |
//! | before the question is stored | nothing | the next look at the schedule asks, unless the standup has begun |
//! | after it | the check-in, with its question in the outbox | the relay sends it once, unless the standup has begun |
//! | before an answer is decided on | the message in the inbox, or nothing | it is read and taken, unless the standup has begun |
//! | after it | the answer, with its confirmation in the outbox | the relay sends that once |

mod absences;
mod asking;
mod late;
mod listener;
mod opting;

pub(super) use absences::{Part, note_absence};
pub(super) use asking::ask_people;
pub(super) use listener::CheckInListener;
pub(super) use opting::{CHECKIN, ask_button};
