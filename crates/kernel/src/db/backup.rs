//! Copies of the whole database: taken beside a running team, put back while none runs.
//!
//! SQLite copies itself. PostgreSQL is copied by its own `pg_dump` and `pg_restore`.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use chrono::{DateTime, SecondsFormat, Utc};
use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, SqliteConnection};
use tokio::process::Command;

use crate::db::open::check_copy;
use crate::db::{Result, StoreError, postgres, sqlite};

/// The ending of a copy that is being written.
const UNFINISHED: &str = "unfinished";

const PREFIX: &str = "teamroom-";

/// Why a copy was not taken or not put back.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{path}: {reason}", path = .path.display())]
    File { path: PathBuf, reason: String },
    #[error("{place} has {tables} tables; create an empty database, set DATABASE_URL to it, and restore there")]
    NotEmpty { place: String, tables: i64 },
    #[error("{program} is not installed; it comes with PostgreSQL's client programs (on Debian: apt install postgresql-client)")]
    NotInstalled { program: &'static str },
    #[error("{program} failed: {reason}")]
    Failed { program: &'static str, reason: String },
}

impl BackupError {
    fn file(path: &Path, reason: impl Into<String>) -> Self {
        Self::File { path: path.to_owned(), reason: reason.into() }
    }
}

/// The name of a copy that is taken now: `teamroom-2026-11-25T03-00-00Z.db`. Names sort by time.
pub fn name(url: &SecretString, now: DateTime<Utc>) -> String {
    format!("{PREFIX}{}.{}", stamp(now), if is_sqlite(url) { "db" } else { "dump" })
}

/// Whether a file has such a name.
pub fn is_name_of_copy(name: &str) -> bool {
    name.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(".db").or_else(|| rest.strip_suffix(".dump"))).is_some()
}

/// Writes a copy of the database as it is at one instant. `file` appears only when it is complete.
///
/// # Errors
/// `file` exists, or the copy cannot be written.
pub async fn back_up(url: &SecretString, file: &Path) -> Result<(), BackupError> {
    if file.exists() {
        return Err(BackupError::file(file, "is there already; nothing is overwritten"));
    }
    let refused = |error: io::Error| BackupError::file(file, error.to_string());
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(refused)?;
    }
    let unfinished = beside(file, UNFINISHED);
    // Removes the file of an earlier attempt. The new file is private from its first byte on.
    let _ = fs::remove_file(&unfinished);
    create_private(&unfinished).map_err(refused)?;
    let copied = if is_sqlite(url) { copy_sqlite(url, &unfinished).await } else { dump(url, &unfinished).await };
    let copied = copied.and_then(|()| keep(&unfinished, file).map_err(refused));
    if copied.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    copied
}

/// Puts a copy in the place of the database. An existing SQLite file is kept under another name, which is returned. A PostgreSQL database must be
/// empty.
///
/// # Errors
/// A team runs on the database, the file is no copy of such a database, or it cannot be put back. The database is then as before.
pub async fn restore(url: &SecretString, file: &Path, now: DateTime<Utc>) -> Result<Option<PathBuf>, BackupError> {
    let mut start = [0; 16];
    let read = File::open(file).and_then(|mut file| file.read(&mut start)).map_err(|error| BackupError::file(file, error.to_string()))?;
    let (is_file_of_sqlite, is_dump) = (start[..read].starts_with(b"SQLite format 3\0"), start[..read].starts_with(b"PGDMP"));
    let who = format!("process {}, which restores a backup", std::process::id());
    match (is_sqlite(url), is_file_of_sqlite, is_dump) {
        (true, true, _) => restore_sqlite(url, file, &who, now).await,
        (false, _, true) => restore_postgres(url, file, &who).await.map(|()| None),
        (true, _, true) => Err(BackupError::file(file, "is a copy of a PostgreSQL database; set DATABASE_URL to such a database")),
        (false, true, _) => Err(BackupError::file(file, "is a copy of a SQLite database; set DATABASE_URL to such a database")),
        _ => Err(BackupError::file(file, "is not a backup")),
    }
}

fn is_sqlite(url: &SecretString) -> bool {
    url.expose_secret().starts_with("sqlite:")
}

/// The path with a further ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{ending}"));
    name.into()
}

/// Makes a file that only its owner can read. Nothing is overwritten.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Makes a file readable for its owner only. A file that is gone, or belongs to somebody else, stays as it is.
pub(super) fn keep_private(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let is_open = fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o077 != 0);
        if is_open && let Err(error) = fs::set_permissions(path, fs::Permissions::from_mode(0o600)) {
            tracing::warn!(path = %path.display(), %error, "other users of this machine may read this file");
        }
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// Gives a finished file its name, once it is on the disk.
fn keep(finished: &Path, name: &Path) -> io::Result<()> {
    File::open(finished)?.sync_all()?;
    fs::rename(finished, name)?;
    match name.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

async fn copy_sqlite(url: &SecretString, to: &Path) -> Result<(), BackupError> {
    let path = sqlite::Address::parse(url.expose_secret())?.path().to_owned();
    if !path.exists() {
        return Err(BackupError::file(&path, "there is no such database"));
    }
    let mut connection = read_only(&path).await?;
    // Writes into an empty file that exists already.
    let copied = sqlx::query("VACUUM INTO $1").bind(to.to_string_lossy()).execute(&mut connection).await;
    let closed = connection.close().await;
    copied.map_err(StoreError::from)?;
    closed.map_err(StoreError::from)?;
    Ok(())
}

async fn read_only(path: &Path) -> Result<SqliteConnection> {
    Ok(SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(path).read_only(true)).await?)
}

