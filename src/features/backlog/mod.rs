//! The backlog: items are planned, run, verified, reviewed and remembered.
//!
//! Items are rows, written in any words and language. The `planner` decides how an item is executed, by whom, and by which criteria it is seen to be
//! done: by rule, by a model, or by one question to a person. The job of a ready item (`jobs`, `running`) lets an `executor` make something and
//! describe it as claims. The `verifier` checks the claims, and `review` grades by the criteria what code cannot: each must be shown by a passage of
//! the result. An item with parts is not carried out itself; it is graded by what they gave. Then the item is done and leaves a `learning` and
//! `artefacts`, which are the `inputs` of items that build on it; `repositories` manages the worktrees of items that change a repository. People are
//! asked by `executor::remind`, `replies` and `answering` take what they answer, and `reminding` reminds them. `announcing` reports items that ended because of
//! another. This feature does not decide what is worth doing. Messages are rows of the outbox.
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
//! | the task changed while it was worked on | entry `told` behind the others, item `ready` with a new job: one transaction | the run goes on and hears it |
//! | something was made | the item's product | verifies it |
//! | it was verified | item and job done, with evidence, artefacts, learning, announcement and its files, released items: one transaction | nothing |
//! | a run waits for a time or another item | item `ready` with a time, the call in the journal without a result | the call is made again then |
//! | the tests of a base were seen to fail | the message in the outbox, with an id of its own | nothing: it is told once |
//! | a person was asked | item `waiting`, its request, the job that reminds, the message: one transaction | sends it, and reminds |
//! | a person was reminded | the request with the number of reminders, the message in the outbox | sends it; the next one comes at its time |
//! | a person replied | the reply is decided on, its answer is in the item's evidence, item `ready` with its job | the run ends with the answer |
//! | it went to review | item `in_review` with its artefacts, the job of the review | asks the grader, or a person |
//! | the grader replied | journal entry `graded` of the run that is judged | resumes after that entry; nothing is passed before the judgement is stored |
//! | it was judged | the review, the item's new state, the end of the job: one transaction | tries again, asks a person, or nothing |
//! | the last part ended | parent `in_review`, the job of its review: one transaction with the end of the part | the parent is graded |
//! | nobody could tell the kind of work | item `waiting`, the job that asks | asks if the message is not in the outbox; the answer leads back to the planner |
//! | a persona did not know | item `ready` with the next one to ask, in a new run | asks that one |
//! | a person is needed | item `waiting`; for a decision or help, the job that asks | asks if the message is not in the outbox, then waits for the answer |
//! | a worktree was begun | its record, maybe a half of it | takes it up from the record, or makes it again; see [`kernel::repository`] |
//! | the change was committed | the commit on the item's branch | commits nothing more, writes the patch again |
//! | an item with a worktree ended | item over, the job of the learnings woken | removes the worktree, and the branch of a cancelled item |
//! | a workspace was moved away because its item ended long ago | a folder that no item has | the next round deletes it |
//! | other items ended because of it | their events, a job that announces them | announces them |
//!
//! What several rejections lead to has a table of its own: [`learning::amendment`].
//!
//! An item whose process died three times in a row, while it ran alone, is set aside for a person. The others continue.

pub mod action;
mod announcing;
mod answering;
mod artefacts;
mod briefing;
pub mod button;
pub mod commands;
mod criticism;
mod executor;
pub(crate) mod expertise;
mod feature;
mod given;
mod handing_on;
mod inputs;
mod item_tools;
mod jobs;
mod judging;
pub mod learning;
pub mod model;
mod named;
mod planner;
pub mod prompts;
mod reminding;
pub mod render;
mod replies;
mod repositories;
mod request;
mod requests;
pub mod review;
mod running;
mod said;
pub mod service;
pub mod settings;
pub mod store;
mod terminal;
pub mod tools;
pub mod verifier;
pub mod workspaces;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use crate::features::backlog::model::{JournalEntry, Owner, WorkItem};
use crate::features::backlog::settings::BacklogSettings;
use crate::store::Store;
pub(crate) use executor::Assignment;
use executor::agent_run::AgentExecutor;
pub use feature::BacklogFeature;
pub use item_tools::ItemTools;
pub(crate) use item_tools::OfferTools;
use kernel::agent::Agents;
use kernel::chat::ChatPlatform;
use kernel::chat::message::Place;
use kernel::chat::store::ChannelSeen;
use kernel::commands::Late;
use kernel::db::StoreError;
use kernel::ids::{ChannelId, PersonaSlug};
use kernel::llm::budget::Budgets;
use kernel::people::People;
use kernel::persona::roster::Roster;
use kernel::repository::Repositories;
use kernel::time::SharedClock;
use kernel::tools::workspace::Workspaces;
use learning::Learnings;
use render::{Announcer, Spot};
use review::ReviewDeps;
use verifier::VerifierDeps;

