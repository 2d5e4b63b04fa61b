//! The schedule: the scheduled jobs, and when they fire.
//!
//! - `jobs`: the jobs of the program, the file and people as one list, and the changes that people make;
//! - `firing`: stores one instant of a job as a row together with its effect;
//! - `carry_out`: the handler of the jobs that carry out open firings;
//! - `scheduler`: the loop that checks the clock;
//! - `commands`: `/schedule`; `render`: how jobs are shown.
//!
//! # Guarantees
//!
//! An instant fires at most once, because its row and its effect are written in one transaction and the row's key is job and instant. Any number of
//! processes may run this at once, be killed at any point, and have different clocks. The mark of a job is stored only after its rows, so the next
//! process may check the same instants again. A late instant counts as missed, and the job's policy decides
//! ([`crate::features::schedule::model::Job::due`]). A clock that jumps ahead has the same effect as a process that was down. After a clock is set
//! back by more than five minutes, instants count from the new time, and the rows prevent a second firing.
//!
//! The work of a scheduled job is an [`Action`] of another feature, except for posts. It is either written in the transaction of the firing, or the
//! firing stays open and a durable job carries it out in the serving process.
//!
//! | the process dies | what is stored | what follows |
//! | --- | --- | --- |
//! | before the transaction of the firing commits | nothing, and the old mark | the instant is checked again |
//! | after it | an open firing and its job | the job runs |
//! | within the action | the same | the job runs again |
//! | before the last transaction of the job commits | the same, and the rows that the action stored itself | the job runs again |
//! | after it | the firing has ended, with its posts in the outbox | nothing |

pub mod action;
mod carry_out;
pub mod commands;
mod feature;
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
use kernel::ids::PersonaSlug;
use kernel::jobs::JobHandler;
use kernel::time::SharedClock;
use kernel::tools::Act;

use action::Action;
use carry_out::CarryOut;
pub use feature::ScheduleFeature;
pub use firing::{find_channel, find_place, get_channel};
pub use jobs::{JobStatus, PlannedJob, ScheduleError};
pub use render::{describe_firing, render_jobs};

/// What an answer of a persona must not claim: only the command and the configuration change the schedule.
pub const SCHEDULING: Act = Act {
    name: "schedule",
    claim: "something was or will be scheduled, planned for a time or put into a calendar",
    done_by: &["schedule", "remind", "reminder_set"],
    correction: "Correction: nothing was scheduled. `/schedule add` does that.",
};

/// Dependencies of the schedule.
pub struct Deps {
    pub settings: ScheduleSettings,
    /// The persona that posts.
    pub coordinator: PersonaSlug,
    /// The actions that jobs can have, besides posts.
    pub actions: Vec<Arc<dyn Action>>,
    pub store: Store,
    /// None in a process without a connection. It knows channels only from the database.
    pub platform: Option<Arc<dyn ChatPlatform>>,
    pub clock: SharedClock,
}

/// The team's schedule. Cheap to clone.
#[derive(Clone)]
pub struct Schedule {
    inner: Arc<Inner>,
}

struct Inner {
    deps: Deps,
    kinds: Actions,
    /// Notified when a person changes the jobs, so that the loop reacts at once.
    changed: Notify,
}

impl Schedule {
    pub fn new(deps: Deps) -> Self {
        let kinds = Actions::of(deps.actions.iter().map(|action| action.kind()));
        Self { inner: Arc::new(Inner { deps, kinds, changed: Notify::new() }) }
    }

    /// The actions that jobs can have, for help and completion.
    pub fn actions(&self) -> &Actions {
        &self.inner.kinds
    }

    /// The handler of the jobs that carry out open firings.
    pub fn job_handler(&self) -> Arc<dyn JobHandler> {
        Arc::new(CarryOut { actions: self.deps().actions.clone(), clock: self.deps().clock.clone() })
    }

    fn deps(&self) -> &Deps {
        &self.inner.deps
    }
}
