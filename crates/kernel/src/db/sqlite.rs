//! SQLite: opening the file, locking out a second process, and detecting a replaced file.

use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

use crate::db::backup::{create_private, keep_private};
use crate::db::connections::Connections;
use crate::db::{Result, StoreError};

/// Reads are short and rarely concurrent. Each connection costs a thread and a page cache.
const READERS: u32 = 2;

/// How long a write waits for another program's lock, such as a backup or the sqlite3 shell.
const BUSY: Duration = Duration::from_secs(5);

/// From a write until the log is moved into the file.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(2);

/// The opened database file.
#[derive(Clone)]
pub(super) struct DatabaseFile {
    path: Arc<Path>,
    identity: FileIdentity,
}

/// SQLite allows one writer at a time. One connection queues writers in order; waiting inside SQLite would poll without order.
#[derive(Clone)]
pub struct SqlitePools {
    pub(super) writer: Connections,
    pub(super) reader: Connections,
    pub(super) file: DatabaseFile,
    pub(super) checkpoints: Checkpoints,
}

/// Moves the write-ahead log into the file from time to time. This waits for the disk, so it runs beside the commits.
#[derive(Clone)]
pub(super) struct Checkpoints {
    written: Arc<Notify>,
    connection: Connections,
    _task: Arc<AbortOnDropHandle<()>>,
}

impl Checkpoints {
    fn start(options: SqliteConnectOptions) -> Self {
        // A checkpoint is always slow, so it is not logged with the statements.
        let (written, connection) = (Arc::<Notify>::default(), Connections::new(options.disable_statement_logging(), 1));
        let (heard, own) = (written.clone(), connection.clone());
        let task = tokio::spawn(async move {
            loop {
                heard.notified().await;
                tokio::time::sleep(CHECKPOINT_EVERY).await;
                // Never waits for a writer or a reader; what they still need stays in the log.
                match sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").execute(&own).await {
                    Ok(_) => {}
                    Err(sqlx::Error::PoolClosed) => return,
                    Err(error) => tracing::debug!(%error, "the log cannot be moved into the database file yet"),
                }
            }
        });
        Self { written, connection, _task: Arc::new(AbortOnDropHandle::new(task)) }
    }

    /// Plans a checkpoint, because something is about to be written.
    pub(super) fn plan(&self) {
        self.written.notify_one();
    }

    pub(super) async fn close(&self) {
        self.connection.close().await;
    }
}

/// Device and inode. None on systems without them.
type FileIdentity = Option<(u64, u64)>;

impl DatabaseFile {
    fn opened(path: &Path) -> Self {
        Self { path: path.into(), identity: identity(path) }
    }

