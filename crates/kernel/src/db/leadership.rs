//! The right of one process at a time to serve from a database, and the end of it.

use std::fs::File;
use std::future::Future;
use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::db::bounded;
use crate::db::postgres::{Address, unlock};

/// How often the session that holds the lock is tried out, and the lock is tried for again once the session broke down.
const WATCH: Duration = Duration::from_secs(2);

/// The lock of a serving process; given back when dropped.
pub enum Leadership {
    /// The system keeps the lock as long as the file is open. It cannot be lost.
    File(File),
    /// The lock lives in a session, and the session may end without us.
    Session(Session),
}

pub struct Session {
    lost: watch::Receiver<bool>,
    stop: CancellationToken,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Leadership {
    /// Watches over the lock that `session` holds.
    pub fn watch(address: Address, who: String, session: PgConnection) -> Self {
        let (tell, lost) = watch::channel(false);
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        tokio::spawn(async move {
            if let Kept::Lost = keep(&address, &who, session, &stopped).await {
                tell.send_replace(true);
            }
        });
        Self::Session(Session { lost, stop })
    }

    /// Waits until another process has the lock. Never ends where that cannot happen.
    pub fn lost(&self) -> impl Future<Output = ()> + Send + use<> {
        let lost = match self {
            Self::File(_) => None,
            Self::Session(session) => Some(session.lost.clone()),
        };
        async move {
            if let Some(mut lost) = lost
                && lost.wait_for(|lost| *lost).await.is_ok()
            {
                return;
            }
            // The watcher was stopped: the lock was given back, not lost.
            std::future::pending::<()>().await;
        }
    }

    /// Gives the lock back now.
    pub async fn release(&self) {
        match self {
            Self::File(file) => {
                if let Err(error) = file.unlock() {
                    tracing::warn!(%error, "the database lock could not be given back; it ends with the process");
                }
            }
            Self::Session(session) => {
                session.stop.cancel();
                // The watcher closes the channel as it ends.
                let mut lost = session.lost.clone();
                while lost.changed().await.is_ok() {}
            }
        }
    }
}

/// How the watch over a lock ended.
enum Kept {
    GivenBack,
    Lost,
}

/// Holds on to the lock until it is to be given back or another process has it. A server that restarts takes the session and the
/// lock with it; the lock is then taken again, and only if somebody was faster it is lost.
async fn keep(address: &Address, who: &str, mut session: PgConnection, stop: &CancellationToken) -> Kept {
    loop {
        while bounded(session.ping()).await.is_ok() {
            if !rest(stop).await {
                unlock(session).await;
                return Kept::GivenBack;
            }
        }
        tracing::warn!("the session that holds the database lock broke down; taking the lock again");
        session = loop {
            match address.lock(who).await {
                Ok(Ok(session)) => break session,
                Ok(Err(other)) => {
                    tracing::error!("{other} has taken over the database");
                    return Kept::Lost;
                }
                Err(_) if rest(stop).await => {}
                Err(_) => return Kept::GivenBack,
            }
        };
    }
}

/// False when there is no more to watch.
async fn rest(stop: &CancellationToken) -> bool {
    stop.run_until_cancelled(tokio::time::sleep(WATCH)).await.is_some()
}
