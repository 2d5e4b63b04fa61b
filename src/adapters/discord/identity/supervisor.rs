use std::sync::Arc;
use std::time::Duration;

use serenity::gateway::GatewayError;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::adapters::discord::Timing;
use crate::adapters::discord::identity::session::{Ending, Farewell, Session};
use crate::adapters::discord::identity::watch::Watch;
use crate::adapters::discord::identity::{Identity, SessionParts, content_trouble};
use crate::adapters::discord::ports::IdentifyLog;
use crate::adapters::discord::rest::token_trouble;
use kernel::chat::{IdentityState, PlatformEvent};
use kernel::time::SharedClock;

/// Keeps one identity connected.
pub(crate) struct Supervisor {
    pub(crate) identity: Arc<Identity>,
    pub(crate) parts: SessionParts,
    pub(crate) timing: Timing,
    pub(crate) clock: SharedClock,
    pub(crate) identify_log: Arc<dyn IdentifyLog>,
    pub(crate) stop: CancellationToken,
}

/// How a session ended.
enum Outcome {
    Stopped,
    /// Discord will not have it; only a person can mend that.
    Refused(GatewayError),
    /// To be started anew.
    Lost {
        reason: String,
        was_up: bool,
    },
}

impl Supervisor {
    /// Connects after `wait` and stays connected until the team stops or Discord refuses for good.
    pub(crate) async fn run(self, wait: Duration) {
        let mut pause = wait;
        let mut failures: u32 = 0;
        loop {
            if self.stopped_within(pause).await {
                return;
            }
            if self.identity.credential.is_revoked() {
                // A call over HTTP has found out and told; each login with it would count.
                return self.identity.set_state(IdentityState::Down, None);
            }
            if !self.may_identify().await {
                pause = self.timing.budget_recheck;
                continue;
            }
            match self.session().await {
                Outcome::Stopped => return,
                Outcome::Refused(error) => return self.give_up(&error),
                Outcome::Lost { reason, was_up } => {
                    failures = if was_up { 1 } else { failures + 1 };
                    pause = self.pause_after(failures);
                    self.report_loss(&reason, failures, pause);
                }
            }
        }
    }

    /// One session from its start to its end.
    async fn session(&self) -> Outcome {
        self.identity.take_news();
        let mut session = match Session::open(&self.identity, &self.parts).await {
            Ok(session) => session,
            Err(error) => return Outcome::Lost { reason: format!("its thread could not be started: {error}"), was_up: false },
        };
        self.identity.set_manager(Some(Arc::clone(&session.manager)));
        let outcome = self.watch(&mut session).await;
        self.identity.set_manager(None);
        let farewell = if matches!(outcome, Outcome::Stopped) { Farewell::Close } else { Farewell::Abandon };
        if tokio::time::timeout(self.timing.farewell, session.leave(farewell)).await.is_err() {
            tracing::warn!(persona = %self.identity.persona, "the gateway did not answer the farewell");
        }
        outcome
    }

    /// Looks on while a session lives.
    async fn watch(&self, session: &mut Session) -> Outcome {
        let mut watch = Watch::begin(self, session);
        let mut looks = tokio::time::interval(self.timing.look);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let reason = loop {
            tokio::select! {
                () = self.stop.cancelled() => return Outcome::Stopped,
                ending = session.ended() => match ending {
                    Ending::Refused(error) => return Outcome::Refused(error),
                    Ending::Gone => break "its session ended".to_owned(),
                },
                () = self.identity.rung.notified() => {}
                _ = looks.tick() => {}
            }
            if let Some(reason) = watch.look(session).await {
                break reason;
            }
        };
        Outcome::Lost { reason, was_up: watch.end().await }
    }

    /// Doubling from the shortest to the longest pause, with jitter, so that identities that fell together do not rise together.
    fn pause_after(&self, failures: u32) -> Duration {
        let doubled = self.timing.first_pause.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
        doubled.min(self.timing.longest_pause).mul_f64(0.5 + fastrand::f64() / 2.0)
    }

    /// Tells people at the second failure in a row: one reconnect is nothing they could do anything about.
    fn report_loss(&self, reason: &str, failures: u32, pause: Duration) {
        metrics::counter!("teamroom_discord_sessions_lost_total", "persona" => self.identity.persona.to_string()).increment(1);
        tracing::warn!(persona = %self.identity.persona, reason, failures, ?pause, "a gateway session was lost");
        let name = &self.identity.credential.name;
        let trouble =
            format!("{name} cannot reach Discord: {reason}. It keeps trying; look at the network and at Discord's status if this lasts.");
        self.identity.set_state(IdentityState::Reconnecting, Some(trouble.clone()));
        if failures == 2 {
            self.announce(trouble);
        }
    }

    /// Whether there is room for another IDENTIFY this hour. A log that cannot be read gives none.
    pub(super) async fn may_identify(&self) -> bool {
        let hour_ago = self.clock.now() - Duration::from_hours(1);
        match self.identify_log.count_since(&self.identity.persona, hour_ago).await {
            Ok(count) if count < self.timing.logins_per_hour => true,
            Ok(_) => {
                let name = &self.identity.credential.name;
                let trouble = format!(
                    "{name} had to log in {} times within an hour and waits, so that Discord does not reset its token.",
                    self.timing.logins_per_hour
                );
                if self.identity.status().trouble.as_ref() != Some(&trouble) {
                    self.announce(trouble.clone());
                }
                self.identity.set_state(IdentityState::Reconnecting, Some(trouble));
                false
            }
            Err(error) => {
                tracing::error!(persona = %self.identity.persona, %error, "the log of logins cannot be read");
                false
            }
        }
    }

    pub(super) async fn record_identify(&self) {
        if let Err(error) = self.identify_log.record(&self.identity.persona, self.clock.now()).await {
            tracing::error!(persona = %self.identity.persona, %error, "a login could not be recorded");
        }
    }

    /// Tells people what Discord refuses and what to do. serenity reports three of Discord's final close codes; the others (4010 to 4012)
    /// concern sharding and versions, and show here only as logins that come to nothing, which the hourly limit stops.
    fn give_up(&self, error: &GatewayError) {
        let Identity { credential, persona, .. } = &*self.identity;
        let name = &credential.name;
        let (trouble, is_news) = match error {
            // Posting with it would be refused as well, and counted.
            GatewayError::InvalidAuthentication => (token_trouble(name, persona), credential.revoke()),
            GatewayError::DisallowedGatewayIntents => (content_trouble(name), true),
            other => (format!("Discord refuses the connection of {name} for good ({other}). Update Teamroom, or report it."), true),
        };
        self.identity.set_state(IdentityState::Down, Some(trouble.clone()));
        if is_news {
            self.announce(trouble);
        }
    }

    fn announce(&self, text: String) {
        tracing::error!(persona = %self.identity.persona, "{text}");
        self.parts.hub.announce(PlatformEvent::Trouble { persona: self.identity.persona.clone(), text });
    }

    /// Waits; true when the team stops meanwhile.
    async fn stopped_within(&self, pause: Duration) -> bool {
        tokio::time::timeout(pause, self.stop.cancelled()).await.is_ok()
    }
}
