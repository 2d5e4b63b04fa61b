//! Meetings: turns of participants with a facilitator and a written result.
//!
//! The `engine` runs an open meeting step by step, enforces time limits, and stores each step before the next. An [`Agenda`], registered by
//! another feature, defines a kind of meeting. A meeting is called by a row in the database, written by a message, a command, a schedule or
//! another process. Permissions are checked elsewhere.
//!
//! # Crashes
//!
//! | the process dies after | stored state | the next start |
//! | --- | --- | --- |
//! | it was called | meeting `called` | opens it |
//! | it was opened | meeting `running`, seats `waiting`, kickoff in the outbox | prepares the shared page |
//! | the page was prepared | the meeting's material, page in the outbox | starts the first turn |
//! | a turn has started | seat `speaking` | starts it again, three times at most, then skips it |
//! | a turn was stored | seat over, its text in the outbox | starts the next turn |
//! | a round ended | all its seats over | asks the agenda for the next round |
//! | a round was opened | its seats `waiting`, the agenda's payload | starts its first turn |
//! | somebody paused it | meeting with a pause | waits until it is resumed |
//! | its budget was used up | meeting to be ended, notice in the outbox | starts the closing |
//! | the closing has started | meeting `closing` | creates the result again, three times at most |
//! | the result was stored | meeting `done`, report, actions, prediction, all in one transaction | writes the report's file if it is missing |

pub mod agenda;
mod engine;
mod listener;
pub mod model;
pub mod signal;
pub mod store;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::features::chat::listener::Listener;
use crate::features::meeting::model::MeetingKind;
use crate::store::Store;
use kernel::catch_panic::contain;
use kernel::chat::ChatPlatform;
use kernel::ids::MeetingId;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;
use kernel::wakeup::Wakeup;

use agenda::Agenda;
use listener::MeetingListener;

/// The polling interval for changes by other processes: the command line, and a standby process that fires the schedule. Changes in this
/// process send a notification.
const OTHERS: Duration = Duration::from_secs(2);

pub struct Parts {
    /// The kinds of meetings.
    pub agendas: Vec<Arc<dyn Agenda>>,
    pub roster: Arc<Roster>,
    pub store: Store,
    pub platform: Arc<dyn ChatPlatform>,
    pub clock: SharedClock,
    pub tasks: TaskTracker,
    /// Notified when a meeting is called, changed or halted.
    pub wakeup: Wakeup,
    /// Notified when people have been answered in a channel.
    pub answered: Wakeup,
    /// Cancelled when no new turn may start.
    pub stop: CancellationToken,
    /// Cancelled when running turns must end.
    pub kill: CancellationToken,
}

/// All meetings of the team. Cheap to clone.
#[derive(Clone)]
pub struct Meetings {
    inner: Arc<Inner>,
}

struct Inner {
    parts: Parts,
    running: Mutex<HashSet<MeetingId>>,
}

impl Meetings {
    /// Nothing runs before [`Meetings::start`].
    pub fn new(parts: Parts) -> Self {
        Self { inner: Arc::new(Inner { parts, running: Mutex::default() }) }
    }

    /// Resumes open meetings, and then runs new ones.
    pub fn start(&self) {
        self.parts().tasks.spawn(self.clone().watch());
    }

    /// Handles messages for meetings.
    pub fn listener(&self) -> Arc<dyn Listener> {
        let Parts { agendas, roster, store, clock, wakeup, .. } = self.parts();
        Arc::new(MeetingListener {
            agendas: agendas.clone(),
            roster: roster.clone(),
            store: store.clone(),
            clock: clock.clone(),
            wakeup: wakeup.clone(),
        })
    }

    async fn watch(self) {
        let parts = self.parts();
        let mut woken = parts.wakeup.subscribe();
        loop {
            if let Err(error) = contain(Box::pin(self.look())).await {
                tracing::warn!(error = format!("{error:#}"), "cannot look for meetings");
            }
            tokio::select! {
                () = parts.stop.cancelled() => return,
                () = woken.next() => {}
                // Running meetings check for changes by other processes too.
                () = parts.clock.sleep(OTHERS) => parts.wakeup.wake(),
            }
        }
    }

    async fn look(&self) -> anyhow::Result<()> {
        for open in self.parts().store.list_open_meetings().await? {
            if self.running().insert(open.meeting.id.clone()) {
                self.parts().tasks.spawn(self.clone().run(open.meeting.id));
            }
        }
        Ok(())
    }

    /// None if the feature for this kind was removed.
    fn find_agenda(&self, kind: &MeetingKind) -> Option<&Arc<dyn Agenda>> {
        self.parts().agendas.iter().find(|agenda| agenda.kind() == *kind)
    }

    fn parts(&self) -> &Parts {
        &self.inner.parts
    }

    fn running(&self) -> MutexGuard<'_, HashSet<MeetingId>> {
        self.inner.running.lock().expect("no code panics while it holds the running meetings")
    }
}
