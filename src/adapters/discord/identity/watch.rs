use std::sync::Arc;
use std::time::Duration;

use serenity::all::{ShardId, ShardManager};
use tokio::time::Instant;

use crate::adapters::discord::identity::News;
use crate::adapters::discord::identity::session::Session;
use crate::adapters::discord::identity::supervisor::Supervisor;
use kernel::chat::IdentityState;

/// What is known about a session from outside, and whether it is lost.
pub(super) struct Watch<'a> {
    supervisor: &'a Supervisor,
    manager: Arc<ShardManager>,
    /// The dial that is under way.
    dial: Option<Dial>,
    up_since: Option<Instant>,
}

#[derive(Clone, Copy)]
struct Dial {
    since: Instant,
    patience: Duration,
}

impl<'a> Watch<'a> {
    /// A new session dials at once.
    pub(super) fn begin(supervisor: &'a Supervisor, session: &Session) -> Self {
        Self {
            supervisor,
            manager: Arc::clone(&session.manager),
            dial: Some(Dial { since: Instant::now(), patience: supervisor.timing.ready }),
            up_since: None,
        }
    }

    /// Takes in what has happened since the last look. The reason, when the session is lost.
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
            session.turnstile.notify_one();
        }
        self.take_latency().await;
        let (timing, age) = (&self.supervisor.timing, self.supervisor.identity.pulse.age(Instant::now()));
        match self.dial {
            Some(dial) if dial.since.elapsed() > dial.patience => Some(format!("it was not up within {:?}", dial.patience)),
            None if age > timing.silence => Some(format!("nothing came for {:?}", timing.silence)),
            _ => None,
        }
    }

    /// Counts what the session has cost. True when it was a good one.
    pub(super) async fn end(self) -> bool {
        if self.dial.is_some() {
            // Whether a dial that came to nothing got as far as its IDENTIFY is not told; it is counted, to be on the safe side.
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
        identity.pulse.observe(latency, Instant::now());
        if let Some(latency) = latency {
            metrics::gauge!("teamroom_discord_latency_seconds", "persona" => identity.persona.to_string()).set(latency.as_secs_f64());
        }
    }

    /// serenity may dial again, once: where one dial comes to nothing and it dials on, it would do so for ever.
    async fn take_dial(&mut self) -> Option<String> {
        self.supervisor.identity.set_state(IdentityState::Reconnecting, None);
        if self.dial.is_some() {
            return Some("Discord ends the connection before it is up".to_owned());
        }
        if !self.supervisor.may_identify().await {
            return Some("it had to log in too often".to_owned());
        }
        self.dial = Some(Dial { since: Instant::now(), patience: self.supervisor.timing.redial });
        None
    }
}
