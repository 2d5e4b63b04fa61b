use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::adapters::discord::address::{GatewayAddress, resume_at};
use crate::adapters::discord::gateway::Gateway;
use crate::adapters::discord::identity::connection::{Connection, End, GatewaySession};
use crate::adapters::discord::identity::{Identity, Logins, content_trouble};
use crate::adapters::discord::ports::IdentifyLog;
use crate::adapters::discord::rest::{Call, Failure, Rest, token_trouble};
use crate::adapters::discord::{ConnectError, Timing};
use kernel::chat::{IdentityState, PlatformEvent};
use kernel::time::SharedClock;

/// The number of connections that may break within a minute before the pauses between them grow.
const BREAKS_A_MINUTE: usize = 3;

/// The number of failed attempts to resume a session before a new one is started.
const RESUMES: u32 = 3;

pub(crate) struct Supervisor {
    pub(crate) identity: Arc<Identity>,
    pub(crate) gateway: Gateway,
    pub(crate) address: Arc<GatewayAddress>,
    pub(crate) rest: Arc<Rest>,
    pub(crate) token: SecretString,
    /// Shared by all personas with the same token.
    pub(crate) logins: Arc<Logins>,
    pub(crate) timing: Timing,
    pub(crate) clock: SharedClock,
    pub(crate) identify_log: Arc<dyn IdentifyLog>,
    pub(crate) stop: CancellationToken,
}

/// Failures since the last stable connection.
#[derive(Default)]
struct Setbacks {
    /// Attempts in a row without READY or RESUMED.
    failed: u32,
    /// When established connections broke.
    broken: VecDeque<Instant>,
}

impl Supervisor {
    /// Connects, and stays connected until shutdown or until Discord refuses the account.
    pub(crate) async fn run(self) {
        let (mut pause, mut setbacks) = (Duration::ZERO, Setbacks::default());
        let mut session: Option<GatewaySession> = None;
        loop {
            if self.stopped_within(pause).await {
                return;
            }
            if self.identity.credential.is_revoked() {
                // An HTTP call has found the token invalid and reported it. Each login with it would count.
                self.gateway.interactions.gave_up();
                return self.identity.set_state(IdentityState::Down, None);
            }
            if session.is_none() && !self.may_identify().await {
                pause = self.timing.budget_recheck;
                continue;
            }
            if session.is_none()
                && let Some(wait) = self.find_login_wait().await
            {
                pause = wait;
                continue;
            }
            let (resumes, mut was_up) = (session.is_some(), false);
            let end = self.connect(&mut session, &mut was_up).await;
            if was_up {
                setbacks.failed = 0;
            }
            pause = match end {
                End::Stopped => return,
                End::Refused(code) => return self.give_up(code),
                End::Limited(asked) => {
                    let wait = self.rest.shut(&self.identity.credential, asked);
                    self.wait_for_address(wait)
                }
                // Discord did not resume the session. That is part of its protocol and no failure.
                End::Over { reason, refused } if resumes && !was_up => {
                    session = None;
                    self.note_step(&reason);
                    if refused { self.pause_before_new_session() } else { Duration::ZERO }
                }
                End::Over { reason, refused } => {
                    session = None;
                    let pause = self.lost(&reason, was_up, &mut setbacks);
                    if refused { pause.max(self.pause_before_new_session()) } else { pause }
                }
                End::Broken(reason) => {
                    let pause = self.lost(&reason, was_up, &mut setbacks);
                    if setbacks.failed >= RESUMES {
                        session = None;
                    }
                    pause
                }
            };
        }
    }

    async fn connect(&self, session: &mut Option<GatewaySession>, up: &mut bool) -> End {
        let gateway = tokio::select! {
            () = self.stop.cancelled() => return End::Stopped,
            gateway = self.address.get() => match gateway {
                Ok(gateway) => gateway,
                Err(ConnectError::Limited { wait, .. }) => return End::Limited(wait),
                Err(error) => return End::Broken(error.to_string()),
            },
        };
        let url = session.as_ref().map_or_else(|| gateway.clone(), |session| resume_at(&gateway, &session.url));
        let token = self.token.expose_secret().trim();
        let connection = Connection {
            identity: &self.identity,
            gateway: &self.gateway,
            token,
            logins: &self.logins,
            timing: &self.timing,
            clock: &self.clock,
            identify_log: &*self.identify_log,
            stop: &self.stop,
        };
        connection.run(&url, session, up).await
    }

