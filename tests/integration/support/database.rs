//! Direct access to a team's database, and triggers that block writes.

use secrecy::ExposeSecret;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};

use super::team::TestTeam;

pub(crate) fn is_sqlite(team: &TestTeam) -> bool {
    team.config.database_url.expose_secret().starts_with("sqlite:")
}

/// The file of a SQLite database.
pub(crate) fn file(team: &TestTeam) -> Option<&str> {
    team.config.database_url.expose_secret().strip_prefix("sqlite:")
}

/// A connection of a test to its team's database. It is kept, because tests ask again and again until something is there.
pub(crate) enum Connected {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Connected {
    async fn open(team: &TestTeam) -> Self {
        let url = team.config.database_url.expose_secret();
        if is_sqlite(team) {
            Self::Sqlite(SqliteConnection::connect(url).await.unwrap())
        } else {
            Self::Postgres(PgConnection::connect(url).await.unwrap())
        }
    }

    async fn count(&mut self, sql: &str) -> sqlx::Result<i64> {
        let query = sqlx::query_scalar(AssertSqlSafe(sql.to_owned()));
        match self {
            Self::Sqlite(connection) => query.fetch_one(connection).await,
            Self::Postgres(connection) => sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(connection).await,
        }
    }
}

pub(crate) async fn execute(team: &TestTeam, sql: &str) {
    let sql = AssertSqlSafe(sql.to_owned());
    match Connected::open(team).await {
        Connected::Sqlite(mut connection) => drop(connection.execute(sql).await.unwrap()),
        Connected::Postgres(mut connection) => drop(connection.execute(sql).await.unwrap()),
    }
}

pub(crate) async fn count(team: &TestTeam, sql: &str) -> i64 {
    let mut kept = team.connected.lock().await;
    // The connection is taken out during the query, so that it is not used again if the query fails or is given up.
    if let Some(mut connection) = kept.take()
        && let Ok(count) = connection.count(sql).await
    {
        *kept = Some(connection);
        return count;
    }
    let mut connection = Connected::open(team).await;
    let count = connection.count(sql).await.unwrap();
    *kept = Some(connection);
    count
}

/// Blocks changes that match `when`, a condition on `OLD` and `NEW`.
pub(crate) async fn forbid(team: &TestTeam, name: &str, change: &str, when: &str) {
    for sql in wall(is_sqlite(team), name, change, when) {
        execute(team, &sql).await;
    }
}

pub(crate) async fn allow(team: &TestTeam, name: &str) {
    execute(team, &without_wall(is_sqlite(team), name)).await;
}

/// The statements that block changes that match `when`, a condition on `OLD` and `NEW`.
pub(crate) fn wall(is_sqlite: bool, name: &str, change: &str, when: &str) -> Vec<String> {
    if is_sqlite {
        return vec![format!("CREATE TRIGGER \"{name}\" BEFORE {change} WHEN {when} BEGIN SELECT RAISE(ABORT, 'a wall'); END")];
    }
    let body = format!("BEGIN IF {when} THEN RAISE EXCEPTION 'a wall'; END IF; RETURN NEW; END");
    vec![
        format!("CREATE FUNCTION \"{name}\"() RETURNS trigger LANGUAGE plpgsql AS $${body}$$"),
        format!("CREATE TRIGGER \"{name}\" BEFORE {change} FOR EACH ROW EXECUTE FUNCTION \"{name}\"()"),
    ]
}

/// The statement that takes a wall away.
pub(crate) fn without_wall(is_sqlite: bool, name: &str) -> String {
    if is_sqlite { format!("DROP TRIGGER \"{name}\"") } else { format!("DROP FUNCTION \"{name}\" CASCADE") }
}
