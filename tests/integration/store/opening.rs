//! Opening, sharing, losing and refusing a database.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use kernel::db::StoreError;
use secrecy::{ExposeSecret, SecretString};
use sqlx::migrate::{Migration, Migrator};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqlSafeStr as _, SqliteConnection};
use teamroom::features::chat::store::Claim;
use teamroom::store::Store;

use super::sample::{at, message, noon};
use super::{Home, on_both};

on_both!(
    a_second_process_is_refused_and_told_who_has_it,
    a_visitor_reads_beside_the_team,
    a_visitor_may_be_the_first,
    a_newer_schema_is_refused,
    an_older_schema_in_use_is_left_alone,
    a_closed_store_says_so,
    a_database_of_a_checkout_with_other_line_ends_is_opened,
);

/// Runs SQL outside of the store.
pub(crate) async fn tamper(home: &Home, sql: &str) {
    let url = home.url.expose_secret();
    let sql = AssertSqlSafe(sql.to_owned());
    if url.starts_with("sqlite:") {
        SqliteConnection::connect(url).await.unwrap().execute(sql).await.unwrap();
    } else {
        PgConnection::connect(url).await.unwrap().execute(sql).await.unwrap();
    }
}

/// A connection of another program to a SQLite database.
async fn beside(home: &Home) -> SqliteConnection {
    SqliteConnection::connect(home.url.expose_secret()).await.unwrap()
}

/// A count, read outside of the store.
pub(crate) async fn count(home: &Home, sql: &str) -> i64 {
    let url = home.url.expose_secret();
    let query = sqlx::query_scalar(AssertSqlSafe(sql.to_owned()));
    if url.starts_with("sqlite:") {
        query.fetch_one(&mut SqliteConnection::connect(url).await.unwrap()).await.unwrap()
    } else {
        sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(&mut PgConnection::connect(url).await.unwrap()).await.unwrap()
    }
}

async fn refusal(url: &SecretString) -> StoreError {
    match Store::open(url, noon()).await {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    }
}

async fn a_second_process_is_refused_and_told_who_has_it(home: &Home) {
    let store = home.open().await;
    let error = refusal(&home.url).await;
    let StoreError::Locked { who, .. } = &error else { panic!("{error}") };
    assert!(who.starts_with(&format!("process {} since 2026-11-21T12:00:00Z", std::process::id())), "{who}");
    assert!(!error.is_retryable());
    store.close().await;
    home.open().await.close().await;
}

async fn a_visitor_reads_beside_the_team(home: &Home) {
    let store = home.open().await;
    let visitor = Store::open_shared(&home.url, noon()).await.unwrap();
    store.claim(&message("m1", "hello", 0), at(0)).await.unwrap();
    assert!(visitor.find_message(&"m1".into()).await.unwrap().is_some());
    visitor.close().await;
    assert_eq!(store.claim(&message("m2", "hello", 0), at(0)).await.unwrap(), Claim::New);
    let error = refusal(&home.url).await;
    assert!(matches!(error, StoreError::Locked { .. }), "the team still has it: {error}");
}

async fn a_visitor_may_be_the_first(home: &Home) {
    let home = home.empty().await;
    let visitor = Store::open_shared(&home.url, noon()).await.unwrap();
    assert!(visitor.list_channels().await.unwrap().is_empty());
    home.open().await;
}

async fn a_newer_schema_is_refused(home: &Home) {
    home.open().await.close().await;
    let insert = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (99, 'later', TRUE, '', 0)";
    tamper(home, insert).await;
    let error = refusal(&home.url).await;
    assert!(matches!(error, StoreError::NewerSchema { found: 99, known: 49, .. }), "{error}");
    assert!(error.to_string().contains("use the newer program"), "{error}");
}

/// A checkout with `\r\n` gave the migrations other checksums.
async fn a_database_of_a_checkout_with_other_line_ends_is_opened(home: &Home) {
    home.open().await.close().await;
    let kind = if home.url.expose_secret().starts_with("sqlite:") { "sqlite" } else { "postgres" };
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(kind);
    let windows = Migrator::new(folder).await.unwrap().iter().fold(String::new(), |sql, migration| {
        let text = AssertSqlSafe(migration.sql.as_str().replace('\n', "\r\n")).into_sql_str();
        let (version, description) = (migration.version, migration.description.clone());
        let checksum = Migration::new(version, description, migration.migration_type, text, migration.no_tx).checksum;
        let hex = checksum.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        let bytes = if kind == "sqlite" { format!("x'{hex}'") } else { format!("'\\x{hex}'") };
        format!("{sql}UPDATE _sqlx_migrations SET checksum = {bytes} WHERE version = {version};")
    });
    tamper(home, &windows).await;
    home.open().await.close().await;
    let other = if kind == "sqlite" { "x'00'" } else { "'\\x00'" };
    tamper(home, &format!("UPDATE _sqlx_migrations SET checksum = {other} WHERE version = 1")).await;
    let error = refusal(&home.url).await;
    assert!(error.to_string().contains("cannot update the schema"), "other statements are still refused: {error}");
}