    /// Checks that the file is still the same. SQLite does not notice a deleted or replaced file and writes into one that no other process
    /// can open.
    pub(super) fn check(&self) -> Result<()> {
        if identity(&self.path) == self.identity { Ok(()) } else { Err(StoreError::Replaced(self.path.to_path_buf())) }
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> FileIdentity {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn identity(_path: &Path) -> FileIdentity {
    None
}

/// A parsed SQLite address.
pub(super) struct Address {
    options: SqliteConnectOptions,
    path: PathBuf,
}

impl Address {
    /// Reads `sqlite:path` or `sqlite://path?mode=…`.
    pub(super) fn parse(url: &str) -> Result<Self> {
        if url.contains(":memory:") || url.contains("mode=memory") {
            return Err(StoreError::Address("is a database in memory, which would lose everything. Give a file".into()));
        }
        let options = SqliteConnectOptions::from_str(url).map_err(|error| StoreError::Address(format!("cannot be read: {error}")))?;
        let path = options.get_filename().to_path_buf();
        if path.as_os_str().is_empty() {
            return Err(StoreError::Address("has no file. Write it as sqlite:path/to/teamroom.db".into()));
        }
        let options = options
            .create_if_missing(false)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal)
            .busy_timeout(BUSY)
            .foreign_keys(true)
            // In KiB per connection, instead of 2 MB. Enough for the hot pages of a year's conversations.
            .pragma("cache_size", "-1000")
            // In pages of 4 KiB, instead of 1000. A commit that finds a longer log moves it itself, see `Checkpoints`.
            .pragma("wal_autocheckpoint", "16000")
            // The log is truncated to this many bytes after a burst.
            .pragma("journal_size_limit", "16777216");
        Ok(Self { options, path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file's name, for people.
    pub(super) fn place(&self) -> String {
        self.path.display().to_string()
    }

    /// Creates the file and its directory if needed. SQLite itself never creates the file, because it would also do so after a file in use
    /// was deleted.
    ///
    /// The file appears with its first page. So a file of zero bytes was emptied by something else.
    pub(super) async fn create(&self) -> Result<()> {
        let refused = |error: std::io::Error| self.not_writable(&error.to_string());
        // An existing file is not opened here: closing it would drop this process's locks on it.
        match std::fs::metadata(&self.path) {
            Ok(file) if file.is_file() && file.len() == 0 => return Err(StoreError::Empty { place: self.place() }),
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(refused(error)),
        }
        if let Some(directory) = self.path.parent() {
            std::fs::create_dir_all(directory).map_err(refused)?;
        }
        let mut fresh = self.path.clone().into_os_string();
        fresh.push(format!(".new-{}", std::process::id()));
        let written = self.write_first_page(Path::new(&fresh)).await;
        let named = written.and_then(|()| give_name(Path::new(&fresh), &self.path).map_err(refused));
        // If this fails, the file that is left harms nobody.
        let _ = std::fs::remove_file(&fresh);
        named
    }

    async fn write_first_page(&self, path: &Path) -> Result<()> {
        // The log and its index get the same permissions from SQLite.
        let _ = std::fs::remove_file(path);
        create_private(path).map_err(|error| self.not_writable(&error.to_string()))?;
        let options = self.options.clone().filename(path);
        // Switching to the write-ahead log writes the first page.
        let connection = SqliteConnection::connect_with(&options).await.map_err(|error| self.explain(error))?;
        connection.close().await.map_err(|error| self.explain(error))
    }

    /// Takes the files of earlier versions away from other users of the machine. Not possible if they belong to somebody else.
    pub(super) fn make_private(&self) {
        for ending in ["", "-wal", "-shm"] {
            let mut path = self.path.clone().into_os_string();
            path.push(ending);
            keep_private(Path::new(&path));
        }
    }

    /// Opens the writer, and the readers once they are needed.
    pub(super) async fn connect(&self) -> Result<SqlitePools> {
        let file = DatabaseFile::opened(&self.path);
        let writer = Connections::new(self.options.clone(), 1);
        refuse_old(&writer).await.map_err(|error| self.explain(error))?;
        let reader = Connections::new(self.options.clone().read_only(true), READERS);
        Ok(SqlitePools { writer, reader, file, checkpoints: Checkpoints::start(self.options.clone()) })
    }

    /// Locks out a second process. The lock is a file beside the database, because SQLite's own locks last only for a transaction. The
    /// system releases it when the process ends.
    ///
    /// The inner error says who holds it.
    pub(super) fn lock(&self, who: &str) -> Result<Result<FileLock, String>> {
        let mut path = self.path.clone().into_os_string();
        path.push(".lock");
        let refused = |error: std::io::Error| self.not_writable(&error.to_string());
        let mut file = File::options().create(true).read(true).write(true).truncate(false).open(path).map_err(refused)?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0).and_then(|()| file.write_all(who.as_bytes())).map_err(refused)?;
                Ok(Ok(FileLock(file)))
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Only for the error message. Some systems do not allow reading a locked file.
                let _ = file.read_to_string(&mut holder);
                Ok(Err(if holder.is_empty() { "another process".into() } else { holder }))
            }
            Err(TryLockError::Error(error)) => Err(refused(error)),
        }
    }

    /// Adds the file's name to an error.
    pub(super) fn explain(&self, error: impl Into<StoreError>) -> StoreError {
        match error.into() {
            StoreError::NotWritable { reason, .. } => self.not_writable(&reason),
            StoreError::Corrupt(reason) => StoreError::Corrupt(format!("{}: {reason}", self.place())),
            other => other,
        }
    }

    fn not_writable(&self, reason: &str) -> StoreError {
        StoreError::NotWritable { place: self.place(), reason: reason.to_owned() }
    }
}

/// A locked file.
pub struct FileLock(File);

impl FileLock {
    pub(super) fn release(&self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "cannot release the database lock; it ends with the process");
        }
    }
}

impl Drop for FileLock {
    /// Closing the file is not enough: a child process that is just being started has it open until it runs its own program.
    fn drop(&mut self) {
        self.release();
    }
}

/// Gives a new file its name. A link never replaces what another process has made meanwhile; some file systems have none.
fn give_name(fresh: &Path, path: &Path) -> std::io::Result<()> {
    match std::fs::hard_link(fresh, path) {
        Ok(()) => Ok(()),
        Err(_) if path.exists() => Ok(()),
        Err(_) => std::fs::rename(fresh, path),
    }
}

/// Refuses versions in which two connections that write or checkpoint at once can damage the file (3.7.0 to 3.51.2, see "WAL-reset bug" on
/// <https://sqlite.org/wal.html>).
async fn refuse_old(writer: &Connections) -> Result<()> {
    let found: String = sqlx::query_scalar("SELECT sqlite_version()").fetch_one(writer).await?;
    let version: Vec<u32> = found.split('.').filter_map(|part| part.parse().ok()).collect();
    if version.as_slice() < [3, 51, 3].as_slice() { Err(StoreError::OldSqlite { found }) } else { Ok(()) }
}
