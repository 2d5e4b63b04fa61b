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

pub(crate) async fn execute(team: &TestTeam, sql: &str) {
    let (url, sql) = (team.config.database_url.expose_secret(), AssertSqlSafe(sql.to_owned()));
    if is_sqlite(team) {
        SqliteConnection::connect(url).await.unwrap().execute(sql).await.unwrap();
    } else {
        PgConnection::connect(url).await.unwrap().execute(sql).await.unwrap();
    }
}

pub(crate) async fn count(team: &TestTeam, sql: &str) -> i64 {
    let (url, query) = (team.config.database_url.expose_secret(), AssertSqlSafe(sql.to_owned()));
    if is_sqlite(team) {
        sqlx::query_scalar(query).fetch_one(&mut SqliteConnection::connect(url).await.unwrap()).await.unwrap()
    } else {
        sqlx::query_scalar(query).fetch_one(&mut PgConnection::connect(url).await.unwrap()).await.unwrap()
    }
}

/// Blocks changes that match `when`, a condition on `OLD` and `NEW`.
pub(crate) async fn forbid(team: &TestTeam, name: &str, change: &str, when: &str) {
    if is_sqlite(team) {
        execute(team, &format!("CREATE TRIGGER \"{name}\" BEFORE {change} WHEN {when} BEGIN SELECT RAISE(ABORT, 'a wall'); END")).await;
    } else {
        let body = format!("BEGIN IF {when} THEN RAISE EXCEPTION 'a wall'; END IF; RETURN NEW; END");
        execute(team, &format!("CREATE FUNCTION \"{name}\"() RETURNS trigger LANGUAGE plpgsql AS $${body}$$")).await;
        execute(team, &format!("CREATE TRIGGER \"{name}\" BEFORE {change} FOR EACH ROW EXECUTE FUNCTION \"{name}\"()")).await;
    }
}

pub(crate) async fn allow(team: &TestTeam, name: &str) {
    let drop = if is_sqlite(team) { format!("DROP TRIGGER \"{name}\"") } else { format!("DROP FUNCTION \"{name}\" CASCADE") };
    execute(team, &drop).await;
}