async fn an_older_schema_in_use_is_left_alone(home: &Home) {
    let _team = home.open().await;
    tamper(home, "DELETE FROM _sqlx_migrations WHERE version > 1").await;
    let Err(error) = Store::open_shared(&home.url, noon()).await else { panic!("it was opened") };
    assert!(matches!(error, StoreError::OlderSchema { .. }), "{error}");
}

async fn a_closed_store_says_so(home: &Home) {
    let store = home.open().await;
    store.close().await;
    let error = store.list_channels().await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
}

#[tokio::test]
async fn a_killed_process_leaves_no_lock() {
    let home = Home::sqlite();
    let lock = home.directory.path().join("teamroom.db.lock");
    let mut holder = Command::new("sh")
        .args(["-c", r#"exec 9>>"$0"; flock 9; echo "process 1 since long ago" >&9; echo locked; exec cat"#])
        .arg(&lock)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said.trim(), "locked");

    let error = refusal(&home.url).await;
    assert!(error.to_string().contains("in use by process 1 since long ago"), "{error}");
    holder.kill().unwrap();
    holder.wait().unwrap();
    home.open().await;
}

#[tokio::test]
async fn a_database_file_that_vanishes_is_not_made_anew() {
    let home = Home::sqlite();
    let file = home.directory.path().join("teamroom.db");
    let store = home.open().await;
    store.claim(&message("m1", "hello", 0), at(0)).await.unwrap();

    std::fs::rename(&file, home.directory.path().join("aside.db")).unwrap();
    let error = store.claim(&message("m2", "hello", 0), at(0)).await.unwrap_err();
    assert!(matches!(error, StoreError::Replaced(_)), "{error}");
    assert!(!file.exists());
    std::fs::write(&file, "another").unwrap();
    assert!(matches!(store.enqueue(&[], at(0)).await.unwrap_err(), StoreError::Replaced(_)));

    std::fs::rename(home.directory.path().join("aside.db"), &file).unwrap();
    assert_eq!(store.claim(&message("m2", "hello", 0), at(0)).await.unwrap(), Claim::New, "it is back");
}

#[tokio::test]
async fn a_damaged_file_is_refused_and_kept() {
    let home = Home::sqlite();
    let file = home.directory.path().join("teamroom.db");
    let garbage = b"this was never a database".repeat(100);
    std::fs::write(&file, &garbage).unwrap();
    let error = refusal(&home.url).await;
    assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
    assert!(error.to_string().contains("teamroom.db"), "{error}");
    assert_eq!(std::fs::read(&file).unwrap(), garbage);
}

#[tokio::test]
async fn damage_inside_is_found_by_the_summary() {
    let home = Home::sqlite();
    let file = home.directory.path().join("teamroom.db");
    let store = home.open().await;
    for number in 0..200 {
        store.claim(&message(&format!("m{number}"), &"x".repeat(2000), number), at(0)).await.unwrap();
    }
    store.close().await;
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0xAA);
    std::fs::File::options().write(true).open(&file).unwrap().write_all(&bytes).unwrap();

    let store = home.open().await;
    match store.summary().await {
        Ok(summary) => assert!(!summary.damage.is_empty()),
        Err(error) => assert!(matches!(error, StoreError::Corrupt(_)), "{error}"),
    }
}

#[tokio::test]
async fn a_file_that_may_not_be_written_is_refused() {
    let home = Home::sqlite();
    home.open().await.close().await;
    // Root may run these tests, and file permissions do not restrict it. So the address requests read-only access.
    let read_only = format!("{}?mode=ro", home.url.expose_secret()).into();
    let error = refusal(&read_only).await;
    let StoreError::NotWritable { place, .. } = &error else { panic!("{error}") };
    assert!(place.ends_with("teamroom.db"), "{place}");

    let error = refusal(&"sqlite:/proc/teamroom/teamroom.db".into()).await;
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error}");
    let directory = format!("sqlite:{}", home.directory.path().display()).into();
    let error = refusal(&directory).await;
    assert!(matches!(error, StoreError::NotWritable { .. }), "{error}");
}

