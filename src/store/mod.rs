//! The store: everything that the team must still know after `kill -9`, in SQLite or PostgreSQL.
//!
//! The only folder with SQL. Each flow of the team has one method here that writes its whole result in one transaction, and each
//! method that claims or ends something says whether it was the one to do so; who comes second writes nothing. Rows are domain
//! types wherever the domain has one.
//!
//! - `engine`: the two databases, opening them, the lock against a second process;
//! - `talk`: what was heard, decided and said;
//! - `meeting`: meetings, who spoke in them, and what they leave behind;
//! - `work`: the backlog; `memory`: what the team has learnt;
//! - `limits`: what holds the team back: halts, the guard's records, money;
//! - `schedule`: jobs that people added, and what fired;
//! - `insight`: what people look at afterwards.
//!
//! Nothing here decides anything about the talk, and nothing waits for a model or a platform.

mod engine;
mod error;
mod identities;
mod insight;
mod limits;
mod meeting;
mod memory;
mod schedule;
mod talk;
mod work;

use std::future::Future;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use secrecy::{ExposeSecret, SecretString};

use engine::{Db, Leadership, Opened, Use};

pub use error::StoreError;
pub use identities::Identity;
pub use insight::{ActivityKind, ActivityLine, BlockRow, BoardCard, BoardFilter, CallRow, DeliveryRow, Summary, Trace};
pub use limits::{Blocked, Halt, HaltScope, ReserveError, Reserved, Spent};
pub use meeting::{Called, OpenMeeting, StandupClosing, StoredReport};
pub use schedule::{Fired, FiringEffect, NewFiring};
pub use talk::{
    AskUpdate, CancelScope, ChannelSeen, Claim, Decided, Delivery, FileText, Finished, FollowUp, InboxRow, MeetingStep, OutboxRow, TurnRow,
};
pub use work::{
    ClaimTerms, Claimed, End, Ended, InsertItemsError, ItemAnswer, ItemChange, ItemCounts, ItemEdit, ItemEvent, ItemFilter, ItemJudgement,
    Planned, RunEnd, SeenLease,
};

use error::Result;

/// The team's store. Cheap to clone; all clones are one store.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    db: Db,
    leadership: Option<Leadership>,
    place: String,
}

impl Store {
    /// Opens the database at `url` to serve from it, creating it and bringing its schema up to date. `now` goes into what a second
    /// process is told.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another process serves from it; otherwise why it cannot be used.
    pub async fn open(url: &SecretString, now: DateTime<Utc>) -> Result<Self> {
        engine::open(url.expose_secret(), Use::Serve, now).await.map(Self::new)
    }

    /// Opens the database at `url` beside a process that may be serving from it.
    ///
    /// # Errors
    /// [`StoreError::OlderSchema`] when that process is an older program; otherwise why it cannot be used.
    pub async fn open_shared(url: &SecretString, now: DateTime<Utc>) -> Result<Self> {
        engine::open(url.expose_secret(), Use::Share, now).await.map(Self::new)
    }

    fn new(opened: Opened) -> Self {
        Self { inner: Arc::new(Inner { db: opened.db, leadership: opened.leadership, place: opened.place }) }
    }

    /// Where the database is, for people: a path, or a name and a host.
    pub fn place(&self) -> &str {
        &self.inner.place
    }

    /// Ends when another process has taken over the database, so that this one must stop. On SQLite it never does.
    pub fn lost_leadership(&self) -> impl Future<Output = ()> + Send + use<> {
        let lost = self.inner.leadership.as_ref().map(Leadership::lost);
        async move {
            match lost {
                Some(lost) => lost.await,
                None => std::future::pending::<()>().await,
            }
        }
    }

    /// Closes the connections and gives the lock back. What is called afterwards gets [`StoreError::Unavailable`].
    pub async fn close(&self) {
        self.inner.db.close().await;
        if let Some(leadership) = &self.inner.leadership {
            leadership.release().await;
        }
    }

    fn db(&self) -> &Db {
        &self.inner.db
    }
}
