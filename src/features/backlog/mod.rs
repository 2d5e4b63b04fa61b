//! The backlog: items are planned, claimed, executed, verified and remembered.
//!
//! Items are rows. The `planner` decides how an item is executed and by whom. A `worker` claims a ready one by lease. An `executor` makes
//! something and describes it as claims. The `verifier` checks the claims, and `review` judges what code cannot. Then the item is done and
//! leaves a `learning`; `announcing` reports items that ended because of it. This feature does not decide what is worth doing. Messages are
//! rows of the outbox.
//!
//! # Crashes
//!
//! | the process dies after | stored state | what the next worker does |
//! | --- | --- | --- |
//! | the item was added | item `new` | plans it |
//! | it was planned | item `ready` | claims it |
//! | it was claimed | item `in_progress`, lease without a heartbeat | reclaims it after 7 s and resumes the run |
//! | the model replied or a tool was called | journal entry | resumes after that entry, so nothing is paid or fetched twice |
//! | a call with effects was started | entry `began` without a result | does not repeat it, and says so |
//! | something was made | the item's product | verifies it |
//! | it was verified | item `done`, with evidence, learning, announcement and released items: one transaction | nothing |
//! | it went to review | item `in_review` | asks the reviewer, or a person |
//! | a person is needed | item `waiting` | asks if the message is not in the outbox, then waits for the answer |
//!
//! An item whose worker died three times is set aside for a person. The others continue.

pub mod action;
mod announcing;
mod briefing;
pub mod button;
pub mod commands;
mod executor;
mod heartbeat;
mod judging;
pub mod learning;
pub mod model;
mod planner;
pub mod prompts;
pub mod render;
pub mod review;
pub mod service;
pub mod settings;
pub mod store;
pub mod tools;
pub mod verifier;
mod worker;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::features::backlog::model::{JournalEntry, WorkItem, WorkerId};
use crate::features::backlog::settings::BacklogSettings;
use crate::features::backlog::store::{ClaimTerms, SeenLease};
use crate::store::Store;
use executor::agent_run::AgentExecutor;
use kernel::agent::Agents;
use kernel::agent::halts::HaltScope;
use kernel::catch_panic::contain;
use kernel::chat::outbox::Relay;
use kernel::db::StoreError;
use kernel::ids::{ChannelId, PersonaSlug, WorkItemId};
use kernel::llm::budget::Budgets;
use kernel::persona::roster::Roster;
use kernel::time::SharedClock;
use kernel::tools::workspace::Workspaces;
use learning::Learnings;
use render::Announcer;
use review::ReviewDeps;
use verifier::VerifierDeps;

/// The polling interval. Changes in this process send a notification; other processes only write rows.
const LOOK: Duration = Duration::from_millis(500);

#[derive(Clone)]
pub struct Parts {
    pub roster: Arc<Roster>,
    pub settings: BacklogSettings,
    /// The path of `learnings.md`.
    pub learnings: PathBuf,
    pub store: Store,
    /// None in a standby process: the serving process finds the messages itself.
    pub relay: Option<Relay>,
    pub agents: Arc<Agents>,
    pub budgets: Budgets,
    pub workspaces: Workspaces,
    pub clock: SharedClock,
    pub tasks: TaskTracker,
    /// Notified when an item may have become ready.
    pub wake: Arc<Notify>,
    /// Cancelled when nothing new may start.
    pub stop: CancellationToken,
    /// Cancelled when running items must end.
    pub kill: CancellationToken,
}

/// The backlog worker of this process. Cheap to clone.
#[derive(Clone)]
pub struct Work {
    inner: Arc<Inner>,
}

struct Inner {
    parts: Parts,
    agent_executor: AgentExecutor,
    verifier: VerifierDeps,
    reviewer: ReviewDeps,
    learnings: Learnings,
    /// A restarted process is a new worker.
    worker: WorkerId,
    /// The items running in this process, with their cancellation tokens.
    running: Mutex<HashMap<WorkItemId, CancellationToken>>,
}

