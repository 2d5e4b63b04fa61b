//! The store: one test per guarantee, on SQLite and PostgreSQL.

mod asks;
mod backup;
pub(crate) mod crash;
mod events;
mod identities;
mod inbox;
mod insight;
mod limits;
pub(crate) mod meeting_sample;
mod meetings;
mod memory;
pub(crate) mod opening;
mod outbox;
pub(crate) mod platform_ids;
mod relay;
mod retention;
pub(crate) mod sample;
mod samples;
mod statements;
mod transcript;
mod turns;
mod unreadable;
mod work;

use secrecy::{ExposeSecret, SecretString};
use teamroom::store::Store;

use crate::support::{migrated, postgres};
use sample::noon;

/// A separate database for each test.
pub(crate) struct Home {
    pub(crate) url: SecretString,
    pub(crate) directory: tempfile::TempDir,
}

impl Home {
    pub(crate) fn sqlite() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let url = migrated::sqlite(&directory.path().join("teamroom.db")).into();
        Self { url, directory }
    }

    /// None without PostgreSQL.
    pub(crate) async fn postgres() -> Option<Self> {
        let url = migrated::postgres().await?.into();
        Some(Self { url, directory: tempfile::tempdir().expect("a temporary directory") })
    }

    /// A new empty database on the same server.
    pub(crate) async fn empty(&self) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let url = if self.url.expose_secret().starts_with("sqlite:") {
            format!("sqlite:{}", directory.path().join("teamroom.db").display())
        } else {
            postgres::database().await.expect("a database")
        };
        Self { url: url.into(), directory }
    }

    pub(crate) async fn open(&self) -> Store {
        Store::open(&self.url, noon()).await.expect("the store opens")
    }
}

/// Creates two tests from each test function. Its future is on the heap, because without optimisation large ones fill the stack of a thread.
macro_rules! on_both {
    ($($story:ident),+ $(,)?) => {$(
        mod $story {
            #[tokio::test]
            async fn on_sqlite() {
                Box::pin(super::$story(&crate::store::Home::sqlite())).await;
            }

            #[tokio::test]
            async fn on_postgresql() {
                if let Some(home) = crate::store::Home::postgres().await {
                    Box::pin(super::$story(&home)).await;
                }
            }
        }
    )+};
}
pub(crate) use on_both;
