use std::sync::Arc;
use std::time::Duration;

use serenity::gateway::GatewayError;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::adapters::discord::Timing;
use crate::adapters::discord::identity::session::{Ending, Session, Shutdown};
use crate::adapters::discord::identity::watch::Watch;
use crate::adapters::discord::identity::{Identity, SessionDeps, content_trouble};
use crate::adapters::discord::ports::IdentifyLog;
use crate::adapters::discord::rest::token_trouble;
use kernel::chat::{IdentityState, PlatformEvent};
use kernel::time::SharedClock;

pub(crate) struct Supervisor {
    pub(crate) identity: Arc<Identity>,
    pub(crate) deps: SessionDeps,
    pub(crate) timing: Timing,
    pub(crate) clock: SharedClock,
    pub(crate) identify_log: Arc<dyn IdentifyLog>,
    pub(crate) stop: CancellationToken,
}

/// How a session ended.
enum Outcome {
    Stopped,
    /// Discord refuses the account. Only a person can fix that.
    Refused(GatewayError),
    /// The session is restarted.
    Lost {
        reason: String,
        was_up: bool,
    },
}

impl Supervisor {
    /// Connects after `wait`. Stays connected until shutdown or until Discord refuses the account.
    pub(crate) async fn run(self, wait: Duration) {
        let mut pause = wait;
        let mut failures: u32 = 0;
        loop {
            if self.stopped_within(pause).await {
                return;
            }
            if self.identity.credential.is_revoked() {
                // An HTTP call has found the token invalid and reported it. Each login with it would count.
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

    /// Runs one session from start to end.
    async fn session(&self) -> Outcome {
        self.identity.take_news();
        let mut session = match Session::open(&self.identity, &self.deps).await {
            Ok(session) => session,
            Err(error) => return Outcome::Lost { reason: format!("cannot start its thread: {error}"), was_up: false },
        };
        self.identity.set_manager(Some(Arc::clone(&session.manager)));
        let outcome = self.watch(&mut session).await;
        self.identity.set_manager(None);
        let shutdown = if matches!(outcome, Outcome::Stopped) { Shutdown::Close } else { Shutdown::Abandon };
        if tokio::time::timeout(self.timing.shutdown, session.leave(shutdown)).await.is_err() {
            tracing::warn!(persona = %self.identity.persona, "the gateway did not confirm the shutdown");
        }
        outcome
    }

    /// Monitors a session while it lives.
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

    /// Doubles from the first to the longest pause. Jitter keeps identities from reconnecting at the same moment.
    fn pause_after(&self, failures: u32) -> Duration {
        let doubled = self.timing.first_pause.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
        doubled.min(self.timing.longest_pause).mul_f64(0.5 + fastrand::f64() / 2.0)
    }

    /// Reports the second failure in a row. A single reconnect needs no action.
    fn report_loss(&self, reason: &str, failures: u32, pause: Duration) {
        metrics::counter!("teamroom_discord_sessions_lost_total", "persona" => self.identity.persona.to_string()).increment(1);
        tracing::warn!(persona = %self.identity.persona, reason, failures, ?pause, "a gateway session was lost");
        let name = &self.identity.credential.name;
        let trouble =
            format!("{name} cannot reach Discord: {reason}. Trying again. If this goes on, check your network and Discord's status page.");
        self.identity.set_state(IdentityState::Reconnecting, Some(trouble.clone()));
        if failures == 2 {
            self.announce(trouble);
        }
    }

    /// Whether the hourly limit allows another IDENTIFY. False if the login log cannot be read.
    pub(super) async fn may_identify(&self) -> bool {
        let hour_ago = self.clock.now() - Duration::from_hours(1);
        match self.identify_log.count_since(&self.identity.persona, hour_ago).await {
            Ok(count) if count < self.timing.logins_per_hour => true,
            Ok(_) => {
                let name = &self.identity.credential.name;
                let trouble = format!(
                    "{name} logged in {} times within an hour. It is waiting now, because Discord resets tokens that log in too often.",
                    self.timing.logins_per_hour
                );
                if self.identity.status().trouble.as_ref() != Some(&trouble) {
                    self.announce(trouble.clone());
                }
                self.identity.set_state(IdentityState::Reconnecting, Some(trouble));
                false
            }
            Err(error) => {
                tracing::error!(persona = %self.identity.persona, %error, "cannot read the login log");
                false
            }
        }
    }

    pub(super) async fn record_identify(&self) {
        if let Err(error) = self.identify_log.record(&self.identity.persona, self.clock.now()).await {
            tracing::error!(persona = %self.identity.persona, %error, "cannot record a login");
        }
    }

    /// Reports why Discord refuses the account and what to do. serenity reports three final close codes. The others (4010 to 4012) concern
    /// sharding and versions; they appear as failed logins, which the hourly limit stops.
    fn give_up(&self, error: &GatewayError) {
        let Identity { credential, persona, .. } = &*self.identity;
        let name = &credential.name;
        let (trouble, is_new) = match error {
            // Posts with an invalid token would be refused and counted as well.
            GatewayError::InvalidAuthentication => (token_trouble(name, persona), credential.revoke()),
            GatewayError::DisallowedGatewayIntents => (content_trouble(name), true),
            other => (format!("Discord does not let {name} connect ({other}). Update Teamroom, or report this as a bug."), true),
        };
        self.identity.set_state(IdentityState::Down, Some(trouble.clone()));
        if is_new {
            self.announce(trouble);
        }
    }

    fn announce(&self, text: String) {
        tracing::error!(persona = %self.identity.persona, "{text}");
        self.deps.hub.announce(PlatformEvent::Trouble { persona: self.identity.persona.clone(), text });
    }

    /// Waits. True if the team stops in the meantime.
    async fn stopped_within(&self, pause: Duration) -> bool {
        tokio::time::timeout(pause, self.stop.cancelled()).await.is_ok()
    }
}
