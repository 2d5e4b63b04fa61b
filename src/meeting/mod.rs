//! Meetings: coordinated runs of turns with a facilitator and a written result.
//!
//! The `engine` takes an open meeting from step to step: it gives the floor, keeps time, and stores each step before the next. What a kind of
//! meeting says and makes of it is its [`Agenda`]; the [`standup`] is the first. A meeting is called by a row of the store, whoever writes it:
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
//! | the closing has begun | meeting `closing` | makes the result again, three times at most |
//! | the result was stored | meeting `done`, report, actions, prediction, all in one transaction | writes the report's file if it is missing |

mod agenda;
mod engine;
pub mod standup;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::chat::ChatPlatform;
use crate::chat::command::Department;
use crate::clock::SharedClock;
use crate::config::StandupSettings;
use crate::containment::contain;
use crate::domain::ids::MeetingId;
use crate::domain::meeting::{Meeting, MeetingKind, StandupTerms};
use crate::domain::roster::Roster;
use crate::outbox::Relay;
use crate::persona::turn::Performer;
use crate::store::Store;

use agenda::Agenda;
use standup::Standup;

/// How often open meetings are looked for. Those called in this process are announced and do not wait for this; other processes only write rows.
const LOOK: Duration = Duration::from_millis(500);

/// What meetings work with.
#[derive(Clone)]
pub struct Parts {
    pub roster: Arc<Roster>,
    pub standup: StandupSettings,
    /// On what terms a standup is called.
    pub terms: StandupTerms,
    /// Where Day Reports are written as files.
    pub reports: PathBuf,
    pub store: Store,
    pub platform: Arc<dyn ChatPlatform>,
    pub relay: Relay,
    pub performer: Arc<Performer>,
    pub clock: SharedClock,
    pub tasks: TaskTracker,
    /// Rung when a meeting was called, steered or silenced, or when a prediction may be due.
    pub called: Arc<Notify>,
    /// Rung when a meeting has left something to be worked off.
    pub backlog: Arc<Notify>,
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
    standup: Arc<Standup>,
    running: Mutex<HashSet<MeetingId>>,
    /// Told when the schedule may have fired something.
    fired: Notify,
    /// Told at each look, so that running meetings see what was done to them.
    looked: watch::Sender<()>,
}

impl Meetings {
    /// Nothing runs before [`Meetings::start`].
    pub fn new(parts: Parts) -> Self {
        let standup = Arc::new(Standup::new(parts.clone()));
        let inner = Inner { parts, standup, running: Mutex::default(), fired: Notify::new(), looked: watch::Sender::new(()) };
        Self { inner: Arc::new(inner) }
    }

    /// Takes up what an earlier process left open, and from then on whatever is called.
    pub fn start(&self) {
        self.parts().tasks.spawn(self.clone().watch());
        self.parts().tasks.spawn(self.clone().do_jobs());
    }

    /// What answers commands about standups.
    pub fn desk(&self) -> Arc<dyn Department> {
        self.inner.standup.clone()
    }

    async fn watch(self) {
        let parts = self.parts();
        loop {
            if let Err(error) = contain(Box::pin(self.look())).await {
                tracing::warn!(error = format!("{error:#}"), "cannot look for meetings");
            }
            tokio::select! {
                () = parts.stop.cancelled() => return,
                () = parts.called.notified() => self.inner.fired.notify_one(),
                () = parts.clock.sleep(LOOK) => {}
            }
        }
    }

    /// Does what the schedule asks for. Beside the meetings, since a feed that hangs would keep them waiting.
    async fn do_jobs(self) {
        let standup = &self.inner.standup;
        let first = async {
            standup.write_missing_file().await;
            Ok(())
        };
        if let Err(error) = contain(first).await {
            tracing::error!(error = format!("{error:#}"), "missing reports could not be written");
        }
        loop {
            tokio::select! {
                () = self.parts().stop.cancelled() => return,
                () = self.inner.fired.notified() => {}
            }
            let jobs = async {
                standup.take_up_jobs().await;
                Ok(())
            };
            if let Err(error) = contain(Box::pin(jobs)).await {
                tracing::error!(error = format!("{error:#}"), "a job of the standup broke off");
            }
        }
    }

    async fn look(&self) -> anyhow::Result<()> {
        for open in self.parts().store.list_open_meetings().await? {
            if self.running().insert(open.meeting.id.clone()) {
                self.parts().tasks.spawn(self.clone().run(open.meeting.id));
            }
        }
        self.inner.looked.send_replace(());
        Ok(())
    }

    fn agenda(&self, meeting: &Meeting) -> &dyn Agenda {
        match meeting.kind {
            MeetingKind::Standup => &*self.inner.standup,
        }
    }

    fn parts(&self) -> &Parts {
        &self.inner.parts
    }

    fn running(&self) -> MutexGuard<'_, HashSet<MeetingId>> {
        self.inner.running.lock().expect("no code panics while it holds the running meetings")
    }
}
