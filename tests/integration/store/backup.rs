//! Copies of the whole database, taken while a team runs and put back while none does.

use std::fs;

use kernel::agent::halts::HaltScope;
use kernel::db::backup::{back_up, restore};
use secrecy::ExposeSecret;

use super::sample::{at, noon};
use super::{Home, on_both};
use crate::support::migrated;

on_both!(
    a_copy_of_a_running_team_is_put_back_whole,
    nothing_is_put_back_over_a_running_team,
    a_copy_that_was_cut_off_is_written_again,
    what_is_no_copy_is_refused_and_changes_nothing,
);

async fn a_copy_of_a_running_team_is_put_back_whole(home: &Home) {
    let store = home.open().await;
    store.halt(&HaltScope::All, "Ada", at(1)).await.unwrap();
    let copy = home.directory.path().join("a folder").join("copy");
    back_up(&home.url, &copy).await.unwrap();
    assert!(store.resume(&HaltScope::All).await.unwrap(), "the team goes on meanwhile");
    store.close().await;
    let again = back_up(&home.url, &copy).await.unwrap_err().to_string();
    assert!(again.contains("is there already"), "{again}");

    let new = home.empty().await;
    assert_eq!(restore(&new.url, &copy, noon()).await.unwrap(), None);
    let store = new.open().await;
    let halts = store.list_halts().await.unwrap();
    assert_eq!((halts.len(), halts[0].by.as_str()), (1, "Ada"));
    store.close().await;
}

async fn nothing_is_put_back_over_a_running_team(home: &Home) {
    let copy = home.directory.path().join("copy");
    back_up(&home.url, &copy).await.unwrap();
    let store = home.open().await;
    let refused = restore(&home.url, &copy, noon()).await.unwrap_err().to_string();
    assert!(refused.contains("in use by"), "{refused}");
    store.halt(&HaltScope::All, "Ada", at(1)).await.unwrap();
    store.close().await;
}

async fn a_copy_that_was_cut_off_is_written_again(home: &Home) {
    let copy = home.directory.path().join("copy");
    let unfinished = home.directory.path().join("copy.unfinished");
    fs::write(&unfinished, "half").unwrap();
    back_up(&home.url, &copy).await.unwrap();
    assert!(copy.exists() && !unfinished.exists());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o077, 0, "it has what was said in private");
    }
}

async fn what_is_no_copy_is_refused_and_changes_nothing(home: &Home) {
    let store = home.open().await;
    store.halt(&HaltScope::All, "Ada", at(1)).await.unwrap();
    store.close().await;
    let place = home.directory.path();
    let copy = place.join("copy");
    back_up(&home.url, &copy).await.unwrap();
    let whole = fs::read(&copy).unwrap();
    fs::write(place.join("cut off"), &whole[..whole.len() / 2]).unwrap();
    fs::write(place.join("a letter"), "Dear landlord").unwrap();
    let empty = home.empty().await;
    for name in ["cut off", "a letter", "not there"] {
        let refused = restore(&empty.url, &place.join(name), noon()).await.unwrap_err().to_string();
        assert!(!refused.is_empty(), "{name}");
        if let Some(file) = empty.url.expose_secret().strip_prefix("sqlite:") {
            assert!(!fs::exists(file).unwrap(), "{name} was put in place");
        }
    }
    let store = home.open().await;
    assert_eq!(store.list_halts().await.unwrap().len(), 1);
    store.close().await;
}

#[tokio::test]
async fn on_sqlite_what_was_there_is_kept_beside_it() {
    let home = Home::sqlite();
    let copy = home.directory.path().join("copy");
    back_up(&home.url, &copy).await.unwrap();
    let store = home.open().await;
    store.halt(&HaltScope::All, "Ada", at(1)).await.unwrap();
    store.close().await;

    let old = restore(&home.url, &copy, noon()).await.unwrap().expect("there was a database");
    let store = home.open().await;
    assert!(store.list_halts().await.unwrap().is_empty());
    store.close().await;
    let other = home.empty().await;
    assert_eq!(restore(&other.url, &old, noon()).await.unwrap(), None);
    let store = other.open().await;
    assert_eq!(store.list_halts().await.unwrap().len(), 1, "it can be put back");
    store.close().await;
}

#[tokio::test]
async fn on_sqlite_the_database_of_another_program_is_refused() {
    use sqlx::{Connection as _, SqliteConnection};

    let home = Home::sqlite();
    let path = home.directory.path().join("other.db");
    let mut other = SqliteConnection::connect(&format!("sqlite:{}?mode=rwc", path.display())).await.unwrap();
    sqlx::query("CREATE TABLE songs (title TEXT)").execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    let refused = restore(&home.url, &path, noon()).await.unwrap_err().to_string();
    assert!(refused.ends_with("other.db: is the database of another program"), "{refused}");
}

#[tokio::test]
async fn on_postgresql_a_database_with_tables_is_refused() {
    let Some(url) = migrated::postgres().await else { return };
    let home = Home { url: url.into(), directory: tempfile::tempdir().unwrap() };
    let copy = home.directory.path().join("copy");
    back_up(&home.url, &copy).await.unwrap();
    let refused = restore(&home.url, &copy, noon()).await.unwrap_err().to_string();
    assert!(refused.contains("create an empty database"), "{refused}");
    let sqlite = Home::sqlite();
    let refused = restore(&sqlite.url, &copy, noon()).await.unwrap_err().to_string();
    assert!(refused.contains("is a copy of a PostgreSQL database"), "{refused}");
}
