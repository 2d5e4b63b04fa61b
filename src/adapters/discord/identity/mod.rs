//! The Discord account of one persona: its token, its gateway connection and its state.
//!
//! A [`Supervisor`] per identity runs on the main runtime and keeps a [`session`] alive on a separate thread. Messages are handled by
//! [`super::gateway`]. Liveness uses tokio's monotonic clock, because a real server falls silent. Only values that survive a restart use
//! [`kernel::time::Clock`].

mod connect_limiter;
mod liveness;
mod session;
mod supervisor;
mod watch;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use serenity::all::{ActivityData, OnlineStatus, ShardId, ShardManager};
use serenity::model::id::UserId as SnowflakeUser;
use tokio::sync::Notify;

pub(crate) use liveness::Liveness;
pub(crate) use session::SessionDeps;
pub(crate) use supervisor::Supervisor;

use crate::adapters::discord::gateway::Completeness;
use crate::adapters::discord::ids::from_discord;
use crate::adapters::discord::rest::{Credential, token_trouble};
use kernel::chat::{IdentityState, IdentityStatus, Presence};
use kernel::ids::PersonaSlug;

/// This many messages in a row without content show that Discord withholds the text. A few can be stickers.
const WITHHELD: u32 = 20;

/// One persona's account.
pub(crate) struct Identity {
    pub(crate) persona: PersonaSlug,
    pub(crate) credential: Arc<Credential>,
    pub(crate) liveness: Liveness,
    /// Messages in a row without content.
    withheld: AtomicU32,
    /// Notified when `news` gets an entry.
    rung: Notify,
    condition: Mutex<Condition>,
}

struct Condition {
    state: IdentityState,
    account: Option<SnowflakeUser>,
    trouble: Option<String>,
    /// The presence to show, kept across reconnects.
    presence: Presence,
    manager: Option<Arc<ShardManager>>,
    /// Connection events that the supervisor has not handled yet.
    news: Vec<News>,
}

/// A connection event. The session's thread records all of them, so that their order is correct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum News {
    /// The connection was lost, and serenity reconnects.
    Dialled,
    /// Connected by IDENTIFY. Events in between were missed.
    Ready,
    /// Connected by RESUME. Discord replays the events in between.
    Resumed,
}

impl Identity {
    pub(crate) fn new(credential: Arc<Credential>) -> Self {
        let condition = Condition {
            state: IdentityState::Connecting,
            account: None,
            trouble: None,
            presence: Presence::Listening,
            manager: None,
            news: Vec::new(),
        };
        Self {
            persona: credential.persona.clone(),
            credential,
            liveness: Liveness::new(),
            withheld: AtomicU32::new(0),
            rung: Notify::new(),
            condition: Mutex::new(condition),
        }
    }

    pub(crate) fn status(&self) -> IdentityStatus {
        let condition = self.condition();
        let is_revoked = self.credential.is_revoked();
        let token_trouble = || is_revoked.then(|| token_trouble(&self.credential.name, &self.persona));
        IdentityStatus {
            persona: self.persona.clone(),
            state: if is_revoked { IdentityState::Down } else { condition.state },
            account: condition.account.map(from_discord),
            latency: self.liveness.latency(),
            trouble: condition.trouble.clone().or_else(token_trouble),
        }
    }

    /// The account, once Discord has reported it. The token also begins with an id, but that can be the application's.
    pub(crate) fn account(&self) -> Option<SnowflakeUser> {
        self.condition().account
    }

    /// Whether messages can be posted. REST works while the gateway reconnects.
    pub(crate) fn can_speak(&self) -> bool {
        self.account().is_some() && !self.credential.is_revoked()
    }

    pub(crate) fn ready(&self, account: SnowflakeUser) {
        self.condition().account = Some(account);
        self.arrived(News::Ready);
    }

    /// Counts messages without content. True once the content is certainly withheld.
    pub(crate) fn note_reading(&self, completeness: Completeness) -> bool {
        match completeness {
            Completeness::Withheld => self.withheld.fetch_add(1, Ordering::Relaxed) + 1 == WITHHELD,
            // Discord always sends the text of mentions and direct messages, so they prove nothing. They still reset the count.
            Completeness::Full => {
                self.withheld.store(0, Ordering::Relaxed);
                false
            }
        }
    }

    pub(crate) fn resumed(&self) {
        self.arrived(News::Resumed);
    }

    fn arrived(&self, how: News) {
        let mut condition = self.condition();
        condition.state = IdentityState::Ready;
        condition.trouble = None;
        drop(condition);
        self.note(how);
    }

    fn note(&self, news: News) {
        self.condition().news.push(news);
        self.rung.notify_one();
    }

    fn take_news(&self) -> Vec<News> {
        std::mem::take(&mut self.condition().news)
    }

    fn set_state(&self, state: IdentityState, trouble: Option<String>) {
        let mut condition = self.condition();
        condition.state = state;
        if trouble.is_some() {
            condition.trouble = trouble;
        }
        drop(condition);
        let up = if state == IdentityState::Ready { 1.0 } else { 0.0 };
        metrics::gauge!("teamroom_discord_identity_ready", "persona" => self.persona.to_string()).set(up);
    }

    fn set_manager(&self, manager: Option<Arc<ShardManager>>) {
        self.condition().manager = manager;
    }

    /// Shows the persona's presence. `healthy`: the connection was alive a moment ago.
    ///
    /// On a dead socket, a failed presence update silently ends serenity's shard for good. Then the presence is only stored, and shown
    /// after the reconnect.
    pub(crate) async fn show(&self, presence: Presence, healthy: bool) {
        let manager = {
            let mut condition = self.condition();
            if std::mem::replace(&mut condition.presence, presence) == presence {
                return;
            }
            condition.manager.clone().filter(|_| healthy && condition.state == IdentityState::Ready)
        };
        if let Some(manager) = manager {
            send_presence(&manager, presence).await;
        }
    }

    /// Restores the presence after a reconnect.
    async fn show_again(&self) {
        let (manager, presence) = {
            let condition = self.condition();
            (condition.manager.clone(), condition.presence)
        };
        if let Some(manager) = manager.filter(|_| presence != Presence::Listening) {
            send_presence(&manager, presence).await;
        }
    }

    fn condition(&self) -> std::sync::MutexGuard<'_, Condition> {
        self.condition.lock().expect("no code panics while it holds the condition")
    }
}

/// The message for people when Discord withholds the text of messages.
pub(crate) fn content_trouble(name: &str) -> String {
    format!(
        "Discord does not let {name} read messages. In the developer portal open its application, then Bot, switch on \
         \"Message Content Intent\" under Privileged Gateway Intents, save, and restart."
    )
}

async fn send_presence(manager: &ShardManager, presence: Presence) {
    let (text, status) = match presence {
        Presence::Listening => (None, OnlineStatus::Online),
        Presence::InMeeting => (Some("in a standup"), OnlineStatus::Online),
        Presence::Paused => (Some("paused"), OnlineStatus::Idle),
        Presence::OutOfBudget => (Some("out of budget"), OnlineStatus::DoNotDisturb),
    };
    if let Some(runner) = manager.runners.lock().await.get(&ShardId(0)) {
        runner.runner_tx.set_presence(text.map(ActivityData::custom), status);
    }
}
