//! The backlog loop: what was decided is planned, claimed, done, checked and remembered.
//!
//! Items are rows. The `planner` says how an item is carried out and by whom; a `shift` takes one that is ready by a lease and does nothing to it
//! without; an `executor` makes something and says what, the `verifier` holds that against the world, and what code cannot judge goes to
//! `review`. Only then it is done, and leaves a `learning`; what ended with it is for `announcing`. Nothing here decides what is worth doing, and
//! nothing sends: messages are rows of the outbox.
//!
//! # A crash at any step
//!
//! | the process dies after | the row that says so | what the next worker does |
//! | --- | --- | --- |
//! | the item was noted | item `new` | plans it |
//! | it was planned | item `ready` | claims it |
//! | it was claimed | item `in_progress`, lease without a heartbeat | takes it back after 7 s, claims it, goes on with the run |
//! | the model replied, a tool was called | entry of the journal | goes on behind that entry: nothing is paid or fetched twice |
//! | a call that changes something was begun | entry `began` without an end | does not repeat it, and says so |
//! | something was made | the item's product | verifies it |
//! | it was verified | item `done`, with evidence, learning, announcement, what waited for it: one transaction | nothing |
//! | it went to review | item `in_review` | asks the reviewer, a person if there is none |
//! | a person is needed | item `waiting` | asks, if the message is not in the outbox; nothing more until somebody answers |
//!
//! An item whose worker died three times is set aside for a person; the rest goes on.

pub mod action;
mod announcing;
mod briefing;
pub mod button;
pub mod commands;
mod executor;
mod judging;
pub mod learning;
pub mod model;
mod planner;
pub mod prompts;
pub mod render;
pub mod review;
pub mod service;
pub mod settings;
mod shift;
pub mod store;
pub mod tools;
pub mod verifier;
mod vigil;

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
use render::Voice;
use review::ReviewParts;
use verifier::VerifierParts;

/// How often the backlog is looked at. What becomes ready in this process rings and does not wait for this; other processes only write rows.
const LOOK: Duration = Duration::from_millis(500);

/// What the loop works with.
#[derive(Clone)]
pub struct Parts {
    pub roster: Arc<Roster>,
    pub settings: BacklogSettings,
    /// Where `learnings.md` is written.
    pub learnings: PathBuf,
    pub store: Store,
    /// None in a process that stands by: the one that serves finds what is to be sent by itself.
    pub relay: Option<Relay>,
    pub agents: Arc<Agents>,
    pub budgets: Budgets,
    pub workspaces: Workspaces,
    pub clock: SharedClock,
    pub tasks: TaskTracker,
    /// Rung when something may have become ready.
    pub wake: Arc<Notify>,
    /// Cancelled when nothing new may begin.
    pub stop: CancellationToken,
    /// Cancelled when what runs has had its time.
    pub kill: CancellationToken,
}

/// The backlog of the team, as one process works on it. Cheap to clone.
#[derive(Clone)]
pub struct Work {
    inner: Arc<Inner>,
}

struct Inner {
    parts: Parts,
    agent_executor: AgentExecutor,
    verifier: VerifierParts,
    reviewer: ReviewParts,
    learnings: Learnings,
    /// A process that starts anew is another worker.
    worker: WorkerId,
    /// What this process works on, and how to end it.
    running: Mutex<HashMap<WorkItemId, CancellationToken>>,
}

impl Work {
    /// Nothing runs before [`Work::start`].
    pub fn new(parts: Parts) -> Self {
        let (agents, workspaces) = (parts.agents.clone(), parts.workspaces.clone());
        let inner = Inner {
            agent_executor: AgentExecutor { store: parts.store.clone(), agents: agents.clone(), workspaces: workspaces.clone() },
            verifier: VerifierParts {
                store: parts.store.clone(),
                workspaces: workspaces.clone(),
                readings: agents.readings.clone(),
                settings: parts.settings.clone(),
            },
            reviewer: ReviewParts { agents: agents.clone(), workspaces, reviewer: parts.settings.reviewer.clone() },
            learnings: Learnings::new(agents, parts.learnings.clone()),
            worker: WorkerId::generate(),
            running: Mutex::default(),
            parts,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Takes up what an earlier process left, and from then on whatever becomes ready.
    pub fn start(&self) {
        let tasks = &self.parts().tasks;
        tasks.spawn(self.clone().keep_vigil());
        tasks.spawn(self.clone().work());
    }

    async fn work(self) {
        let parts = self.parts();
        let mut rounds = planner::Rounds::default();
        // What stood at the last look; nothing has to be judged or written down that has not moved since.
        let mut seen = None;
        loop {
            let look = async {
                // First, because that is what a run that ended rings for.
                self.take_up().await?;
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
                self.let_go().await?;
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

    /// Ends what this process is not to go on with: items that were cancelled or edited, and those of personas that are to be silent.
    async fn let_go(&self) -> Result<(), StoreError> {
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

    /// Claims whatever may be claimed, each for a shift of its own.
    async fn take_up(&self) -> Result<(), StoreError> {
        let parts = self.parts();
        let terms = ClaimTerms { worker: &self.inner.worker, parallel: parts.settings.parallel };
        while !parts.stop.is_cancelled() {
            let Some(claimed) = parts.store.claim_item(&terms, parts.clock.now()).await? else { return Ok(()) };
            tracing::info!(item = %claimed.item.id, persona = ?claimed.item.persona, token = claimed.lease.token, "a work item was claimed");
            metrics::counter!("teamroom_work_claims_total").increment(1);
            let cancel = parts.kill.child_token();
            self.running().insert(claimed.item.id.clone(), cancel.clone());
            parts.tasks.spawn(self.clone().hold_shift(claimed, cancel));
        }
        Ok(())
    }

    /// Tells the relay that there is something to send.
    fn send_soon(&self, channel: Option<&ChannelId>) {
        if let (Some(relay), Some(channel)) = (&self.parts().relay, channel) {
            relay.wake(channel);
        }
    }

    /// Who speaks of an item: the persona that carries it out.
    fn speaker_of<'a>(&'a self, item: &'a WorkItem) -> &'a PersonaSlug {
        let roster = &self.parts().roster;
        item.persona.as_ref().filter(|slug| roster.find(slug).is_some()).unwrap_or(&roster.coordinator().slug)
    }

    /// The journal of an item's run, without its times.
    async fn read_journal(&self, item: &WorkItem) -> Result<Vec<JournalEntry>, StoreError> {
        Ok(self.parts().store.list_journal(&item.id, item.run).await?.into_iter().map(|(entry, _)| entry).collect())
    }

    /// Where people hear of an item: its own channel, or that of the last standup.
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
