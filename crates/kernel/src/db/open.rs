//! Opens a database: lock, connect, migrate.

use std::path::Path;

use chrono::{DateTime, SecondsFormat, Utc};
use secrecy::{ExposeSecret, SecretString};
use sqlx::migrate::{AppliedMigration, Migrate, MigrateError, Migration, Migrator};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, PgPool, SqlSafeStr as _, SqliteConnection};

use crate::db::connections::Connections;
use crate::db::{Db, Leadership, Pools, Result, StoreError, postgres, sqlite};
use crate::events;

static SQLITE: Migrator = sqlx::migrate!("../../migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("../../migrations/postgres");

/// sqlx's table of applied migrations.
const APPLIED: &str = "_sqlx_migrations";

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// For the serving process. Exclusive.
    Serve,
    /// For reading or small changes beside a serving process.
    Share,
    /// Like `Share`, but a database that is not there or older is an error, so that a look changes nothing.
    Look,
}

pub(super) struct Opened {
    pub db: Db,
    pub leadership: Option<Leadership>,
    pub place: String,
}

/// Opens the database at `url`. The serving process takes the lock, creates the database and migrates it. Others take the lock only for a
/// migration; otherwise a starting team would believe that another team is running.
pub(super) async fn open(url: &str, purpose: Use, now: DateTime<Utc>) -> Result<Opened> {
    let who = format!("process {} since {}", std::process::id(), now.to_rfc3339_opts(SecondsFormat::Secs, true));
    if url.starts_with("sqlite:") {
        let address = sqlite::Address::parse(url)?;
        if purpose == Use::Look && !address.path().exists() {
            return Err(StoreError::Missing { place: address.place() });
        }
        address.create().await?;
        match purpose {
            Use::Serve => serve_sqlite(&address, &who).await,
            Use::Share | Use::Look => share_sqlite(&address, purpose, &who).await,
        }
    } else if url.starts_with("postgres:") || url.starts_with("postgresql:") {
        let address = postgres::Address::parse(url)?;
        let place = address.place();
        match purpose {
            Use::Serve => serve_postgres(address, who).await,
            Use::Share | Use::Look => share_postgres(address, purpose, &who).await,
        }
        .map_err(|error| unreachable(error, &place))
    } else {
        Err(StoreError::Address("must begin with sqlite: or postgres://".into()))
    }
}

/// Checks that there is a database to read, because opening one that is not there creates it. A server is asked only when it is opened.
///
/// # Errors
/// There is none, or the address cannot be read.
pub fn check_exists(url: &SecretString) -> Result<()> {
    let url = url.expose_secret();
    if !url.starts_with("sqlite:") {
        return Ok(());
    }
    let address = sqlite::Address::parse(url)?;
    if address.path().exists() { Ok(()) } else { Err(StoreError::Missing { place: address.place() }) }
}

async fn serve_sqlite(address: &sqlite::Address, who: &str) -> Result<Opened> {
    let place = address.place();
    let lock = address.lock(who)?.map_err(|who| StoreError::Locked { place: place.clone(), who })?;
    address.make_private();
    let pools = address.connect().await?;
    migrate_sqlite(address, &pools.writer).await?;
    Ok(Opened { db: Pools::Sqlite(pools).into(), leadership: Some(Leadership::File(lock)), place })
}

async fn share_sqlite(address: &sqlite::Address, purpose: Use, who: &str) -> Result<Opened> {
    let place = address.place();
    let pools = address.connect().await?;
    let known = check_schema(&mut *pools.writer.acquire().await?, &SQLITE, &place).await;
    match known {
        Err(older @ StoreError::OlderSchema { .. }) if purpose == Use::Share => {
            let _lock = address.lock(who)?.map_err(|_| older)?;
            migrate_sqlite(address, &pools.writer).await?;
        }
        known => known?,
    }
    Ok(Opened { db: Pools::Sqlite(pools).into(), leadership: None, place })
}

async fn migrate_sqlite(address: &sqlite::Address, writer: &Connections) -> Result<()> {
    let mut connection = writer.acquire().await.map_err(|error| address.explain(error))?;
    migrate(&mut *connection, &SQLITE).await.map_err(|error| address.explain(explain_migration(error, &SQLITE, &address.place())))
}

async fn serve_postgres(address: postgres::Address, who: String) -> Result<Opened> {
    let place = address.place();
    let session = address.lock(&who).await?.map_err(|who| StoreError::Locked { place: place.clone(), who })?;
    let pool = address.connect().await?;
    migrate_postgres(&pool, &place).await?;
    events::repair_order(&pool).await?;
    Ok(Opened { db: Pools::Postgres(pool).into(), leadership: Some(Leadership::watch(address, who, session)), place })
}

async fn share_postgres(address: postgres::Address, purpose: Use, who: &str) -> Result<Opened> {
    let place = address.place();
    let pool = address.connect().await?;
    let known = check_schema(&mut *pool.acquire().await?, &POSTGRES, &place).await;
    match known {
        Err(older @ StoreError::OlderSchema { .. }) if purpose == Use::Share => {
            let session = address.lock(who).await?.map_err(|_| older)?;
            let migrated = migrate_postgres(&pool, &place).await;
            postgres::unlock(session).await;
            migrated?;
        }
        known => known?,
    }
    Ok(Opened { db: Pools::Postgres(pool).into(), leadership: None, place })
}

