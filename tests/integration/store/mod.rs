//! The store, by one story for each thing it promises, told on SQLite and on PostgreSQL.

mod asks;
mod closing;
mod crash;
mod identities;
mod inbox;
mod insight;
mod limits;
mod meetings;
mod memory;
mod opening;
mod outbox;
mod retention;
pub(crate) mod sample;
mod samples;
mod standup;
mod statements;
mod transcript;
mod turns;
mod work;

use secrecy::{ExposeSecret, SecretString};
use teamroom::store::Store;

use crate::support::{migrated, postgres};
use sample::noon;

/// A database of its own for each test.
pub(crate) struct Home {
    url: SecretString,
    directory: tempfile::TempDir,
}

impl Home {
    pub(crate) fn sqlite() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let url = migrated::sqlite(&directory.path().join("teamroom.db")).into();
        Self { url, directory }
    }

    /// None where there is no PostgreSQL.
    pub(crate) async fn postgres() -> Option<Self> {
        let url = migrated::postgres().await?.into();
        Some(Self { url, directory: tempfile::tempdir().expect("a temporary directory") })
    }

    /// A database on the same store in which nothing was ever done.
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

/// Makes two tests of each story.
macro_rules! on_both {
    ($($story:ident),+ $(,)?) => {$(
        mod $story {
            #[tokio::test]
            async fn on_sqlite() {
                super::$story(&crate::store::Home::sqlite()).await;
            }

            #[tokio::test]
            async fn on_postgresql() {
                if let Some(home) = crate::store::Home::postgres().await {
                    super::$story(&home).await;
                }
            }
        }
    )+};
}
pub(crate) use on_both;
