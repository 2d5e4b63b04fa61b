//! The schedule: which jobs there are, and what fires when.
//!
//! - `jobs`: the jobs of the program, of the file and of people as one list, and what people do to it;
//! - `firing`: one instant of a job becomes a row together with what it does;
//! - `carry_out`: the handler of the jobs that carry out what stays open;
//! - `scheduler`: the loop that looks at the clock;
//! - `commands`: `/schedule`; `render`: how jobs read.
//!
//! # What holds
//!
//! An instant fires at most once, because its row and its effect are written in one transaction and the row's key is job and instant: any
//! number of processes may run this at once, be killed at any point, and have clocks that differ. How far a job was looked through is stored
//! only after its rows, so whoever comes next may look at the same instants again. An instant that comes late was missed, and the job's policy
//! decides ([`crate::features::schedule::model::Job::due`]); a clock that jumps ahead is no different from a process that was down. A clock that goes
//! back by more than five minutes makes instants count from there again, and the rows keep what has fired from firing twice.
//!
//! What a scheduled job does is an [`Action`] of another feature, except for posts. It is either written in the transaction of the firing, or the
//! firing stays open and a durable job carries it out in the process that serves.
//!
//! | the process dies | what is there | what follows |
//! | --- | --- | --- |
//! | before the transaction of the firing commits | nothing, and the mark is where it was | the instant is looked at again |
//! | after it | an open firing and its job | the job runs |
//! | within the action | the same | the job runs again |
//! | before the last transaction of the job commits | the same, and what the action stored itself | the job runs again |
//! | after it | the firing has ended, with what is to be posted | nothing |

pub mod action;
mod carry_out;
pub mod commands;
mod firing;
mod jobs;
pub mod model;
mod render;
mod scheduler;
pub mod settings;
pub mod store;

use std::sync::Arc;

use tokio::sync::Notify;

use crate::features::schedule::model::Actions;
use crate::features::schedule::settings::ScheduleSettings;
use crate::store::Store;
use kernel::chat::ChatPlatform;
use kernel::chat::outbox::Relay;
use kernel::ids::PersonaSlug;
use kernel::jobs::JobHandler;
use kernel::time::SharedClock;

use action::Action;
use carry_out::CarryOut;
pub use firing::find_channel;
pub use jobs::{JobStatus, ScheduleError};
pub use render::{describe_firing, render_jobs};

/// What the schedule works with.
pub struct Parts {
    pub settings: ScheduleSettings,
    /// Who says what is posted.
    pub coordinator: PersonaSlug,
    /// What jobs can do, besides posts.
    pub actions: Vec<Arc<dyn Action>>,
    pub store: Store,
    /// None in a process that is not connected: it knows channels only from the store.
    pub platform: Option<Arc<dyn ChatPlatform>>,
    pub clock: SharedClock,
}

/// The team's schedule. Cheap to clone.
#[derive(Clone)]
pub struct Schedule {
    inner: Arc<Inner>,
}

struct Inner {
    parts: Parts,
    kinds: Actions,
    /// Told when a person changed the jobs, so that the loop need not find out later.
    changed: Notify,
}

impl Schedule {
    pub fn new(parts: Parts) -> Self {
        let kinds = Actions::of(parts.actions.iter().map(|action| action.kind()));
        Self { inner: Arc::new(Inner { parts, kinds, changed: Notify::new() }) }
    }

    /// What jobs can do, for help and completion.
    pub fn actions(&self) -> &Actions {
        &self.inner.kinds
    }

    /// Runs the jobs that carry out what has fired.
    pub fn job_handler(&self, relay: Relay) -> Arc<dyn JobHandler> {
        Arc::new(CarryOut { actions: self.parts().actions.clone(), relay })
    }

    fn parts(&self) -> &Parts {
        &self.inner.parts
    }
}
