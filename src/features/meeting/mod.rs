//! Meetings: turns of participants with a facilitator and a written result.
//!
//! A message, a command, a schedule or another process calls a meeting: one transaction writes its row and its job. The job's run is the `engine`,
//! which takes the meeting step by step, enforces time limits, and stores each step before the next. Each step is stored only while the run holds the
//! job. People change a meeting by writing its rows, and the engine learns of this through the events. An [`Agenda`], registered by another feature,
//! defines a kind of meeting. Permissions are checked elsewhere.
//!
//! # Crashes
//!
//! The job is taken back and runs again, in this process or another one.
//!
//! | the process dies after | stored state | the next run |
//! | --- | --- | --- |
//! | it was called | meeting `called`, its job | opens it |
//! | it was opened | meeting `running`, seats `waiting`, kickoff in the outbox | prepares the shared page |
//! | the page was prepared | the meeting's material, page in the outbox | starts the first turn |
//! | a turn has started | seat `speaking` | starts it again, three times at most, then skips it |
//! | a turn was stored | seat over, its text in the outbox | starts the next turn |
//! | a round ended | all its seats over | asks the agenda for the next round |
//! | a round was opened | its seats `waiting`, the agenda's payload | starts its first turn |
//! | somebody paused it | meeting with a pause | waits until it is resumed |
//! | its budget was used up | meeting to be ended, notice in the outbox | starts the closing |
//! | the closing has started | meeting `closing` | creates the result again, three times at most |
//! | the result was stored | meeting `done`, its job done, report, actions, prediction, all in one transaction | none; the next start writes the report's file if it is missing |
//!
//! A step that is stored counts as progress, so the job is blamed only for a process that dies before the first step of a run: while the meeting is
//! opened, its page is prepared, or a round is planned. After three such crashes, or five failed attempts, the meeting ends with a message. Turns and
//! closings have the limits above.

pub mod agenda;
mod engine;
mod jobs;
mod listener;
pub mod model;
pub mod signal;
pub mod store;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::features::chat::listener::Listener;
use crate::features::meeting::model::{Contribution, Meeting, MeetingKind};
use crate::store::Store;
use kernel::chat::ChatPlatform;
use kernel::chat::outbound::OutboundMessage;
use kernel::ids::MeetingId;
use kernel::jobs::JobHandler;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;

use agenda::Agenda;
use jobs::MeetingHandler;
use listener::MeetingListener;

/// Dependencies of meetings.
pub struct Deps {
    /// The kinds of meetings.
    pub agendas: Vec<Arc<dyn Agenda>>,
    pub roster: Arc<Roster>,
    pub store: Store,
    pub platform: Arc<dyn ChatPlatform>,
    pub clock: SharedClock,
}

/// All meetings of the team. Cheap to clone.
#[derive(Clone)]
pub struct Meetings {
    inner: Arc<Inner>,
}

struct Inner {
    deps: Deps,
    /// Contributions that are not stored yet. They are paid for, so the next run in this process uses them if the database was unavailable.
    unsaved: Mutex<HashMap<SeatKey, Contribution>>,
}

/// A seat: its meeting, round and position.
type SeatKey = (MeetingId, u32, u32);

impl Meetings {
    pub fn new(deps: Deps) -> Self {
        Self { inner: Arc::new(Inner { deps, unsaved: Mutex::default() }) }
    }

    /// Runs the jobs of meetings.
    pub fn job_handler(&self) -> Arc<dyn JobHandler> {
        Arc::new(MeetingHandler { meetings: self.clone() })
    }

    /// Handles messages for meetings.
    pub fn listener(&self) -> Arc<dyn Listener> {
        let Deps { agendas, roster, store, clock, .. } = self.deps();
        Arc::new(MeetingListener { agendas: agendas.clone(), roster: roster.clone(), store: store.clone(), clock: clock.clone() })
    }

    /// None if the feature for this kind was removed.
    fn find_agenda(&self, kind: &MeetingKind) -> Option<&Arc<dyn Agenda>> {
        self.deps().agendas.iter().find(|agenda| agenda.kind() == *kind)
    }

    fn render_failure(&self, meeting: &Meeting, reason: &str) -> Vec<OutboundMessage> {
        self.find_agenda(&meeting.kind).map_or_else(Vec::new, |agenda| agenda.render_failure(meeting, reason))
    }

    fn deps(&self) -> &Deps {
        &self.inner.deps
    }

    fn unsaved(&self) -> MutexGuard<'_, HashMap<SeatKey, Contribution>> {
        self.inner.unsaved.lock().expect("no code panics while it holds the unsaved contributions")
    }
}