async fn migrate_postgres(pool: &PgPool, place: &str) -> Result<()> {
    let mut connection = pool.acquire().await?;
    migrate(&mut *connection, &POSTGRES).await.map_err(|error| explain_migration(error, &POSTGRES, place))
}

/// Applies the migrations that the database lacks.
async fn migrate<C: Migrate>(connection: &mut C, migrator: &Migrator) -> Result<(), MigrateError> {
    connection.ensure_migrations_table(APPLIED).await?;
    let applied = connection.list_applied_migrations(APPLIED).await?;
    // With `run` on one connection, the compiler believes that the future is not `Send`.
    ignoring_line_ends(migrator, &applied).run_direct(None, connection, false).await
}

/// The migrations with `\n` as line end. An applied one keeps its checksum if it is that of the same statements with other line ends: the checkout from
/// which the program was built then had `\r\n`.
fn ignoring_line_ends(migrator: &Migrator, applied: &[AppliedMigration]) -> Migrator {
    let migrations = migrator.iter().map(|Migration { version, description, migration_type, sql, no_tx, .. }| {
        let with = |sql: String| Migration::new(*version, description.clone(), *migration_type, AssertSqlSafe(sql).into_sql_str(), *no_tx);
        let unix = sql.as_str().replace("\r\n", "\n");
        let windows = with(unix.replace('\n', "\r\n")).checksum;
        let was = applied.iter().find(|applied| applied.version == *version).map(|applied| &applied.checksum);
        let migration = with(unix);
        if was == Some(&windows) { Migration { checksum: windows, ..migration } } else { migration }
    });
    Migrator { migrations: migrations.collect(), ..Migrator::DEFAULT }
}

/// At start, an unreachable server probably means a wrong address.
fn unreachable(error: StoreError, place: &str) -> StoreError {
    match error {
        StoreError::Unavailable(reason) => StoreError::Unavailable(format!(
            "{place} does not respond ({reason}). Check that PostgreSQL runs there, or correct DATABASE_URL"
        )),
        other => other,
    }
}

/// Checks that a SQLite file is whole and of a team whose schema this program knows.
pub(super) async fn check_copy(path: &Path) -> Result<()> {
    let place = path.display().to_string();
    let mut copy = SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(path).read_only(true).immutable(true)).await?;
    let damage: Vec<String> = sqlx::query_scalar("PRAGMA quick_check(3)").fetch_all(&mut copy).await?;
    if damage != ["ok"] {
        return Err(StoreError::Corrupt(damage.join("; ")));
    }
    let applied = copy.list_applied_migrations(APPLIED).await.unwrap_or_default();
    if applied.is_empty() {
        return Err(StoreError::Other("is the database of another program".into()));
    }
    match check_schema(&mut copy, &SQLITE, &place).await {
        // It is brought up to date at the next start.
        Err(StoreError::OlderSchema { .. }) => Ok(()),
        known => known,
    }
}

/// The newest schema version that this program knows.
fn known(migrator: &Migrator) -> i64 {
    migrator.iter().map(|migration| migration.version).max().unwrap_or_default()
}

/// Checks that the schema has this program's version. Does not change it.
async fn check_schema<C: Migrate>(connection: &mut C, migrator: &Migrator, place: &str) -> Result<()> {
    let applied = match connection.list_applied_migrations(APPLIED).await.map_err(|error| explain_migration(error, migrator, place)) {
        Ok(applied) => applied,
        // Without this table, no migration was ever applied.
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
        other => StoreError::Other(format!("cannot update the schema of {place}: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    /// The program's migrations as a checkout with `\r\n` has them.
    fn of_windows(migrator: &Migrator) -> Migrator {
        let migrations = migrator.iter().map(|Migration { version, description, migration_type, sql, no_tx, .. }| {
            let sql = AssertSqlSafe(sql.as_str().replace('\n', "\r\n")).into_sql_str();
            Migration::new(*version, description.clone(), *migration_type, sql, *no_tx)
        });
        Migrator { migrations: migrations.collect(), ..Migrator::DEFAULT }
    }

    fn checksums(migrator: &Migrator) -> Vec<AppliedMigration> {
        migrator.iter().map(|migration| AppliedMigration { version: migration.version, checksum: migration.checksum.clone() }).collect()
    }

    #[test]
    fn a_database_knows_its_migrations_whatever_the_line_ends_of_the_checkout() {
        for migrator in [&SQLITE, &POSTGRES] {
            let (unix, windows) = (checksums(migrator), checksums(&of_windows(migrator)));
            for (program, applied) in
                [(migrator, &unix), (migrator, &windows), (&of_windows(migrator), &unix), (&of_windows(migrator), &windows)]
            {
                let accepted = checksums(&ignoring_line_ends(program, applied));
                assert!(accepted.iter().zip(applied).all(|(one, other)| one.checksum == other.checksum));
            }
            let fresh = checksums(&ignoring_line_ends(&of_windows(migrator), &[]));
            assert!(
                fresh.iter().zip(&unix).all(|(one, other)| one.checksum == other.checksum),
                "a new database has the checksums of all others"
            );
            let changed = [AppliedMigration { version: 1, checksum: Cow::Borrowed(b"of other statements") }];
            assert_eq!(
                checksums(&ignoring_line_ends(migrator, &changed))[0].checksum,
                unix[0].checksum,
                "other statements are not accepted"
            );
        }
    }
}