#[derive(Clone)]
pub struct Deps {
    pub roster: Arc<Roster>,
    pub people: People,
    pub settings: BacklogSettings,
    /// The team's zone, in which people work and read dates.
    pub zone: Tz,
    /// The path of `learnings.md`.
    pub learnings: PathBuf,
    pub store: Store,
    pub agents: Arc<Agents>,
    pub budgets: Budgets,
    pub workspaces: Workspaces,
    pub repositories: Repositories,
    /// Finds channels by name.
    pub platform: Arc<dyn ChatPlatform>,
    /// What another feature adds to the tools of a run.
    pub item_tools: Late<ItemTools>,
    /// The name or id of the channel for operators.
    pub ops_channel: String,
    pub clock: SharedClock,
}

/// Runs the jobs of the backlog. Cheap to clone.
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
                repositories: deps.repositories.clone(),
                zone: deps.zone,
            },
            reviewer: ReviewDeps {
                store: deps.store.clone(),
                agents: agents.clone(),
                workspaces,
                reviewer: deps.settings.reviewer.clone(),
            },
            learnings: Learnings::new(agents, deps.learnings.clone()),
            last_round: Mutex::default(),
            deps,
        };
        Self { inner: Arc::new(inner) }
    }

    /// Gives jobs to items of an earlier version, and plans the new ones. Called once, before jobs are run.
    ///
    /// # Errors
    /// The database is unavailable.
    pub async fn recover(&self) -> Result<(), StoreError> {
        let lost = self.deps().store.enqueue_lost_items(self.deps().clock.now()).await?;
        if lost > 0 {
            tracing::info!(lost, "items without a job have got one");
        }
        self.remove_worktrees().await;
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

    /// Where people are told about an item. What was asked for in a direct conversation is told to who asked for it, and to nobody else.
    async fn find_spot(&self, item: &WorkItem) -> Result<Option<Spot>, StoreError> {
        if item.channel.is_none() && item.private_to.is_some() {
            return Ok(self.deps().store.find_author(item).await?.map(|(author, _)| Spot::Direct(author)));
        }
        Ok(self.find_channel(item).await?.map(Spot::Channel))
    }

    /// As [`Self::find_spot`], for a message to the person who is asked or reminded.
    async fn find_spot_for(&self, item: &WorkItem, whom: Option<&Owner>) -> Result<Option<Spot>, StoreError> {
        match (self.find_spot(item).await?, whom) {
            (Some(Spot::Direct(_)), Some(Owner::Person { id, .. })) => Ok(Some(Spot::Direct(id.clone()))),
            (spot, _) => Ok(spot),
        }
    }

    /// The channel for messages about an item: its own, the one in the settings, that of the last item from a meeting, or that of the operators.
    async fn find_channel(&self, item: &WorkItem) -> Result<Option<ChannelId>, StoreError> {
        if item.channel.is_some() {
            return Ok(item.channel.clone());
        }
        if let Some(name) = &self.deps().settings.channel {
            if let Some(found) = self.resolve_channel(name).await? {
                return Ok(Some(found));
            }
            tracing::warn!(channel = name, "there is no channel of the name in `backlog.channel`");
        }
        match self.deps().store.find_meeting_channel().await? {
            Some(last) => Ok(Some(last)),
            None => self.resolve_channel(&self.deps().ops_channel).await,
        }
    }

    /// A channel of a server by its name or id. Every process knows the channels that messages were seen in, and only the process with the identities
    /// knows the others.
    async fn resolve_channel(&self, name: &str) -> Result<Option<ChannelId>, StoreError> {
        let is_it = |seen: &ChannelSeen| seen.channel.place == Place::Server && seen.channel.is_called(name);
        match self.deps().store.list_channels().await?.into_iter().find(is_it) {
            Some(seen) => Ok(Some(seen.channel.id)),
            None => Ok(self.deps().platform.find_channel(name).await),
        }
    }

    fn deps(&self) -> &Deps {
        &self.inner.deps
    }
}
