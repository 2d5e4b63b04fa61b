//! The schedule: which jobs there are, and what fires when.
//!
//! - `jobs`: the jobs of the program, of the file and of people as one list, and what people do to it;
//! - `firing`: one instant of a job becomes a row together with what it does;
//! - `scheduler`: the loop that looks at the clock;
//! - `desk`: `/schedule`; `render`: how jobs read, in chat and at the terminal.
//!
//! # What holds
//!
//! An instant fires at most once, because its row and its effect are written in one transaction and the row's key is job and instant: any
//! number of processes may run this at once, be killed at any point, and have clocks that differ. How far a job was looked through is stored
//! only after its rows, so whoever comes next may look at the same instants again. An instant that comes late was missed, and the job's policy
//! decides ([`crate::domain::schedule::Job::due`]); a clock that jumps ahead is no different from a process that was down. A clock that goes
//! back by more than five minutes makes instants count from there again, and the rows keep what has fired from firing twice.
//!
//! Nothing here carries an action out: a standup or a post is a row of its own by then, and anything else is found as an open firing by
//! whoever does it, who is woken through [`Parts::wake`].

mod desk;
mod firing;
mod jobs;
mod render;
mod scheduler;

use std::sync::Arc;

use tokio::sync::Notify;

use crate::chat::ChatPlatform;
use crate::clock::SharedClock;
use crate::config::ScheduleSettings;
use crate::domain::ids::PersonaSlug;
use crate::domain::meeting::StandupTerms;
use crate::store::Store;

pub use desk::ScheduleDesk;
pub use firing::find_channel;
pub use jobs::{JobStatus, ScheduleError};
pub use render::{describe_firing, render_jobs};

/// What the schedule works with.
pub struct Parts {
    pub settings: ScheduleSettings,
    /// Who says what is posted.
    pub coordinator: PersonaSlug,
    /// On what terms a standup is called.
    pub standup: StandupTerms,
    pub store: Store,
    /// None in a process that is not connected: it knows channels only from the store.
    pub platform: Option<Arc<dyn ChatPlatform>>,
    pub clock: SharedClock,
    /// Told whenever something fired, and at each look at the clock while a firing is open.
    pub wake: Arc<Notify>,
}

/// The team's schedule. Cheap to clone.
#[derive(Clone)]
pub struct Schedule {
    inner: Arc<Inner>,
}

struct Inner {
    parts: Parts,
    /// Told when a person changed the jobs, so that the loop need not find out later.
    changed: Notify,
}

impl Schedule {
    pub fn new(parts: Parts) -> Self {
        Self { inner: Arc::new(Inner { parts, changed: Notify::new() }) }
    }

    fn parts(&self) -> &Parts {
        &self.inner.parts
    }
}