#[tokio::test]
async fn an_emptied_file_is_reported_and_stays_and_a_new_one_is_never_empty() {
    let home = Home::sqlite();
    home.open().await.close().await;
    let path = home.directory.path().join("teamroom.db");
    std::fs::write(&path, "").unwrap();
    for _ in 0..2 {
        let error = refusal(&home.url).await;
        assert!(matches!(error, StoreError::Empty { .. }) && error.to_string().contains("teamroom restore"), "{error}");
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
    }
    std::fs::remove_file(&path).unwrap();
    // Another process with the same number died while it created the file. That happens in containers.
    std::fs::write(format!("{}.new-{}", path.display(), std::process::id()), "").unwrap();
    // The file gets its name only after its first page was written.
    let made = home.open().await;
    assert!(std::fs::metadata(&path).unwrap().len() >= 4096);
    made.close().await;
    let left = std::fs::read_dir(home.directory.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains(".new-"));
    assert_eq!(left.count(), 0);
}

#[tokio::test]
async fn a_bad_address_is_refused_without_telling_its_password() {
    for (url, remedy) in [
        ("mysql://u:hunter2@h/db", "must begin with sqlite: or postgres://"),
        ("sqlite::memory:", "Give a file"),
        ("sqlite:x.db?mode=memory", "Give a file"),
        ("sqlite:", "Write it as sqlite:path/to/teamroom.db"),
        ("sqlite:x.db?mode=hunter2", "cannot be read"),
        ("postgres://u:hunter2@h:port/db", "postgres://user:password@host:port/database"),
    ] {
        let error = refusal(&url.into()).await;
        assert!(matches!(error, StoreError::Address(_)), "{url}: {error}");
        assert!(error.to_string().contains(remedy), "{url}: {error}");
        assert!(!url.contains(":hunter2") || !error.to_string().contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_is_away_is_worth_another_try() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = refusal(&format!("postgres://u:hunter2@127.0.0.1:{nobody}/db").into()).await;
    assert!(error.is_retryable(), "{error}");
    assert!(!error.to_string().contains("hunter2"), "{error}");
}

#[tokio::test]
async fn a_database_that_is_not_there_is_told_apart_from_a_server_that_is_away() {
    let Some(home) = Home::postgres().await else { return };
    let error = refusal(&format!("{}_missing", home.url.expose_secret()).into()).await;
    assert!(matches!(error, StoreError::Address(_)), "{error}");
    assert!(error.to_string().contains("does not exist"), "{error}");
}

#[tokio::test]
async fn a_stranger_that_holds_the_file_is_waited_for() {
    let home = Home::sqlite();
    let store = home.open().await;
    let mut stranger = SqliteConnection::connect(home.url.expose_secret()).await.unwrap();
    stranger.execute("BEGIN IMMEDIATE").await.unwrap();
    let waiting = store.clone();
    let mut waiting = tokio::spawn(async move { waiting.claim(&message("m1", "hello", 0), at(0)).await });
    assert!(tokio::time::timeout(Duration::from_millis(200), &mut waiting).await.is_err(), "it waits");
    stranger.execute("COMMIT").await.unwrap();
    assert_eq!(waiting.await.unwrap().unwrap(), Claim::New);
}

#[tokio::test]
async fn connections_that_break_are_a_pause() {
    let Some(home) = Home::postgres().await else { return };
    let store = home.open().await;
    store.claim(&message("m1", "hello", 0), at(0)).await.unwrap();
    let mut admin = PgConnection::connect(home.url.expose_secret()).await.unwrap();
    end_sessions(&mut admin, "TRUE").await;
    // Each broken connection is noticed when it is used next. There are at most six.
    let mut attempts = 0;
    while let Err(error) = store.claim(&message("m2", "hello", 0), at(0)).await {
        assert!(error.is_retryable(), "{error}");
        attempts += 1;
        assert!(attempts <= 6, "{error}");
    }
    assert_eq!(store.claim(&message("m2", "hello", 0), at(0)).await.unwrap(), Claim::Known);
}

#[tokio::test]
async fn a_team_that_lost_the_database_to_another_hears_of_it() {
    let Some(home) = Home::postgres().await else { return };
    let store = home.open().await;
    let lost = store.lost_leadership();
    let mut other = PgConnection::connect(home.url.expose_secret()).await.unwrap();
    end_sessions(&mut other, "application_name LIKE 'teamroom process %'").await;
    let key = i64::from_be_bytes(*b"teamroom");
    sqlx::query("SELECT pg_advisory_lock($1)").bind(key).execute(&mut other).await.unwrap();
    tokio::time::timeout(Duration::from_secs(30), lost).await.expect("the loss is noticed");
}

async fn end_sessions(admin: &mut PgConnection, which: &str) {
    let sql = format!(
        "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND {which}"
    );
    let ended: i64 = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(admin).await.unwrap();
    assert!(ended > 0);
}

/// The machine loses power while the write-ahead log is written: whatever is left of it, what was committed before opens again.
#[tokio::test]
async fn a_cut_write_ahead_log_is_recovered() {
    const MESSAGES: usize = 30;
    let home = Home::sqlite();
    let store = home.open().await;
    for number in 0..MESSAGES {
        store.claim(&message(&format!("m{number}"), "hello", 0), at(0)).await.unwrap();
    }
    let (log, data) = (home.directory.path().join("teamroom.db-wal"), home.directory.path().join("teamroom.db"));
    let (log, data) = (std::fs::read(log).unwrap(), std::fs::read(data).unwrap());
    assert!(log.len() > 10_000, "the messages are in the log: {}", log.len());
    let mut random = crate::support::long::random();
    // At each header, within it, behind it, and anywhere.
    let frames = (HEADER..log.len()).step_by(FRAME + PAGE);
    let mut cuts: Vec<usize> = frames.flat_map(|frame| [frame, frame + random.usize(1..FRAME), frame + FRAME]).collect();
    cuts.extend([0, 10, HEADER - 1, log.len() - 1, log.len()]);
    cuts.extend((0..20).map(|_| random.usize(..log.len())));
    cuts.sort_unstable();
    let mut before = 0;
    for length in cuts.into_iter().filter(|length| *length <= log.len()) {
        let kept = recover(&data, &log[..length]).await;
        assert!(kept >= before && (length < log.len() || kept == MESSAGES), "{kept} of {length} bytes");
        before = kept;
    }
    // A part of the file was never written: the header, that of a frame, the middle of a page.
    for from in [0, HEADER, HEADER + FRAME + PAGE, log.len() / 2, random.usize(..log.len() - 3000)] {
        for unwritten in [0, 0x5A] {
            let mut garbled = log.clone();
            garbled[from..from + 3000].fill(unwritten);
            assert!(recover(&data, &garbled).await < MESSAGES, "from {from}");
        }
    }
    drop(store);
}

/// Sizes in a write-ahead log, <https://sqlite.org/fileformat2.html#the_write_ahead_log>: its header, that of a frame, a page.
const HEADER: usize = 32;
const FRAME: usize = 24;
const PAGE: usize = 4096;

/// The number of messages in a database with this log. It takes another one.
async fn recover(data: &[u8], log: &[u8]) -> usize {
    let after = Home::sqlite();
    std::fs::write(after.directory.path().join("teamroom.db"), data).unwrap();
    std::fs::write(after.directory.path().join("teamroom.db-wal"), log).unwrap();
    let opened = after.open().await;
    let kept = count(&after, "SELECT COUNT(*) FROM inbox").await;
    assert_eq!(opened.claim(&message("after", "hello", 0), at(0)).await.unwrap(), Claim::New);
    let damage: String = sqlx::query_scalar("PRAGMA quick_check").fetch_one(&mut beside(&after).await).await.unwrap();
    assert_eq!(damage, "ok", "{} bytes", log.len());
    usize::try_from(kept).unwrap()
}

/// A disk that loses what it said was written: the file is of later than its log. It opens, or says where it is and what helps.
#[tokio::test]
async fn a_database_that_does_not_fit_its_log_opens_or_says_what_helps() {
    let home = Home::sqlite();
    let store = home.open().await;
    let paths = ["teamroom.db", "teamroom.db-wal"].map(|name| home.directory.path().join(name));
    for number in 0..40 {
        store.claim(&message(&format!("m{number}"), &"hello ".repeat(200), 0), at(0)).await.unwrap();
    }
    let early = paths.clone().map(|path| std::fs::read(path).unwrap());
    for number in 40..80 {
        store.claim(&message(&format!("m{number}"), &"hello ".repeat(200), 0), at(0)).await.unwrap();
    }
    sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").execute(&mut beside(&home).await).await.unwrap();
    let late = paths.map(|path| std::fs::read(path).unwrap());
    let mut random = crate::support::long::random();
    for (data, log) in [(&late[0], &early[1]), (&early[0], &late[1])] {
        for _ in 0..10 {
            let mut torn = data.clone();
            torn.truncate(data.len() - random.usize(..data.len() / 2));
            for data in [data, &torn] {
                let after = Home::sqlite();
                std::fs::write(after.directory.path().join("teamroom.db"), data).unwrap();
                std::fs::write(after.directory.path().join("teamroom.db-wal"), &log[..random.usize(..log.len())]).unwrap();
                if let Err(error) = Store::open(&after.url, at(0)).await {
                    let told = error.to_string();
                    assert!(told.contains("teamroom.db") && told.contains("restore a backup"), "{told}");
                }
            }
        }
    }
}
