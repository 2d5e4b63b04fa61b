//! The account of one persona on Discord: its token, its connection to the gateway, and how it fares.
//!
//! A [`Supervisor`] per identity, on the main runtime, keeps a [`session`] alive on a thread of its own. Nothing here knows what is said;
//! that is [`super::gateway`]'s. Liveness is measured on tokio's monotonic clock, because it is a real server that falls silent; only
//! what is kept across restarts bears the time of [`kernel::time::Clock`].

mod pulse;
mod session;
mod supervisor;
mod turnstile;
mod watch;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use serenity::all::{ActivityData, OnlineStatus, ShardId, ShardManager};
use serenity::model::id::UserId as SnowflakeUser;
use tokio::sync::Notify;

pub(crate) use pulse::Pulse;
pub(crate) use session::SessionParts;
pub(crate) use supervisor::Supervisor;

use crate::adapters::discord::gateway::Completeness;
use crate::adapters::discord::rest::{Credential, token_trouble};
use kernel::chat::{IdentityState, IdentityStatus, Presence};
use kernel::ids::PersonaSlug;

/// So many messages in a row without content are no chance: people do post stickers and nothing else.
const WITHHELD: u32 = 20;

/// One persona's account.
pub(crate) struct Identity {
    pub(crate) persona: PersonaSlug,
    pub(crate) credential: Arc<Credential>,
    pub(crate) pulse: Pulse,
    /// Messages in a row that came without their content.
    withheld: AtomicU32,
    /// Rung when there is news.
    rung: Notify,
    condition: Mutex<Condition>,
}

struct Condition {
    state: IdentityState,
    account: Option<SnowflakeUser>,
    trouble: Option<String>,
    /// What the account shows it is doing, also over reconnects.
    presence: Presence,
    manager: Option<Arc<ShardManager>>,
    /// What has happened to the connection that the supervisor has not taken in yet.
    news: Vec<News>,
}

/// What happens to a connection. All of it is noted by the thread of its session, so that it stands in the order in which it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum News {
    /// It went away and is dialled anew.
    Dialled,
    /// It is up after an IDENTIFY: what happened meanwhile was missed.
    Ready,
    /// It is up after a RESUME: Discord replays what happened meanwhile.
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
            pulse: Pulse::new(),
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
            account: condition.account.map(|account| account.to_string().into()),
            latency: self.pulse.latency(),
            trouble: condition.trouble.clone().or_else(token_trouble),
        }
    }

    /// The account, once Discord has told it. The token begins with an id too, but that one may be the application's.
    pub(crate) fn account(&self) -> Option<SnowflakeUser> {
        self.condition().account
    }

    /// Whether messages can be posted: REST works while the gateway is being reconnected.
    pub(crate) fn can_speak(&self) -> bool {
        self.account().is_some() && !self.credential.is_revoked()
    }

    pub(crate) fn ready(&self, account: SnowflakeUser) {
        self.condition().account = Some(account);
        self.arrived(News::Ready);
    }

    /// Counts messages that came without their content. True when it is certain that all of them do.
    pub(crate) fn note_reading(&self, completeness: Completeness) -> bool {
        match completeness {
            Completeness::Withheld => self.withheld.fetch_add(1, Ordering::Relaxed) + 1 == WITHHELD,
            // A mention or a direct message can be read in any case, and proves nothing; it starts the count anew all the same.
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

    /// Shows what the persona is doing; `healthy` says whether the connection gave a sign of life just now.
    ///
    /// On a dead socket a failed presence update ends serenity's shard for good, without a word: then it is only noted, and shown when the
    /// connection is up again.
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

    /// Shows again what was shown before the connection went away.
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

/// What to tell people when Discord keeps the text of messages back.
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
