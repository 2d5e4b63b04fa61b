//! The lock of the one process that serves from a database.

use std::future::Future;
use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::db::bounded;
use crate::db::postgres::{Address, unlock};
use crate::db::sqlite::FileLock;

/// The interval for checking the session with the lock, and for retrying after the session broke.
const WATCH: Duration = Duration::from_secs(2);

/// The lock of the serving process. Released on drop.
pub enum Leadership {
    /// The operating system keeps the lock while the file is open. It cannot be lost.
    File(FileLock),
    /// The lock belongs to a database session, which can break.
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
    /// Monitors the lock of `session`.
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

    /// Completes when another process has the lock. Never for a file lock.
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
            // The monitor was stopped: the lock was released, not lost.
            std::future::pending::<()>().await;
        }
    }

    /// Releases the lock now.
    pub async fn release(&self) {
        match self {
            Self::File(lock) => lock.release(),
            Self::Session(session) => {
                session.stop.cancel();
                // The monitor closes the channel when it ends.
                let mut lost = session.lost.clone();
                while lost.changed().await.is_ok() {}
            }
        }
    }
}

/// How the monitoring of a lock ended.
enum Kept {
    GivenBack,
    Lost,
}

/// Keeps the lock until it is released or another process has it. A server restart ends the session and the lock. The lock is then taken
/// again, and is lost only if another process was faster.
async fn keep(address: &Address, who: &str, mut session: PgConnection, stop: &CancellationToken) -> Kept {
    loop {
        while bounded(session.ping()).await.is_ok() {
            if !rest(stop).await {
                unlock(session).await;
                return Kept::GivenBack;
            }
        }
        tracing::warn!("the session with the database lock was lost; taking the lock again");
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

/// Waits. False if monitoring should stop.
async fn rest(stop: &CancellationToken) -> bool {
    stop.run_until_cancelled(tokio::time::sleep(WATCH)).await.is_some()
}
