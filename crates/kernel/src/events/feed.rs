//! Wakes those who wait for events, after commits of this process and of others.
//!
//! PostgreSQL notifies other processes. SQLite cannot, so while somebody waits, this asks twice a second whether another process has written to the
//! file. This reads a counter of SQLite and no table. Only this place watches the file.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use sqlx::PgPool;
use sqlx::postgres::{PgListener, PgPoolOptions};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::Topic;
use crate::db::{Backend, Database, Db, bounded};
use crate::time::SharedClock;
use crate::wakeup::{Wakeup, Wakeups};

/// The PostgreSQL channel. The payload is the topic.
pub(crate) const CHANNEL: &str = "teamroom_events";

/// How often SQLite is asked.
const LOOK: Duration = Duration::from_millis(500);

/// After this time without a notification, the connection is tested.
const SILENCE: Duration = Duration::from_mins(1);

/// The time before a lost connection is opened again.
const AGAIN: Duration = Duration::from_secs(2);

/// The subscribers of an open database.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    topics: Mutex<HashMap<&'static str, Wakeup>>,
    /// Watches for other processes as long as there are subscribers.
    watch: Mutex<Weak<DropGuard>>,
}

/// Wakes its owner after events of a topic. Other processes are watched until the last subscription is dropped.
#[derive(Debug)]
pub struct Subscription {
    wakeups: Wakeups,
    _watch: Arc<DropGuard>,
}

impl Subscription {
    /// Waits until there may be new events since the last call. Also returns without any: once other processes are watched, and after the
    /// connection was lost.
    pub async fn next(&mut self) {
        self.wakeups.next().await;
    }
}

impl Database {
    /// Subscribes to a topic. Subscribe first and then read, so that nothing is missed in between. Needs a Tokio runtime.
    pub fn subscribe(&self, topic: Topic, clock: &SharedClock) -> Subscription {
        let feed = self.db().feed();
        let wakeups = lock(&feed.topics).entry(topic.as_str()).or_default().subscribe();
        Subscription { wakeups, _watch: feed.watch(self.db(), clock) }
    }
}

impl Feed {
    /// Called after the commit.
    pub(crate) fn wake(&self, topic: &str) {
        if let Some(wakeup) = lock(&self.topics).get(topic) {
            wakeup.wake();
        }
    }

    fn wake_all(&self) {
        lock(&self.topics).values().for_each(Wakeup::wake);
    }

    /// Starts to watch for other processes, unless this is done already.
    fn watch(&self, db: &Db, clock: &SharedClock) -> Arc<DropGuard> {
        let mut watch = lock(&self.watch);
        if let Some(watch) = watch.upgrade() {
            return watch;
        }
        let stop = CancellationToken::new();
        let (db, clock, stopped) = (db.clone(), clock.clone(), stop.clone());
        tokio::spawn(async move {
            let watching = async {
                match db.read() {
                    Backend::Sqlite(_) => look(&db, &clock).await,
                    Backend::Postgres(pool) => listen(pool, db.feed(), &clock).await,
                }
            };
            Box::pin(stopped.run_until_cancelled(watching)).await;
        });
        let guard = Arc::new(stop.drop_guard());
        *watch = Arc::downgrade(&guard);
        guard
    }
}

/// The counter changes on this connection when another connection has written. This process writes on no other connection, so it was another process.
async fn look(db: &Db, clock: &SharedClock) {
    let mut seen: Option<i64> = None;
    loop {
        let version = async {
            let Backend::Sqlite(writer) = db.write()? else { return Ok(None) };
            Ok::<_, crate::db::StoreError>(sqlx::query_scalar("PRAGMA data_version").fetch_one(writer).await?)
        };
        match version.await {
            Ok(version) if seen != version => {
                seen = version;
                db.feed().wake_all();
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "cannot learn whether another process has written"),
        }
        clock.sleep(LOOK).await;
    }
}

async fn listen(pool: &PgPool, feed: &Feed, clock: &SharedClock) {
    loop {
        let heard: sqlx::Result<()> = async {
            // Its own connection, because it is held for as long as somebody waits.
            let own = PgPoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None);
            let own = bounded(own.connect_with(pool.connect_options().as_ref().clone())).await?;
            let mut listener = PgListener::connect_with(&own).await?;
            bounded(listener.listen(CHANNEL)).await?;
            // Subscribers may have read before this.
            feed.wake_all();
            loop {
                tokio::select! {
                    heard = listener.try_recv() => match heard? {
                        Some(notification) => feed.wake(notification.payload()),
                        // The connection broke and was opened again. A notification may have been missed.
                        None => feed.wake_all(),
                    },
                    () = clock.sleep(SILENCE) => {
                        bounded(sqlx::query("SELECT 1").execute(&mut listener)).await?;
                    }
                }
            }
        }
        .await;
        if let Err(error) = heard {
            tracing::debug!(%error, "cannot hear of the events of other processes");
        }
        clock.sleep(AGAIN).await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
