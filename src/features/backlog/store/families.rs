//! Items that are connected as parts and needs are a family. What happens to one of them may change all of them, so each change of an item holds its
//! family until the commit. Items of other families stay free meanwhile.
//!
//! The locks are PostgreSQL's. SQLite has only one writer anyway.

use std::collections::BTreeSet;

use kernel::db::{Backend, Result, Transaction, bounded, document, sql};
use kernel::ids::WorkItemId;

/// Half of the key of each lock: "item" in ASCII.
const LOCKS: i32 = i32::from_be_bytes(*b"item");

/// Holds the family of an item. Returns its name as read before the lock: it may have joined another family since. None on SQLite.
pub(super) async fn hold(transaction: &mut Transaction, item: &WorkItemId) -> Result<Option<String>> {
    const HOLD: &str = "SELECT family, pg_advisory_xact_lock($1, hashtext(family) & 255)::text FROM work_items WHERE id = $2";
    let Backend::Postgres(connection) = transaction.on() else { return Ok(None) };
    let row: Option<(String, String)> = bounded(sqlx::query_as(HOLD).bind(LOCKS).bind(item.as_str()).fetch_optional(connection)).await?;
    Ok(row.map(|(family, _)| family))
}

/// Holds the families of many items. All callers lock in the same order, which prevents deadlocks. Some families may have joined others since.
pub(super) async fn hold_all(transaction: &mut Transaction, items: &[&str]) -> Result<()> {
    const HOLD: &str = "SELECT pg_advisory_xact_lock($1, key)::text
         FROM (SELECT DISTINCT hashtext(family) & 255 AS key FROM work_items WHERE id = ANY($2) ORDER BY key) AS keys";
    if let Backend::Postgres(connection) = transaction.on() {
        bounded(sqlx::query(HOLD).bind(LOCKS).bind(items).execute(connection)).await?;
    }
    Ok(())
}

/// The names of the families of items.
pub(super) async fn list(transaction: &mut Transaction, items: &[&str]) -> Result<BTreeSet<String>> {
    const SQLITE: &str = "SELECT DISTINCT family FROM work_items WHERE id IN (SELECT value FROM json_each($1))";
    const POSTGRES: &str = "SELECT DISTINCT family FROM work_items WHERE id = ANY($1)";
    let rows: Vec<(String,)> = match transaction.on() {
        Backend::Sqlite(connection) => sqlx::query_as(SQLITE).bind(document(&items)).fetch_all(connection).await?,
        Backend::Postgres(connection) => bounded(sqlx::query_as(POSTGRES).bind(items).fetch_all(connection)).await?,
    };
    Ok(rows.into_iter().map(|(family,)| family).collect())
}

/// Joins families that the caller holds into one, and returns its name.
pub(super) async fn join(transaction: &mut Transaction, families: &BTreeSet<String>) -> Result<Option<String>> {
    let mut families = families.iter();
    let first = families.next();
    for (first, other) in first.into_iter().cycle().zip(families) {
        sql!(transaction.on(), execute, "UPDATE work_items SET family = $1 WHERE family = $2", first.as_str(), other.as_str())?;
    }
    Ok(first.cloned())
}
