//! Opening: lock, connect, bring the schema up to date.

use chrono::{DateTime, SecondsFormat, Utc};
use sqlx::migrate::{Migrate, MigrateError, Migrator};

use super::{Db, Leadership, postgres, sqlite};
use crate::store::error::{Result, StoreError};

static SQLITE: Migrator = sqlx::migrate!("migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("migrations/postgres");

/// The table in which sqlx notes what was applied.
const APPLIED: &str = "_sqlx_migrations";

/// What a database is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// To serve: no other process may.
    Serve,
    /// To look, or to do something small beside a process that serves.
    Share,
}

pub(crate) struct Opened {
    pub(crate) db: Db,
    pub(crate) leadership: Option<Leadership>,
    pub(crate) place: String,
}

/// Opens the database at `url`. Whoever has the lock creates it and brings its schema up to date; who shares it takes the lock
/// for that long, and leaves the schema alone when another process has it.
pub(crate) async fn open(url: &str, purpose: Use, now: DateTime<Utc>) -> Result<Opened> {
    let who = format!("process {} since {}", std::process::id(), now.to_rfc3339_opts(SecondsFormat::Secs, true));
    if url.starts_with("sqlite:") {
        open_sqlite(&sqlite::Address::parse(url)?, purpose, &who).await
    } else if url.starts_with("postgres:") || url.starts_with("postgresql:") {
        open_postgres(postgres::Address::parse(url)?, purpose, who).await
    } else {
        Err(StoreError::Address("must begin with sqlite: or postgres://".into()))
    }
}

async fn open_sqlite(address: &sqlite::Address, purpose: Use, who: &str) -> Result<Opened> {
    address.create()?;
    let place = address.place();
    let lock = match address.lock(who)? {
        Err(who) if purpose == Use::Serve => return Err(StoreError::Locked { place, who }),
        lock => lock.ok(),
    };
    let (writer, reader, file) = address.connect().await?;
    if lock.is_some() {
        SQLITE.run(&writer).await.map_err(|error| address.explain(explain_migration(error, &SQLITE, &place)))?;
    } else {
        check_schema(&mut *writer.acquire().await?, &SQLITE, &place).await?;
    }
    let leadership = lock.filter(|_| purpose == Use::Serve).map(Leadership::File);
    if leadership.is_some() {
        // SQLite opens a file that it may not write without a word, so a write that changes nothing is tried.
        let trial = sqlx::query("DELETE FROM notices WHERE key IS NULL").execute(&writer).await;
        trial.map_err(|error| address.explain(error))?;
    }
    Ok(Opened { db: Db::Sqlite { writer, reader, file }, leadership, place })
}

async fn open_postgres(address: postgres::Address, purpose: Use, who: String) -> Result<Opened> {
    let place = address.place();
    let lock = match address.lock(&who).await.map_err(|error| unreachable(error, &place))? {
        Err(who) if purpose == Use::Serve => return Err(StoreError::Locked { place, who }),
        lock => lock.ok(),
    };
    let pool = address.connect().await.map_err(|error| unreachable(error, &place))?;
    if lock.is_some() {
        POSTGRES.run(&pool).await.map_err(|error| explain_migration(error, &POSTGRES, &place))?;
    } else {
        check_schema(&mut *pool.acquire().await?, &POSTGRES, &place).await?;
    }
    let leadership = match (lock, purpose) {
        (Some(session), Use::Serve) => Some(Leadership::watch(address, who, session)),
        (Some(session), Use::Share) => {
            postgres::unlock(session).await;
            None
        }
        (None, _) => None,
    };
    Ok(Opened { db: Db::Postgres(pool), leadership, place })
}

/// At the start a server that does not answer is more likely a wrong address than a pause.
fn unreachable(error: StoreError, place: &str) -> StoreError {
    match error {
        StoreError::Unavailable(reason) => {
            StoreError::Unavailable(format!("{place} does not answer ({reason}); check that PostgreSQL runs there, or mend DATABASE_URL"))
        }
        other => other,
    }
}

/// The newest schema that this program knows.
fn known(migrator: &Migrator) -> i64 {
    migrator.iter().map(|migration| migration.version).max().unwrap_or_default()
}

/// Makes sure that the schema is the one this program knows, without touching it.
async fn check_schema<C: Migrate>(connection: &mut C, migrator: &Migrator, place: &str) -> Result<()> {
    let applied = match connection.list_applied_migrations(APPLIED).await.map_err(|error| explain_migration(error, migrator, place)) {
        Ok(applied) => applied,
        // There is no such table: nothing was ever applied.
        Err(StoreError::Other(_)) => Vec::new(),
        Err(error) => return Err(error),
    };
    let found = applied.iter().map(|migration| migration.version).max().unwrap_or_default();
    match found.cmp(&known(migrator)) {
        std::cmp::Ordering::Less => Err(StoreError::OlderSchema { place: place.to_owned() }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(StoreError::NewerSchema { place: place.to_owned(), found, known: known(migrator) }),
    }
}

fn explain_migration(error: MigrateError, migrator: &Migrator, place: &str) -> StoreError {
    match error {
        MigrateError::VersionMissing(found) => StoreError::NewerSchema { place: place.to_owned(), found, known: known(migrator) },
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
        other => StoreError::Other(format!("the schema of {place} could not be brought up to date: {other}")),
    }
}
