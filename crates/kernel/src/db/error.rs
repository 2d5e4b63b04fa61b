use std::path::PathBuf;

use sqlx::error::DatabaseError;

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// A database error. The variant says how to handle it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process owns the database. `who` describes it.
    #[error("the database {place} is in use by {who}; stop that one first, or give this one a database of its own")]
    Locked { place: String, who: String },
    #[error("the database {place} cannot be written ({reason}); make it and its directory writable for this user")]
    NotWritable { place: String, reason: String },
    /// The database file was deleted or replaced. Writes are refused, because they would be lost.
    #[error("the database file {} was removed or replaced while the team ran; nothing more is written. Put it back, then start again", .0.display())]
    Replaced(PathBuf),
    /// Temporary: PostgreSQL is down, the disk is full, or another program holds a lock.
    #[error("the database cannot be used at the moment: {0}")]
    Unavailable(String),
    #[error("the database {place} has schema {found}, this program knows schemas up to {known}; use the newer program")]
    NewerSchema { place: String, found: i64, known: i64 },
    #[error("the database {place} is from an older program and another process runs on it; stop that process, then try again")]
    OlderSchema { place: String },
    #[error("the database is damaged ({0}); keep the file and restore a backup")]
    Corrupt(String),
    /// Something emptied the file. A new database in its place would hide that.
    #[error(
        "the database {place} is empty (0 bytes), so something has destroyed it; put a backup in its place with `teamroom restore`, or delete it to start with an empty one"
    )]
    Empty { place: String },
    /// Only for what reads: everything else creates it.
    #[error(
        "there is no database at {place}; `teamroom run` and `teamroom sandbox` make one. If there is one elsewhere, go to its folder, or set DATABASE_URL"
    )]
    Missing { place: String },
    #[error("the database address {0}")]
    Address(String),
    #[error("SQLite {found} is too old: versions before 3.51.3 can damage a database; build with the bundled one")]
    OldSqlite { found: String },
    /// A bug in this program, or an unexpected database setup.
    #[error("the database refused: {0}")]
    Other(String),
}

impl StoreError {
    /// Whether a retry may succeed without a change here.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable(_))
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match error {
            sqlx::Error::Database(error) if error.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_some() => of_sqlite(&*error),
            sqlx::Error::Database(error) => of_postgres(&*error),
            sqlx::Error::Io(error) => Self::Unavailable(error.to_string()),
            sqlx::Error::Tls(error) => Self::Unavailable(error.to_string()),
            sqlx::Error::Protocol(error) => Self::Unavailable(error),
            sqlx::Error::PoolTimedOut => Self::Unavailable("all its connections were busy".into()),
            sqlx::Error::PoolClosed => Self::Unavailable("it was closed".into()),
            sqlx::Error::WorkerCrashed => Self::Unavailable("its connection was lost".into()),
            sqlx::Error::BeginFailed => Self::Unavailable("cannot begin a transaction".into()),
            sqlx::Error::ColumnDecode { index, source } => Self::Corrupt(format!("column {index}: {source}")),
            other => Self::Other(other.to_string()),
        }
    }
}

/// Classifies SQLite's result codes, <https://sqlite.org/rescode.html>. The low byte of an extended code is the primary one.
fn of_sqlite(error: &dyn DatabaseError) -> StoreError {
    let message = error.message().to_owned();
    let code = error.code().and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff);
    match code {
        Some(5 | 6) => StoreError::Unavailable("another program holds its lock".into()),
        Some(10) => StoreError::Unavailable(format!("reading or writing the file failed, {message}")),
        Some(13) => StoreError::Unavailable("the disk is full".into()),
        Some(3 | 8 | 14) => StoreError::NotWritable { place: "file".into(), reason: message },
        Some(11 | 26) => StoreError::Corrupt(message),
        _ => StoreError::Other(message),
    }
}

/// Classifies PostgreSQL's error codes, <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
fn of_postgres(error: &dyn DatabaseError) -> StoreError {
    let message = error.message().to_owned();
    let code = error.code().unwrap_or_default();
    match (&*code, code.get(..2).unwrap_or_default()) {
        // Connection problems, exhausted resources, shutdown or startup, a deadlock or a lock time-out.
        (_, "08" | "53" | "57") | ("40001" | "40P01" | "55P03", _) => StoreError::Unavailable(message),
        ("25006", _) => StoreError::NotWritable { place: "server".into(), reason: message },
        ("XX001" | "XX002", _) => StoreError::Corrupt(message),
        // Wrong user or password, or no such database.
        (_, "28" | "3D") => StoreError::Address(format!("is not accepted by the server: {message}")),
        _ => StoreError::Other(message),
    }
}
