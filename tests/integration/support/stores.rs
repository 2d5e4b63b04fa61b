//! Which store a story runs on.
//!
//! A story about crashes, outages or several processes runs on both stores, as do the contracts of the stores in `store` and `jobs`. Any other runs on
//! one, chosen by its name, so that each store is used by half of them. `TEAMROOM_TEST_STORES` overrides that: `all`, `sqlite` or `postgres`.

use sha2::{Digest, Sha256};

use super::postgres;

/// The store of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backing {
    Sqlite,
    Postgres,
}

/// Creates tests that run on each store, for stories that need both. Their futures are on the heap, because without optimisation large ones fill the
/// stack of a thread.
macro_rules! on_both_stores {
    ($($(#[$attribute:meta])* $name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            $(#[$attribute])*
            async fn $name() {
                Box::pin(super::$name($crate::support::team::Backing::Sqlite)).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            $(#[$attribute])*
            async fn $name() {
                if $crate::support::postgres::is_there().await {
                    Box::pin(super::$name($crate::support::team::Backing::Postgres)).await;
                }
            })+
        }
    };
}
pub(crate) use on_both_stores;

/// Creates tests that run on the store that their name chooses.
macro_rules! on_one_store {
    ($($(#[$attribute:meta])* $name:ident),+ $(,)?) => {
        mod one_store {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            $(#[$attribute])*
            async fn $name() {
                for backing in $crate::support::stores::choose(concat!(module_path!(), "::", stringify!($name))).await {
                    Box::pin(super::$name(backing)).await;
                }
            })+
        }
    };
}
pub(crate) use on_one_store;

/// The stores for the story of this name. Says which, so that the output of a failed test names it.
pub(crate) async fn choose(story: &str) -> Vec<Backing> {
    let asked = std::env::var_os("TEAMROOM_TEST_STORES").unwrap_or_default();
    let mut chosen = match asked.to_string_lossy().as_ref() {
        "" => vec![by_name(story)],
        "all" => vec![Backing::Sqlite, Backing::Postgres],
        "sqlite" => vec![Backing::Sqlite],
        "postgres" => vec![Backing::Postgres],
        other => panic!("TEAMROOM_TEST_STORES is {other:?}; it can be all, sqlite or postgres"),
    };
    if chosen.contains(&Backing::Postgres) && !postgres::is_there().await {
        chosen = vec![Backing::Sqlite];
    }
    println!("{story} runs on {chosen:?}");
    chosen
}

/// Depends on nothing but the name, so that a story stays on its store.
fn by_name(story: &str) -> Backing {
    if Sha256::digest(story)[0].is_multiple_of(2) { Backing::Sqlite } else { Backing::Postgres }
}

#[test]
fn names_choose_each_store_about_as_often() {
    let on_sqlite = (0..1000).filter(|number| by_name(&format!("story_{number}")) == Backing::Sqlite).count();
    assert!((400..=600).contains(&on_sqlite), "{on_sqlite} of 1000");
    assert_eq!(by_name("a"), by_name("a"));
}
