//! Triggers that keep a process from its next step in an item: it stands right behind what it stored until it is killed.

use secrecy::ExposeSecret;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};
use teamroom::domain::work::WorkItem;

use crate::support::team::TestTeam;

/// Which step of an item is kept from being stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// The entry of the journal at this position.
    Entry(usize),
    Product,
    /// The end of the run, with all that is stored together with it.
    End,
    /// A way out of a status in which nobody works on it.
    Leaving(&'static str),
}

/// Lets an item not go on. While it is worked on, nobody lets go of it either but whoever takes it back from the dead.
pub(super) async fn raise(team: &TestTeam, item: &WorkItem, before: Before) {
    let id = item.id.as_str();
    let held = format!("OLD.id = '{id}' AND OLD.status = 'in_progress' AND NEW.status <> 'in_progress' AND NEW.crashes <= OLD.crashes");
    let (change, when) = match before {
        Before::Entry(position) => ("INSERT ON work_journal", format!("NEW.item = '{id}' AND NEW.position >= {position}")),
        Before::Product => ("UPDATE OF product ON work_items", format!("OLD.id = '{id}' AND NEW.product IS NOT NULL")),
        Before::End => ("UPDATE OF status ON work_items", held.clone()),
        Before::Leaving(status) => {
            ("UPDATE OF status ON work_items", format!("OLD.id = '{id}' AND OLD.status = '{status}' AND NEW.status <> '{status}'"))
        }
    };
    trigger(team, &format!("wall_{id}"), change, &when).await;
    trigger(team, &format!("hold_{id}"), "UPDATE OF status ON work_items", &held).await;
}

async fn trigger(team: &TestTeam, name: &str, change: &str, when: &str) {
    if is_sqlite(team) {
        execute(team, &format!("CREATE TRIGGER \"{name}\" BEFORE {change} WHEN {when} BEGIN SELECT RAISE(ABORT, 'a wall'); END")).await;
    } else {
        let body = format!("BEGIN IF {when} THEN RAISE EXCEPTION 'a wall'; END IF; RETURN NEW; END");
        execute(team, &format!("CREATE FUNCTION \"{name}\"() RETURNS trigger LANGUAGE plpgsql AS $${body}$$")).await;
        execute(team, &format!("CREATE TRIGGER \"{name}\" BEFORE {change} FOR EACH ROW EXECUTE FUNCTION \"{name}\"()")).await;
    }
}

pub(super) async fn fall(team: &TestTeam, item: &WorkItem) {
    for name in ["wall", "hold"].map(|kind| format!("{kind}_{}", item.id)) {
        let drop = if is_sqlite(team) { format!("DROP TRIGGER \"{name}\"") } else { format!("DROP FUNCTION \"{name}\" CASCADE") };
        execute(team, &drop).await;
    }
}

fn is_sqlite(team: &TestTeam) -> bool {
    team.config.database_url.expose_secret().starts_with("sqlite:")
}

pub(super) async fn execute(team: &TestTeam, sql: &str) {
    let (url, sql) = (team.config.database_url.expose_secret(), AssertSqlSafe(sql.to_owned()));
    if is_sqlite(team) {
        SqliteConnection::connect(url).await.unwrap().execute(sql).await.unwrap();
    } else {
        PgConnection::connect(url).await.unwrap().execute(sql).await.unwrap();
    }
}

pub(super) async fn count(team: &TestTeam, sql: &str) -> i64 {
    let (url, query) = (team.config.database_url.expose_secret(), AssertSqlSafe(sql.to_owned()));
    if is_sqlite(team) {
        sqlx::query_scalar(query).fetch_one(&mut SqliteConnection::connect(url).await.unwrap()).await.unwrap()
    } else {
        sqlx::query_scalar(query).fetch_one(&mut PgConnection::connect(url).await.unwrap()).await.unwrap()
    }
}
