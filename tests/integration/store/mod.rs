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
mod sample;
mod samples;
mod standup;
mod statements;
mod transcript;
mod turns;
mod work;

use secrecy::SecretString;
use teamroom::store::Store;

use crate::support::postgres;
use sample::noon;

/// A database of its own for each test.
pub(crate) struct Home {
    url: SecretString,
    directory: tempfile::TempDir,
}

impl Home {
    pub(crate) fn sqlite() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let url = format!("sqlite:{}", directory.path().join("teamroom.db").display()).into();
        Self { url, directory }
    }

    /// None where there is no PostgreSQL.
    pub(crate) async fn postgres() -> Option<Self> {
        let url = postgres::database().await?.into();
        Some(Self { url, directory: tempfile::tempdir().expect("a temporary directory") })
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
