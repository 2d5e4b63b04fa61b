//! The backlog: items are planned, run, verified, reviewed and remembered.
//!
//! Items are rows. The `planner` decides how an item is executed and by whom. The job of a ready item (`jobs`, `running`) lets an `executor` make
//! something and describe it as claims. The `verifier` checks the claims, and `review` judges what code cannot. Then the item is done and
//! leaves a `learning`; `announcing` reports items that ended because of it. This feature does not decide what is worth doing. Messages are
//! rows of the outbox.
//!
//! An item names its open job. A change of its status cancels that job and enqueues the one that the new status needs, in one transaction. The jobs of
//! one persona are a queue in the order of ranks, and at most `backlog.parallel` run in all processes.
//!
//! # Crashes
//!
//! | the process dies after | stored state | what follows |
//! | --- | --- | --- |
//! | the item was added | item `new`, the planner's job woken | it is planned |
//! | it was planned | item `ready`, its job | any process runs the job |
//! | its run began | item `in_progress`, its job running | the job is taken back, and another process resumes the run |
//! | the model replied or a tool was called | journal entry | resumes after that entry, so nothing is paid or fetched twice |
//! | a call with effects was started | entry `began` without a result | does not repeat it, and says so |
//! | something was made | the item's product | verifies it |
//! | it was verified | item and job done, with evidence, learning, announcement and released items: one transaction | nothing |
//! | it went to review | item `in_review`, the job of the review | asks the reviewer, or a person |
//! | a persona did not know | item `ready` with the next one to ask, in a new run | asks that one |
//! | a person is needed | item `waiting`; for a decision or help, the job that asks | asks if the message is not in the outbox, then waits for the answer |
//! | others ended with it | their events, a job that announces them | announces them |
//!
//! An item whose process died three times in a row, while it ran alone, is set aside for a person. The others continue.

pub mod action;
mod announcing;
mod briefing;
pub mod button;
pub mod commands;
mod executor;
mod handing_on;
mod jobs;
mod judging;
pub mod learning;
pub mod model;
mod planner;
pub mod prompts;
pub mod render;
pub mod review;
mod running;
pub mod service;
pub mod settings;
pub mod store;
pub mod tools;
pub mod verifier;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{JournalEntry, WorkItem};
use crate::features::backlog::settings::BacklogSettings;
use crate::store::Store;
use executor::agent_run::AgentExecutor;
use kernel::agent::Agents;
use kernel::db::StoreError;
use kernel::ids::{ChannelId, PersonaSlug, UserId};
use kernel::llm::budget::Budgets;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;
use kernel::tools::workspace::Workspaces;
use learning::Learnings;
use render::Announcer;
use review::ReviewDeps;
use verifier::VerifierDeps;

#[derive(Clone)]
pub struct Deps {
    pub roster: Arc<Roster>,
    /// The people of the team, with their names.
    pub people: Vec<(UserId, String)>,
    pub settings: BacklogSettings,
    /// The path of `learnings.md`.
    pub learnings: PathBuf,
    pub store: Store,
    /// None in a standby process: the serving process finds the messages itself.
    pub agents: Arc<Agents>,
    pub budgets: Budgets,
    pub workspaces: Workspaces,
    pub clock: SharedClock,
}

/// What the jobs of the backlog do. Cheap to clone.
#[derive(Clone)]
pub struct Work {
    inner: Arc<Inner>,
}

struct Inner {
    deps: Deps,
    agent_executor: AgentExecutor,
    verifier: VerifierDeps,
    reviewer: ReviewDeps,
    learnings: Learnings,
    /// The last complete round of planning in this process.
    last_round: Mutex<Option<DateTime<Utc>>>,
}

impl Work {
    pub fn new(deps: Deps) -> Self {
        let (agents, workspaces) = (deps.agents.clone(), deps.workspaces.clone());
        let inner = Inner {
            agent_executor: AgentExecutor { store: deps.store.clone(), agents: agents.clone(), workspaces: workspaces.clone() },
            verifier: VerifierDeps {
                store: deps.store.clone(),
                workspaces: workspaces.clone(),
                readings: agents.readings.clone(),
                settings: deps.settings.clone(),
            },
            reviewer: ReviewDeps { agents: agents.clone(), workspaces, reviewer: deps.settings.reviewer.clone() },
            learnings: Learnings::new(agents, deps.learnings.clone()),
            last_round: Mutex::default(),
            deps,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Gives jobs to items of an earlier version, and plans what is there. Called once, before jobs are run.
    ///
    /// # Errors
    /// The database is unavailable.
    pub async fn recover(&self) -> Result<(), StoreError> {
        let lost = self.deps().store.enqueue_lost_items(self.deps().clock.now()).await?;
        if lost > 0 {
            tracing::info!(lost, "items without a job have got one");
        }
        Ok(())
    }

    /// The persona that speaks about an item: the one that executes it.
    fn speaker_of<'a>(&'a self, item: &'a WorkItem) -> &'a PersonaSlug {
        let roster = &self.deps().roster;
        item.persona.as_ref().filter(|slug| roster.find(slug).is_some()).unwrap_or(&roster.coordinator().slug)
    }

    /// The journal of an item's run, without times.
    async fn read_journal(&self, item: &WorkItem) -> Result<Vec<JournalEntry>, StoreError> {
        Ok(self.deps().store.list_journal(&item.id, item.run).await?.into_iter().map(|(entry, _)| entry).collect())
    }

    /// The channel for messages about an item: its own, or that of the last standup.
    async fn find_channel(&self, item: &WorkItem) -> Result<Option<ChannelId>, StoreError> {
        if item.channel.is_some() {
            return Ok(item.channel.clone());
        }
        Ok(self.deps().store.list_reports(1).await?.pop().map(|last| last.report.channel))
    }

    fn deps(&self) -> &Deps {
        &self.inner.deps
    }
}
