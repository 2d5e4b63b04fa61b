//! The Discord account of one persona: its token, its gateway connection and its state.
//!
//! A [`Supervisor`] per identity keeps a [`connection`] alive and decides what follows when one ends. Events are handled by [`super::gateway`].
//! Liveness uses tokio's monotonic clock, because a real server falls silent. Only values that survive a restart use [`kernel::time::Clock`].

mod connection;
mod logins;
mod supervisor;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serenity::model::id::UserId as SnowflakeUser;
use tokio::sync::watch;

pub(crate) use logins::Logins;
pub(crate) use supervisor::Supervisor;

use crate::adapters::discord::gateway::Completeness;
use crate::adapters::discord::ids::{PLATFORM, from_discord};
use crate::adapters::discord::rest::{Credential, token_trouble};
use kernel::chat::{IdentityState, IdentityStatus, Presence};
use kernel::ids::PersonaSlug;

/// This many messages in a row without content show that Discord withholds the text. A few can be stickers.
const WITHHELD: u32 = 20;

/// One persona's account.
pub(crate) struct Identity {
    pub(crate) persona: PersonaSlug,
    pub(crate) credential: Arc<Credential>,
    /// Messages in a row without content.
    withheld: AtomicU32,
    /// The presence that the connection shows, kept across reconnects.
    presence: watch::Sender<Presence>,
    condition: Mutex<Condition>,
}

struct Condition {
    state: IdentityState,
    account: Option<SnowflakeUser>,
    trouble: Option<String>,
    /// Round trip of the last heartbeat.
    latency: Option<Duration>,
}

impl Identity {
    pub(crate) fn new(credential: Arc<Credential>) -> Self {
        let condition = Condition { state: IdentityState::Connecting, account: None, trouble: None, latency: None };
        Self {
            persona: credential.persona.clone(),
            credential,
            withheld: AtomicU32::new(0),
            presence: watch::Sender::new(Presence::Listening),
            condition: Mutex::new(condition),
        }
    }

    pub(crate) fn status(&self) -> IdentityStatus {
        let condition = self.condition();
        let is_revoked = self.credential.is_revoked();
        let token_trouble = || is_revoked.then(|| token_trouble(&self.credential.name, &self.persona));
        IdentityStatus {
            persona: self.persona.clone(),
            platform: PLATFORM,
            state: if is_revoked { IdentityState::Down } else { condition.state },
            account: condition.account.map(from_discord),
            latency: condition.latency,
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

    /// Whether others speak for this persona: Discord refuses the account, or it was never online and is in trouble.
    pub(crate) fn is_given_up(&self) -> bool {
        let condition = self.condition();
        self.credential.is_revoked() || condition.state == IdentityState::Down || condition.account.is_none() && condition.trouble.is_some()
    }

    pub(crate) fn ready(&self, account: SnowflakeUser) {
        self.condition().account = Some(account);
        self.connected();
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

    /// READY or RESUMED came.
    pub(crate) fn connected(&self) {
        self.condition().trouble = None;
        self.set_state(IdentityState::Ready, None);
    }

    fn record_latency(&self, latency: Duration) {
        self.condition().latency = Some(latency);
        metrics::gauge!("teamroom_discord_latency_seconds", "persona" => self.persona.to_string()).set(latency.as_secs_f64());
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

    /// Shows the persona's presence, now or with the next login.
    pub(crate) fn show(&self, presence: Presence) {
        self.presence.send_if_modified(|shown| std::mem::replace(shown, presence) != presence);
    }

    fn watch_presence(&self) -> watch::Receiver<Presence> {
        self.presence.subscribe()
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