impl Work {
    /// Nothing runs before [`Work::start`].
    pub fn new(parts: Parts) -> Self {
        let (agents, workspaces) = (parts.agents.clone(), parts.workspaces.clone());
        let inner = Inner {
            agent_executor: AgentExecutor { store: parts.store.clone(), agents: agents.clone(), workspaces: workspaces.clone() },
            verifier: VerifierDeps {
                store: parts.store.clone(),
                workspaces: workspaces.clone(),
                readings: agents.readings.clone(),
                settings: parts.settings.clone(),
            },
            reviewer: ReviewDeps { agents: agents.clone(), workspaces, reviewer: parts.settings.reviewer.clone() },
            learnings: Learnings::new(agents, parts.learnings.clone()),
            worker: WorkerId::generate(),
            running: Mutex::default(),
            parts,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Resumes the items of an earlier process, and then works on items as they become ready.
    pub fn start(&self) {
        let tasks = &self.parts().tasks;
        tasks.spawn(self.clone().run_heartbeat());
        tasks.spawn(self.clone().work());
    }

    async fn work(self) {
        let parts = self.parts();
        let mut rounds = planner::Rounds::default();
        // The state at the last round. Reviews and learnings run only after a change.
        let mut seen = None;
        loop {
            let look = async {
                // First, because this is what a finished run notifies about.
                self.claim_ready().await?;
                let whole = self.plan(&mut rounds).await?;
                let mark = parts.store.backlog_mark().await?;
                if let Some(before) = seen.filter(|before| *before != mark) {
                    self.announce_ended_since(before).await?;
                }
                if whole || seen != Some(mark) {
                    self.inner.learnings.keep_up().await;
                    self.judge().await?;
                    seen = Some(mark);
                }
                self.cancel_revoked().await?;
                Ok(())
            };
            if let Err(error) = contain(Box::pin(look)).await {
                tracing::warn!(error = format!("{error:#}"), "cannot look for work");
            }
            tokio::select! {
                () = parts.stop.cancelled() => return,
                () = parts.wake.notified() => {}
                () = parts.clock.sleep(LOOK) => {}
            }
        }
    }

    /// Cancels running items that were cancelled or edited, or whose persona was halted.
    async fn cancel_revoked(&self) -> Result<(), StoreError> {
        if self.running().is_empty() {
            return Ok(());
        }
        let (held, halts) = (self.parts().store.list_leases().await?, self.parts().store.list_halts().await?);
        for (item, cancel) in &*self.running() {
            let own = held.iter().find(|seen| seen.lease.item == *item && seen.lease.worker == self.inner.worker);
            let is_silent = |seen: &SeenLease| {
                halts.iter().any(|halt| match &halt.scope {
                    HaltScope::All => true,
                    HaltScope::Persona(persona) => seen.persona.as_ref() == Some(persona),
                    HaltScope::Channel(_) => false,
                })
            };
            if own.is_none_or(is_silent) {
                cancel.cancel();
            }
        }
        Ok(())
    }

    /// Claims all items that may run, each with its own task.
    async fn claim_ready(&self) -> Result<(), StoreError> {
        let parts = self.parts();
        let terms = ClaimTerms { worker: &self.inner.worker, parallel: parts.settings.parallel };
        while !parts.stop.is_cancelled() {
            let Some(claimed) = parts.store.claim_item(&terms, parts.clock.now()).await? else { return Ok(()) };
            tracing::info!(item = %claimed.item.id, persona = ?claimed.item.persona, token = claimed.lease.token, "a work item was claimed");
            metrics::counter!("teamroom_work_claims_total").increment(1);
            let cancel = parts.kill.child_token();
            self.running().insert(claimed.item.id.clone(), cancel.clone());
            parts.tasks.spawn(self.clone().run_claimed(claimed, cancel));
        }
        Ok(())
    }

    /// Notifies the relay.
    fn wake_relay(&self, channel: Option<&ChannelId>) {
        if let (Some(relay), Some(channel)) = (&self.parts().relay, channel) {
            relay.wake(channel);
        }
    }

    /// The persona that speaks about an item: the one that executes it.
    fn speaker_of<'a>(&'a self, item: &'a WorkItem) -> &'a PersonaSlug {
        let roster = &self.parts().roster;
        item.persona.as_ref().filter(|slug| roster.find(slug).is_some()).unwrap_or(&roster.coordinator().slug)
    }

    /// The journal of an item's run, without times.
    async fn read_journal(&self, item: &WorkItem) -> Result<Vec<JournalEntry>, StoreError> {
        Ok(self.parts().store.list_journal(&item.id, item.run).await?.into_iter().map(|(entry, _)| entry).collect())
    }

    /// The channel for messages about an item: its own, or that of the last standup.
    async fn find_channel(&self, item: &WorkItem) -> Result<Option<ChannelId>, StoreError> {
        if item.channel.is_some() {
            return Ok(item.channel.clone());
        }
        Ok(self.parts().store.list_reports(1).await?.pop().map(|last| last.report.channel))
    }

    fn parts(&self) -> &Parts {
        &self.inner.parts
    }

    fn running(&self) -> MutexGuard<'_, HashMap<WorkItemId, CancellationToken>> {
        self.inner.running.lock().expect("no code panics while it holds the running items")
    }
}
