//! Lists of rows. A row that cannot be read, such as one of a newer version or one that was changed by hand, costs that row and not the list.
//!
//! Only for lists that people look at, and for lists of independent work. What decides something by one row returns its error instead.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use chrono::DateTime;
use serde::Serialize;
use sqlx::{Column as _, ColumnIndex, Decode, FromRow, Row, Type};

use super::{Database, Db, Result, StoreError, sql};

/// The key of a notice about such a row begins with this. The table and the id follow.
const NOTICE: &str = "unreadable ";

/// A row of a list, read or not, with its column `id`, or else its first column.
#[derive(Debug)]
pub struct Readable<T> {
    id: String,
    row: Result<T>,
}

impl<'r, R, T> FromRow<'r, R> for Readable<T>
where
    R: Row,
    T: FromRow<'r, R>,
    usize: ColumnIndex<R>,
    String: Decode<'r, R::Database> + Type<R::Database>,
    i64: Decode<'r, R::Database> + Type<R::Database>,
{
    fn from_row(row: &'r R) -> sqlx::Result<Self> {
        let index = row.columns().iter().position(|column| column.name() == "id").unwrap_or_default();
        let number = || row.try_get::<i64, _>(index).map(|number| number.to_string());
        let id = row.try_get::<String, _>(index).or_else(|_| number()).unwrap_or_default();
        match T::from_row(row) {
            Ok(read) => Ok(Self { id, row: Ok(read) }),
            Err(error @ sqlx::Error::ColumnDecode { .. }) if !is_of_another_type(&error) => Ok(Self { id, row: Err(error.into()) }),
            // The statement is wrong, not the row.
            Err(error) => Err(error),
        }
    }
}

/// Whether a column is read as another type than it has. Both databases check the types of what they store (SQLite by `STRICT`), so the statement is
/// wrong and not the row. sqlx has only this text for it.
fn is_of_another_type(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::ColumnDecode { source, .. } if source.to_string().starts_with("mismatched types"))
}

/// The rows that this process could not read. Each is reported once.
#[derive(Debug, Default)]
pub(super) struct Unreadable {
    known: Mutex<BTreeSet<String>>,
    /// They are only logged, because this process changes nothing.
    is_unrecorded: bool,
}

impl Unreadable {
    pub(super) fn unrecorded() -> Self {
        Self { is_unrecorded: true, ..Self::default() }
    }
}

/// A row that was left out of lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadableRow {
    pub table: String,
    pub id: String,
}

impl Db {
    /// The rows of `table` that can be read. Others are left out, and named in the log and in `/status`.
    pub fn keep_readable<T>(&self, table: &'static str, rows: Vec<Readable<T>>) -> Vec<T> {
        self.read_each(table, rows, Ok)
    }

    /// Like [`Self::keep_readable`]. `read` makes a value of the columns of a row.
    pub fn read_each<T, U>(&self, table: &'static str, rows: Vec<Readable<T>>, read: impl Fn(T) -> Result<U>) -> Vec<U> {
        let read = |Readable { id, row }| match row.and_then(&read) {
            Ok(value) => Some(value),
            Err(error) => {
                self.report_unreadable(table, &id, &error);
                None
            }
        };
        rows.into_iter().filter_map(read).collect()
    }

    fn report_unreadable(&self, table: &'static str, id: &str, error: &StoreError) {
        let key = format!("{NOTICE}{table} {id}");
        if !self.unreadable.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone()) {
            return;
        }
        // The text of a damaged database recommends a backup, which one row does not need.
        let why = if let StoreError::Corrupt(why) = error { why.clone() } else { error.to_string() };
        tracing::error!(table, id, why, "a row of the database cannot be read and is left out of lists");
        if self.unreadable.is_unrecorded {
            return;
        }
        let db = self.clone();
        // The list may be read in a transaction, which this write would wait for.
        tokio::spawn(async move {
            if let Err(error) = db.record_unreadable(&key).await {
                tracing::warn!(key, %error, "the row is not named in /status");
            }
        });
    }

    async fn record_unreadable(&self, key: &str) -> Result<()> {
        // Nobody asks when: the next start forgets it.
        let at = DateTime::UNIX_EPOCH;
        sql!(self.write()?, execute, "INSERT INTO notices (key, at) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING", key, at).map(drop)
    }
}

impl Database {
    /// The rows that were left out of lists since the team was started.
    pub async fn list_unreadable(&self) -> Result<Vec<UnreadableRow>> {
        let rows: Vec<(String,)> = sql!(self.db().read(), fetch_all, "SELECT key FROM notices WHERE key LIKE 'unreadable %' ORDER BY key")?;
        let split = |(key,): (String,)| {
            let (table, id) = key.strip_prefix(NOTICE)?.split_once(' ')?;
            Some(UnreadableRow { table: table.to_owned(), id: id.to_owned() })
        };
        Ok(rows.into_iter().filter_map(split).collect())
    }

    /// Forgets which rows could not be read, at the start of the team: they may have been repaired.
    pub(super) async fn forget_unreadable(&self) -> Result<()> {
        sql!(self.db().write()?, execute, "DELETE FROM notices WHERE key IN (SELECT key FROM notices WHERE key LIKE 'unreadable %')")
            .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use sqlx::{Connection as _, SqliteConnection};

    use super::super::Word;
    use super::*;
    use crate::memory::MemoryKind;

    #[derive(sqlx::FromRow)]
    struct Columns {
        #[sqlx(try_from = "String")]
        kind: Word<MemoryKind>,
    }

    #[tokio::test]
    async fn a_wrong_value_costs_its_row_and_a_wrong_type_is_an_error() {
        let mut database = SqliteConnection::connect("sqlite::memory:").await.unwrap();
        let query = sqlx::query_as("SELECT 7 AS number, 'a' AS id, 'comet' AS kind UNION ALL SELECT 8, 'b', 'lesson'");
        let rows: Vec<Readable<Columns>> = query.fetch_all(&mut database).await.unwrap();
        let read: Vec<_> = rows.into_iter().map(|row| (row.id, row.row.ok().map(|row| row.kind.0))).collect();
        assert_eq!(read, [("a".to_owned(), None), ("b".to_owned(), Some(MemoryKind::Lesson))]);
        let wrong: sqlx::Result<Vec<Readable<Columns>>> = sqlx::query_as("SELECT 'a' AS id, 7 AS kind").fetch_all(&mut database).await;
        assert!(wrong.is_err());
    }
}
