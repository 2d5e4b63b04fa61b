//! Meetings: coordinated runs of turns with a facilitator and a written result.
//!
//! The `engine` takes an open meeting from step to step: it gives the floor, keeps time, and stores each step before the next. What a kind of
//! meeting says and makes of it is its [`Agenda`], which another feature registers. A meeting is called by a row of the store, whoever writes it:
//! a person's words, a command, a schedule, another process. Nothing here decides who may.
//!
//! # A crash at any step
//!
//! | the process dies after | the row that says so | the next start |
//! | --- | --- | --- |
//! | it was called | meeting `called` | opens it |
//! | it was opened | meeting `running`, seats `waiting`, kickoff in the outbox | gathers the shared page |
//! | the page was gathered | the meeting's material, page in the outbox | gives the first seat the floor |
//! | a turn has begun | seat `speaking` | begins it again, three times at most, then passes it over |
//! | a turn was stored | seat over, its words in the outbox | gives the next seat the floor |
//! | a round was over | all its seats over | asks the agenda for the next round |
//! | a round was opened | its seats `waiting`, with what the agenda keeps | gives its first seat the floor |
//! | somebody paused it | meeting with a pause | waits until it is resumed |
//! | its budget was spent | meeting to be wrapped up, notice in the outbox | begins the closing |
//! | the closing has begun | meeting `closing` | makes the result again, three times at most |
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
use kernel::chat::outbox::Relay;
use kernel::ids::MeetingId;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;
use kernel::wakeup::Wakeup;

use agenda::Agenda;
use listener::MeetingListener;

/// How often rows are looked for that other processes write: the command line, and a process that stands by and fires the schedule. Whatever this
/// process changes wakes the engine up at once.
const OTHERS: Duration = Duration::from_secs(2);

/// What meetings work with.
pub struct Parts {
    /// The kinds of meetings that there are.
    pub agendas: Vec<Arc<dyn Agenda>>,
    pub roster: Arc<Roster>,
    pub store: Store,
    pub platform: Arc<dyn ChatPlatform>,
    pub relay: Relay,
    pub clock: SharedClock,
    pub tasks: TaskTracker,
    /// Woken up by whoever calls, steers or silences a meeting.
    pub wakeup: Wakeup,
    /// Woken up whenever people have had their answers in a channel.
    pub answered: Wakeup,
    /// Cancelled when no new turn may begin.
    pub stop: CancellationToken,
    /// Cancelled when running turns have had their time.
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

    /// Takes up what an earlier process left open, and from then on whatever is called.
    pub fn start(&self) {
        self.parts().tasks.spawn(self.clone().watch());
    }

    /// Recognises what people say to meetings.
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
                // Running meetings look at what other processes did to them, too.
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

    /// None: no feature holds meetings of this kind any more.
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
