//! Where Slack shows that an agent works, with a button to stop it: a thread in which the agent has a session.
//!
//! Slack shows it until the agent says that it is done. The adapter says so when the answer is posted, when a person has pressed stop, and when nobody
//! has been seen thinking there for some seconds.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use kernel::ids::PersonaSlug;
use kernel::persona::Persona;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::adapters::slack::api::{Api, Arguments, Credential, Failure};
use crate::adapters::slack::posting::icon_of;

/// How long somebody is shown as thinking who does not go on.
const SHOWN: Duration = Duration::from_secs(10);

const SET_STATUS: &str = "agents.sessions.setStatus";

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Session {
    app: PersonaSlug,
    channel: String,
    thread: String,
}

#[derive(Default)]
pub(super) struct Sessions {
    /// Those in which an app is shown to work, and until when.
    working: Mutex<HashMap<Session, (Credential, Instant)>>,
    changed: Notify,
}

impl Sessions {
    /// Shows that an app works in a thread, or still does. False: Slack does not take that. `named`: whose name is shown for the app's own.
    pub(super) async fn go_on(&self, api: &Api, with: &Credential, named: Option<&Persona>, channel: &str, thread: &str) -> bool {
        let session = Session::new(with, channel, thread);
        self.working().insert(session.clone(), (with.clone(), Instant::now() + SHOWN));
        self.changed.notify_one();
        let status = session.arguments().with("status", "processing");
        let status = match named {
            Some(persona) => status.with("username", &persona.name).with("icon_emoji", icon_of(persona)),
            None => status,
        };
        if let Err(failure) = api.call(with, SET_STATUS, status).await {
            tracing::debug!(channel, %failure, "that somebody works could not be shown");
            // It may be shown from before, so only a refusal is the end of it.
            if matches!(failure, Failure::Refused(_) | Failure::Denied { .. }) {
                self.working().remove(&session);
            }
            return false;
        }
        // The answer was posted meanwhile.
        if !self.working().contains_key(&session) {
            self.stop(with, channel, thread);
        }
        true
    }

    /// The app has answered in a thread.
    pub(super) fn end(&self, with: &Credential, channel: &str, thread: &str) {
        if let Some((_, until)) = self.working().get_mut(&Session::new(with, channel, thread)) {
            *until = Instant::now();
        }
        self.changed.notify_one();
    }

    /// A person has pressed stop, perhaps for what an earlier process did.
    pub(super) fn stop(&self, with: &Credential, channel: &str, thread: &str) {
        self.working().insert(Session::new(with, channel, thread), (with.clone(), Instant::now()));
        self.changed.notify_one();
    }

    /// Tells Slack where nobody works any more; everywhere when the process stops.
    pub(super) async fn keep(&self, api: &Api, stop: &CancellationToken) {
        let mut calls = FuturesUnordered::new();
        loop {
            let is_last = stop.is_cancelled();
            let now = Instant::now();
            let over = self.working().extract_if(|_, (_, until)| *until <= now || is_last).collect::<Vec<_>>();
            calls.extend(over.into_iter().map(|(session, (with, _))| self.finish(api, with, session)));
            if is_last {
                return calls.collect().await;
            }
            let next = self.working().values().map(|(_, until)| *until).min();
            tokio::select! {
                () = tokio::time::sleep_until(next.unwrap_or_else(Instant::now)), if next.is_some() => {}
                () = self.changed.notified() => {}
                Some(()) = calls.next() => {}
                () = stop.cancelled() => {}
            }
        }
    }

    async fn finish(&self, api: &Api, with: Credential, session: Session) {
        let Err(failure) = api.call(&with, SET_STATUS, session.arguments().with("status", "active")).await else { return };
        tracing::debug!(channel = session.channel, %failure, "that nobody works any more could not be shown");
        if matches!(failure, Failure::Unreachable(_) | Failure::RateLimited(_)) {
            self.working().entry(session).or_insert_with(|| (with, Instant::now() + SHOWN));
            self.changed.notify_one();
        }
    }

    fn working(&self) -> MutexGuard<'_, HashMap<Session, (Credential, Instant)>> {
        self.working.lock().expect("no code panics while it holds the sessions")
    }
}

impl Session {
    fn new(with: &Credential, channel: &str, thread: &str) -> Self {
        Self { app: with.persona.clone(), channel: channel.to_owned(), thread: thread.to_owned() }
    }

    fn arguments(&self) -> Arguments {
        Arguments::default().with("channel_id", &self.channel).with("thread_ts", &self.thread)
    }
}
