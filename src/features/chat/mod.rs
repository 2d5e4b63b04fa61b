//! Chat: from an incoming message to the rows that answer it.
//!
//! The [`rules`] are pure and decide who speaks. The [`Conversation`] uses them: it claims each message once (`intake`), runs one task per channel
//! that decides in arrival order (`channel`), applies halts, and answers commands (`commands`). It writes its decisions as rows, among them a job for
//! each turn (`jobs`). It never sends to a platform itself.
//!
//! # A crash at any step
//!
//! | the process dies after | the row that says so | the next start |
//! | --- | --- | --- |
//! | the message was received | the channel's mark of what was heard without a gap | fetches what came after it |
//! | it was claimed | inbox, not decided on | decides |
//! | an edit called a persona, or came while the answer was being made, and its decision was taken back | inbox, not decided on | decides |
//! | it was decided | inbox with its decision; turns `queued`, each with a job that is `ready` | runs the jobs |
//! | a turn has begun | the job `running`, its holder silent | takes it back and runs it again; if it killed its process three times alone, the person is told |
//! | the answer was stored | turn `answered`, job `done`, outbox `pending`; turns of agents that follow, `queued` with their jobs | sends it; no model is called again |
//! | a stop was heard | the halt; turns and jobs `cancelled` | keeps silent, and holds the items and meetings of the channel |
//! | a call of a tool was made for a turn | the steps of its job | goes on behind it; no call is made twice |
//! | a person is asked to allow a call | approval `asked`, its buttons in the outbox | waits for the person |
//! | a person allowed it | approval `allowed` with a job | makes the call and says so |
//! | a command was said | inbox with its decision; its job | carries it out |
//! | it was begun | the step `begun` of its job | says that it was interrupted |
//! | it was sent | outbox `pending` | sends with the same nonce, or reads back first |
//! | an ask was put | ask `asked`; its turn open, unless a command asked | the turn asks again; the ask of a command expires |
//! | an ask has expired | ask `expired`, the job `ask.late` | any process asks again and delivers |
//! | the late answer was stored | the same, with the answer as a step of the job | posts it; no model is called again |

pub mod approvals;
mod channel;
pub mod classify;
pub mod commands;
mod feature;
mod intake;
mod jobs;
pub mod listener;
pub mod model;
mod retry;
pub mod rules;
pub mod settings;
pub mod store;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::features::chat::settings::{ChatSettings, GuardLimits};
use crate::features::chat::store::CancelScope;
use crate::store::Store;
use kernel::agent::Agents;
use kernel::agent::halts::Halts;
use kernel::catch_panic::catch_panic;
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::chat::{ChatPlatform, PlatformEvent};
use kernel::db::StoreError;
use kernel::ids::{AskId, ChannelId, MessageId, PersonaSlug, TurnId};
use kernel::people::Seen;
use kernel::persona::roster::{Accounts, Roster};
use kernel::time::SharedClock;

use channel::{Asked, ChannelQueue};
pub use feature::ChatFeature;
use intake::{EarlyChanges, Gaps, Marks};
use listener::Listener;

/// Dependencies of a conversation.
pub struct Deps {
    pub roster: Arc<Roster>,
    pub chat: ChatSettings,
    pub guard: GuardLimits,
    /// The name or id of the channel for operators.
    pub ops_channel: String,
    /// Features that react to messages, in the order in which they are called.
    pub listeners: Vec<Arc<dyn Listener>>,
    pub store: Store,
    pub platform: Arc<dyn ChatPlatform>,
    /// Whether this process hears the channels. A process that only runs turns asks the database whether a person waits.
    pub serves: bool,
    pub agents: Arc<Agents>,
    pub clock: SharedClock,
    pub tasks: TaskTracker,
    /// Cancelled when no new turn may start.
    pub stop: CancellationToken,
    /// Cancelled when the grace period of running turns ends.
    pub kill: CancellationToken,
}

/// The team in conversation. Cheap to clone.
#[derive(Clone)]
pub struct Conversation {
    inner: Arc<Inner>,
}

struct Inner {
    deps: Deps,
    halts: Halts,
    accounts: RwLock<Accounts>,
    queues: Mutex<HashMap<ChannelId, Arc<ChannelQueue>>>,
    running: Mutex<HashMap<TurnId, Running>>,
    /// Personas that answer after the deadline, until the job of the ask takes them over.
    late: Mutex<HashMap<AskId, Asked>>,
    gaps: Gaps,
    marks: Marks,
    early: EarlyChanges,
    /// Why the last change of settings or persona files is not used.
    refused_change: Mutex<Option<String>>,
}

/// A running turn, with what is needed to stop it.
struct Running {
    channel: ChannelId,
    message: MessageId,
    cancel: CancellationToken,
}