async fn restore_sqlite(url: &SecretString, file: &Path, who: &str, now: DateTime<Utc>) -> Result<Option<PathBuf>, BackupError> {
    let address = sqlite::Address::parse(url.expose_secret())?;
    let path = address.path().to_owned();
    let new = beside(&path, UNFINISHED);
    let refused = |error: io::Error| BackupError::file(&path, error.to_string());
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(refused)?;
    }
    let _lock = address.lock(who)?.map_err(|who| StoreError::Locked { place: address.place(), who })?;
    let _ = fs::remove_file(&new);
    let mut private = create_private(&new).map_err(refused)?;
    // `fs::copy` would also copy the permissions.
    File::open(file).and_then(|mut file| io::copy(&mut file, &mut private)).map_err(|error| BackupError::file(file, error.to_string()))?;
    drop(private);
    if let Err(error) = check_copy(&new).await {
        let _ = fs::remove_file(&new);
        return Err(match error {
            StoreError::Corrupt(reason) => BackupError::file(file, format!("is damaged: {reason}")),
            StoreError::Other(reason) => BackupError::file(file, reason),
            error => BackupError::file(file, error.to_string()),
        });
    }
    let old = path.exists().then(|| beside(&path, &format!("before-{}", stamp(now))));
    if let Some(old) = &old {
        merge_log(&path).await;
        // Until the new file takes the name, the old one keeps it, so that no team ever starts without a database.
        for ending in ["", "-wal", "-shm"] {
            let (from, to) = (with_suffix(&path, ending), with_suffix(old, ending));
            if from.exists() {
                fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop)).map_err(refused)?;
                keep_private(&to);
            }
        }
        for ending in ["-wal", "-shm"] {
            let _ = fs::remove_file(with_suffix(&path, ending));
        }
    }
    keep(&new, &path).map_err(refused)?;
    Ok(old)
}

/// `teamroom.db-wal` of `teamroom.db`.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Moves the write-ahead log into the file, so that the file alone is whole. A damaged file keeps its log.
async fn merge_log(path: &Path) {
    if let Ok(mut connection) = SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(path)).await {
        let _ = sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut connection).await;
        let _ = connection.close().await;
    }
}

/// The time in the name of a file.
fn stamp(now: DateTime<Utc>) -> String {
    now.to_rfc3339_opts(SecondsFormat::Secs, true).replace(':', "-")
}

async fn dump(url: &SecretString, to: &Path) -> Result<(), BackupError> {
    let mut command = client("pg_dump", url)?;
    command.args(["--format=custom", "--no-owner", "--no-privileges", "--file"]).arg(to);
    run("pg_dump", command).await
}

async fn restore_postgres(url: &SecretString, file: &Path, who: &str) -> Result<(), BackupError> {
    let address = postgres::Address::parse(url.expose_secret())?;
    let mut session = address.lock(who).await?.map_err(|who| StoreError::Locked { place: address.place(), who })?;
    let tables = sqlx::query_scalar("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()").fetch_one(&mut session).await;
    let restored = match tables.map_err(StoreError::from) {
        Ok(0_i64) => {
            let mut command = client("pg_restore", url)?;
            command.args(["--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error"]).arg(file);
            run("pg_restore", command).await
        }
        // Tables of a later schema would stay among those of the backup.
        Ok(tables) => Err(BackupError::NotEmpty { place: address.place(), tables }),
        Err(error) => Err(error.into()),
    };
    postgres::unlock(session).await;
    restored
}

/// A client program of PostgreSQL. The password is in its environment, because everybody on this machine sees arguments.
fn client(program: &'static str, url: &SecretString) -> Result<Command, BackupError> {
    let unreadable = || StoreError::Address("cannot be parsed. Write it as postgres://user:password@host:port/database".into());
    let mut url = Url::parse(url.expose_secret()).map_err(|_| unreadable())?;
    let mut command = Command::new(program);
    command.env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    if let Some(password) = url.password().map(decode) {
        command.env("PGPASSWORD", password);
    }
    url.set_password(None).map_err(|()| unreadable())?;
    command.arg("--dbname").arg(url.as_str());
    Ok(command)
}

/// `%40` and the like as the characters that they stand for.
fn decode(text: &str) -> String {
    let pair = format!("password={}", text.replace('+', "%2B"));
    let url = Url::parse(&format!("http://x/?{pair}")).ok();
    url.and_then(|url| url.query_pairs().next().map(|(_, value)| value.into_owned())).unwrap_or_else(|| text.to_owned())
}

async fn run(program: &'static str, mut command: Command) -> Result<(), BackupError> {
    let output = match command.output().await {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(BackupError::NotInstalled { program }),
        Err(error) => return Err(BackupError::Failed { program, reason: error.to_string() }),
    };
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(BackupError::Failed { program, reason: if told.is_empty() { output.status.to_string() } else { told } })
}
