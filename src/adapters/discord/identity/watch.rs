use std::sync::Arc;
use std::time::Duration;

use serenity::all::{ShardId, ShardManager};
use tokio::time::Instant;

use crate::adapters::discord::identity::News;
use crate::adapters::discord::identity::session::Session;
use crate::adapters::discord::identity::supervisor::Supervisor;
use kernel::chat::IdentityState;

/// Tracks one session from outside and decides whether it is lost.
pub(super) struct Watch<'a> {
    supervisor: &'a Supervisor,
    manager: Arc<ShardManager>,
    /// The connection attempt in progress.
    dial: Option<Dial>,
    up_since: Option<Instant>,
}

#[derive(Clone, Copy)]
struct Dial {
    since: Instant,
    patience: Duration,
}

impl<'a> Watch<'a> {
    /// A new session connects at once.
    pub(super) fn begin(supervisor: &'a Supervisor, session: &Session) -> Self {
        Self {
            supervisor,
            manager: Arc::clone(&session.manager),
            dial: Some(Dial { since: Instant::now(), patience: supervisor.timing.ready }),
            up_since: None,
        }
    }

    /// Handles the events since the last call. Returns the reason if the session is lost.
    pub(super) async fn look(&mut self, session: &Session) -> Option<String> {
        let news = self.supervisor.identity.take_news();
        for each in &news {
            match each {
                News::Dialled => {
                    if let Some(reason) = self.take_dial().await {
                        return Some(reason);
                    }
                }
                News::Ready | News::Resumed => self.take_arrival(*each).await,
            }
        }
        if !news.contains(&News::Dialled) {
            session.connect_permit.notify_one();
        }
        self.take_latency().await;
        let (timing, age) = (&self.supervisor.timing, self.supervisor.identity.liveness.age(Instant::now()));
        match self.dial {
            Some(dial) if dial.since.elapsed() > dial.patience => Some(format!("no connection within {:?}", dial.patience)),
            None if age > timing.silence => Some(format!("no data for {:?}", timing.silence)),
            _ => None,
        }
    }

    /// Records the logins of the session. True if it was stable.
    pub(super) async fn end(self) -> bool {
        if self.dial.is_some() {
            // A failed attempt may have reached its IDENTIFY. It is counted to be safe.
            self.supervisor.record_identify().await;
        }
        self.up_since.is_some_and(|since| since.elapsed() > self.supervisor.timing.steady)
    }

    async fn take_arrival(&mut self, how: News) {
        let identity = &self.supervisor.identity;
        self.dial = None;
        self.up_since.get_or_insert_with(Instant::now);
        identity.set_state(IdentityState::Ready, None);
        if how == News::Ready {
            self.supervisor.record_identify().await;
            identity.show_again().await;
        }
    }

    async fn take_latency(&self) {
        let latency = self.manager.runners.lock().await.get(&ShardId(0)).and_then(|runner| runner.latency);
        let identity = &self.supervisor.identity;
        identity.liveness.observe(latency, Instant::now());
        if let Some(latency) = latency {
            metrics::gauge!("teamroom_discord_latency_seconds", "persona" => identity.persona.to_string()).set(latency.as_secs_f64());
        }
    }

    /// Allows serenity one reconnect. If that fails, the session is replaced, because serenity would retry for ever.
    async fn take_dial(&mut self) -> Option<String> {
        self.supervisor.identity.set_state(IdentityState::Reconnecting, None);
        if self.dial.is_some() {
            return Some("Discord closed the connection during login".to_owned());
        }
        if !self.supervisor.may_identify().await {
            return Some("it had to log in too often".to_owned());
        }
        self.dial = Some(Dial { since: Instant::now(), patience: self.supervisor.timing.redial });
        None
    }
}