impl Conversation {
    /// `accounts` are those known from earlier runs. Nothing runs before [`Conversation::recover`].
    pub async fn new(deps: Deps, accounts: Accounts) -> Result<Self, StoreError> {
        let halts = Halts::load(deps.store.database()).await?;
        let known = deps.store.list_channels().await?;
        let inner = Inner {
            deps,
            halts,
            accounts: RwLock::new(accounts),
            queues: Mutex::default(),
            running: Mutex::default(),
            late: Mutex::default(),
            gaps: Gaps::new(&known),
            marks: Marks::new(&known),
            early: EarlyChanges::default(),
            refused_change: Mutex::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Tells the operators why changed settings or files are not used. The status says it until they are mended.
    pub fn refuse_change(&self, why: String) {
        *self.inner.refused_change.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.clone());
        self.tell_operators_soon(why.clone(), why);
    }

    pub(in crate::features::chat) fn find_refused_change(&self) -> Option<String> {
        self.inner.refused_change.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Handles one platform event. An error affects this event only.
    pub async fn on_event(&self, event: PlatformEvent) {
        if let Err(error) = catch_panic(Box::pin(self.take(event))).await {
            tracing::error!(error = format!("{error:#}"), "an event could not be handled");
            metrics::counter!("teamroom_errors_total", "where" => "conversation").increment(1);
        }
    }

    async fn take(&self, event: PlatformEvent) -> anyhow::Result<()> {
        match event {
            PlatformEvent::Message(message) => self.receive(*message).await,
            PlatformEvent::Edited { message, text, edited_at, .. } => self.take_edit(&message, text, edited_at).await,
            PlatformEvent::Deleted { messages, channel } => self.take_deletion(&messages, &channel).await,
            PlatformEvent::Reacted(reaction) => Ok(self.deps().store.record_reaction(&reaction, self.deps().clock.now()).await?),
            PlatformEvent::Unreacted { message, person, emoji } => {
                Ok(self.deps().store.remove_reactions(&message, person.as_ref(), emoji.as_deref()).await?)
            }
            PlatformEvent::Unfurled { message, channel, url, title } => {
                Ok(self.deps().store.record_link(&message, &channel, &url, &title, self.deps().clock.now()).await?)
            }
            PlatformEvent::StopPressed { author, channel } => self.take_stop_press(&author, &channel).await,
            PlatformEvent::Seen { author, channel } => {
                let at = self.deps().clock.now();
                Ok(self.deps().store.record_seen(&Seen { author: &author, channel: &channel, at }).await?)
            }
            PlatformEvent::Ready { persona, account } => self.take_ready(persona, account).await,
            PlatformEvent::Nickname { persona, nickname } => {
                self.inner.accounts.write().expect("no code panics while it holds the accounts").record_nickname(persona, nickname);
                Ok(())
            }
            // The relay handles this event.
            PlatformEvent::PermissionsChanged => Ok(()),
            PlatformEvent::Trouble { persona, text } => {
                tracing::error!(%persona, text, "an identity is in trouble");
                self.tell_operators_soon(format!("trouble:{persona}:{text}"), text);
                Ok(())
            }
        }
    }

    /// Whether every channel has its mark. From then on the next start fetches any message that this process misses.
    pub fn is_listening(&self) -> bool {
        self.inner.gaps.have_been_looked_for()
    }

    /// Whether agents are halted in a channel.
    pub fn is_halted_in(&self, channel: &ChannelId) -> bool {
        self.inner.halts.is_halted_in(channel)
    }

    fn deps(&self) -> &Deps {
        &self.inner.deps
    }

    fn accounts(&self) -> Accounts {
        self.inner.accounts.read().expect("no code panics while it holds the accounts").clone()
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<ChannelId, Arc<ChannelQueue>>> {
        self.inner.queues.lock().expect("no code panics while it holds the queues")
    }

    fn late(&self) -> MutexGuard<'_, HashMap<AskId, Asked>> {
        self.inner.late.lock().expect("no code panics while it holds the late asks")
    }

    fn running(&self) -> MutexGuard<'_, HashMap<TurnId, Running>> {
        self.inner.running.lock().expect("no code panics while it holds the running turns")
    }

    /// Cancels running turns. Their tasks see it at their next await.
    fn cancel_running(&self, which: impl Fn(&Running) -> bool) {
        self.running().values().filter(|running| which(running)).for_each(|running| running.cancel.cancel());
    }

    /// Cancels stored turns. Their channels continue.
    async fn cancel_turns(&self, scope: CancelScope<'_>, why: &str) -> Result<(), StoreError> {
        let cancelled = self.deps().store.cancel_turns(scope, why, self.deps().clock.now()).await?;
        self.close_turns(&cancelled);
        Ok(())
    }

    fn close_turns(&self, turns: &[TurnId]) {
        self.queues().values().for_each(|queue| queue.close_turns(turns));
    }

    /// A notice of the team about itself, posted by `persona`.
    fn notice(persona: &PersonaSlug, channel: &ChannelId, text: impl Into<String>) -> OutboundMessage {
        OutboundMessage::new(persona, channel, OutboundKind::Notice, text)
    }

    async fn post(&self, message: OutboundMessage) -> Result<(), StoreError> {
        self.deps().store.enqueue(&[message], self.deps().clock.now()).await
    }
}