    /// Notes a lost connection, and returns how long to wait. The first lost connections are replaced at once.
    fn lost(&self, reason: &str, was_up: bool, setbacks: &mut Setbacks) -> Duration {
        let now = Instant::now();
        if was_up {
            setbacks.broken.push_back(now);
        } else {
            setbacks.failed += 1;
        }
        while setbacks.broken.front().is_some_and(|at| now.duration_since(*at) > Duration::from_mins(1)) {
            setbacks.broken.pop_front();
        }
        let too_many = setbacks.broken.len().saturating_sub(BREAKS_A_MINUTE);
        let troubles = setbacks.failed.max(u32::try_from(too_many).unwrap_or(u32::MAX));
        if troubles == 0 {
            self.note_step(reason);
            return Duration::ZERO;
        }
        let pause = self.pause_after(troubles);
        self.report_loss(reason, troubles, pause);
        pause
    }

    /// A reconnect that needs nobody's attention.
    fn note_step(&self, reason: &str) {
        tracing::info!(persona = %self.identity.persona, reason, "reconnecting");
        self.identity.set_state(IdentityState::Reconnecting, None);
    }

    /// Discord asks for a random wait of one to five seconds after it refused a session.
    fn pause_before_new_session(&self) -> Duration {
        self.timing.new_session.mul_f64(0.2 + 0.8 * fastrand::f64())
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
    async fn may_identify(&self) -> bool {
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

    /// How long to wait before a login because Discord says so: to everybody at this network address, or to this token. A session that is resumed
    /// needs no login.
    async fn find_login_wait(&self) -> Option<Duration> {
        if let Some(wait) = self.rest.find_block() {
            return Some(self.wait_for_address(wait));
        }
        if self.logins.must_ask(Instant::now()) {
            #[derive(Deserialize)]
            struct Gateway {
                session_start_limit: Limit,
            }
            #[derive(Deserialize)]
            struct Limit {
                remaining: u32,
                /// Milliseconds.
                reset_after: u64,
            }
            let asked = tokio::select! {
                () = self.stop.cancelled() => return Some(Duration::ZERO),
                asked = self.rest.fetch::<Gateway>(&self.identity.credential, Call::get("/gateway/bot".to_owned())) => asked,
            };
            match asked {
                Ok(Gateway { session_start_limit: Limit { remaining, reset_after } }) => {
                    self.logins.note_remaining(remaining, Duration::from_millis(reset_after), Instant::now());
                }
                Err(Failure::Revoked(_)) => return Some(Duration::ZERO),
                Err(Failure::RateLimited(_)) if let Some(wait) = self.rest.find_block() => return Some(self.wait_for_address(wait)),
                Err(Failure::RateLimited(wait)) if !self.rest.has_spent_budget() => return Some(wait),
                Err(failure) => {
                    tracing::warn!(persona = %self.identity.persona, %failure, "how many logins are left could not be asked; logging in");
                }
            }
        }
        let wait = self.logins.find_wait(Instant::now())?;
        let name = &self.identity.credential.name;
        let trouble = format!("{name} has used up its logins. Discord allows the next ones in {} minutes.", wait.as_secs().div_ceil(60));
        self.identity.set_state(IdentityState::Reconnecting, Some(trouble.clone()));
        self.announce(trouble);
        Some(wait)
    }

    /// Notes that Discord blocks the network address. Returns how long to wait, with jitter, so that identities do not come back together.
    fn wait_for_address(&self, wait: Duration) -> Duration {
        let trouble = format!(
            "Discord takes no connections from this network address for now. {} tries again in {} seconds.",
            self.identity.credential.name,
            wait.as_secs()
        );
        self.identity.set_state(IdentityState::Reconnecting, Some(trouble));
        wait + self.timing.first_pause.mul_f64(fastrand::f64())
    }

    /// Reports why Discord refuses the account and what to do. A change of the configuration starts the team again, and with it another attempt.
    fn give_up(&self, code: u16) {
        let Identity { credential, persona, .. } = &*self.identity;
        let name = &credential.name;
        let (trouble, is_new) = match code {
            // Posts with an invalid token would be refused and counted as well.
            4004 => (token_trouble(name, persona), credential.revoke()),
            4014 => (content_trouble(name), true),
            4011 => (
                format!("{name} is on too many servers for one connection (4011). Take it off servers that it does not need, and restart."),
                true,
            ),
            4012 => (format!("Discord no longer speaks this version of its protocol with {name} (4012). Update Teamroom."), true),
            _ => (format!("Discord does not let {name} connect ({code}). Update Teamroom, or report this as a bug."), true),
        };
        self.identity.set_state(IdentityState::Down, Some(trouble.clone()));
        self.gateway.interactions.gave_up();
        if is_new {
            self.announce(trouble);
        }
    }

    fn announce(&self, text: String) {
        tracing::error!(persona = %self.identity.persona, "{text}");
        self.gateway.hub.announce(PlatformEvent::Trouble { persona: self.identity.persona.clone(), text });
    }

    /// Waits. True if the team stops in the meantime.
    async fn stopped_within(&self, pause: Duration) -> bool {
        tokio::time::timeout(pause, self.stop.cancelled()).await.is_ok()
    }
}
