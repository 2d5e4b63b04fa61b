//! The rows of all tables as JSON: for a copy that people can read, and to find and replace what is stored of one person. It asks the database for
//! its tables, so that none is left out.

use futures_util::TryStreamExt as _;
use serde_json::{Map, Value};
use sqlx::AssertSqlSafe;

use crate::db::{Backend, Database, Result, StoreError, Transaction, bounded};

/// A table with the columns that people can read. Files and vectors are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub name: String,
    columns: Vec<Column>,
    /// The columns that identify a row in SQLite, if the table has no row ids.
    key: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Column {
    name: String,
    is_text: bool,
}

/// The cells of a row, by column.
pub type Row = Map<String, Value>;

impl Table {
    fn quoted(&self) -> String {
        quote(&self.name)
    }

    /// The expression that identifies a row, as a text.
    fn address(&self, is_sqlite: bool) -> String {
        match self.key.as_slice() {
            _ if !is_sqlite => "ctid::text".to_owned(),
            [] => "CAST(rowid AS TEXT)".to_owned(),
            key => format!("json_array({})", key.join(", ")),
        }
    }

    /// The condition that finds the row at the address `$1`.
    fn place(&self, is_sqlite: bool) -> String {
        match self.key.as_slice() {
            _ if !is_sqlite => "ctid = $1::tid".to_owned(),
            [] => "rowid = CAST($1 AS INTEGER)".to_owned(),
            _ => format!("{} = $1", self.address(true)),
        }
    }

    fn select(&self, is_sqlite: bool) -> String {
        let object = if is_sqlite { "json_object" } else { "json_build_object" };
        let cells: Vec<String> = self.columns.iter().map(|Column { name, .. }| format!("'{name}', {}", quote(name))).collect();
        let cast = if is_sqlite { "" } else { "::text" };
        format!("SELECT {}, {object}({}){cast} FROM {}", self.address(is_sqlite), cells.join(", "), self.quoted())
    }

    /// The statement that reads the rows with a text like `$1`. None if the table has no texts.
    fn select_like(&self, is_sqlite: bool) -> Option<String> {
        let texts = self.columns.iter().filter(|column| column.is_text);
        let holds: Vec<String> = texts.map(|column| format!("{} LIKE $1 ESCAPE '!'", quote(&column.name))).collect();
        (!holds.is_empty()).then(|| format!("{} WHERE {}", self.select(is_sqlite), holds.join(" OR ")))
    }
}

/// Which rows are read. A database may find a few more, because it does not always distinguish capital letters from small ones.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'a> {
    /// Rows in which some text contains this.
    Holding(&'a str),
    /// Rows in which some text equals this.
    Exactly(&'a str),
}

impl Wanted<'_> {
    fn pattern(self) -> String {
        let escaped = |text: &str| text.replace('!', "!!").replace('%', "!%").replace('_', "!_");
        match self {
            Self::Holding(text) => format!("%{}%", escaped(text)),
            Self::Exactly(text) => escaped(text),
        }
    }
}

fn quote(name: &str) -> String {
    format!("\"{name}\"")
}

fn read(cells: &str) -> Result<Row> {
    serde_json::from_str(cells).map_err(|error| StoreError::Corrupt(error.to_string()))
}

impl Database {
    /// All tables, by name.
    pub async fn list_tables(&self) -> Result<Vec<Table>> {
        let rows: Vec<(String, String, String, bool)> = match self.db().read() {
            Backend::Sqlite(pool) => {
                let all = "SELECT tables.name, columns.name, columns.type, tables.wr AND columns.pk > 0
                     FROM pragma_table_list AS tables JOIN pragma_table_info(tables.name) AS columns
                     WHERE tables.schema = 'main' AND tables.type = 'table' AND substr(tables.name, 1, 7) <> 'sqlite_' AND substr(tables.name, 1, 1) <> '_'
                     ORDER BY tables.name, columns.cid";
                sqlx::query_as(all).fetch_all(pool).await?
            }
            Backend::Postgres(pool) => {
                // The index of words is an ordinary table here, so it is left out by name.
                let all = "SELECT table_name::text, column_name::text, data_type::text, FALSE FROM information_schema.columns
                     WHERE table_schema = current_schema() AND substr(table_name, 1, 1) <> '_' AND table_name <> 'memory_words'
                     ORDER BY table_name, ordinal_position";
                bounded(sqlx::query_as(all).fetch_all(pool)).await?
            }
        };
        let mut tables: Vec<Table> = Vec::new();
        for (table, column, kind, in_key) in rows {
            let kind = kind.to_lowercase();
            if !matches!(kind.as_str(), "blob" | "bytea" | "tsvector") {
                if tables.last().is_none_or(|last| last.name != table) {
                    tables.push(Table { name: table, columns: Vec::new(), key: Vec::new() });
                }
                if let Some(last) = tables.last_mut() {
                    last.key.extend(in_key.then(|| quote(&column)));
                    last.columns.push(Column { name: column, is_text: kind == "text" });
                }
            }
        }
        Ok(tables)
    }

    /// Reads a table row by row, or only some of its rows. An error of `take` ends it.
    pub async fn read_rows<E: From<StoreError>>(
        &self,
        table: &Table,
        wanted: Option<Wanted<'_>>,
        mut take: impl FnMut(Row) -> std::result::Result<(), E> + Send,
    ) -> std::result::Result<(), E> {
        let is_sqlite = matches!(self.db().read(), Backend::Sqlite(_));
        let select = if wanted.is_some() { table.select_like(is_sqlite) } else { Some(table.select(is_sqlite)) };
        let Some(select) = select.map(AssertSqlSafe) else { return Ok(()) };
        let pattern = wanted.map(Wanted::pattern);
        match self.db().read() {
            Backend::Sqlite(pool) => {
                let query = sqlx::query_as::<_, (String, String)>(select);
                let mut reader = pool.acquire().await.map_err(StoreError::from)?;
                let mut rows = if let Some(pattern) = pattern { query.bind(pattern) } else { query }.fetch(&mut *reader);
                while let Some((_, cells)) = rows.try_next().await.map_err(StoreError::from)? {
                    take(read(&cells)?)?;
                }
            }
            Backend::Postgres(pool) => {
                let query = sqlx::query_as::<_, (String, String)>(select);
                let mut rows = if let Some(pattern) = pattern { query.bind(pattern) } else { query }.fetch(pool);
                while let Some((_, cells)) = bounded(rows.try_next()).await.map_err(StoreError::from)? {
                    take(read(&cells)?)?;
                }
            }
        }
        Ok(())
    }

    /// Gives the space of deleted rows back, so that their text does not stay in the file. PostgreSQL does that by itself, in time.
    pub async fn drop_deleted(&self) -> Result<()> {
        if let Backend::Sqlite(pool) = self.db().write()? {
            sqlx::query("VACUUM").execute(pool).await?;
            sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(pool).await?;
        }
        Ok(())
    }
}

/// Rewrites some rows of a table: `rewrite` returns the cells that change. Returns how many rows were changed.
pub async fn rewrite_rows(transaction: &mut Transaction, table: &Table, wanted: Wanted<'_>, rewrite: impl Fn(&Row) -> Row) -> Result<u64> {
    let is_sqlite = matches!(transaction.on(), Backend::Sqlite(_));
    let Some(select) = table.select_like(is_sqlite) else { return Ok(0) };
    let pattern = wanted.pattern();
    let rows: Vec<(String, String)> = match transaction.on() {
        Backend::Sqlite(on) => sqlx::query_as(AssertSqlSafe(select)).bind(pattern).fetch_all(on).await?,
        Backend::Postgres(on) => bounded(sqlx::query_as(AssertSqlSafe(select + " FOR UPDATE")).bind(pattern).fetch_all(on)).await?,
    };
    let mut changed = 0;
    for (address, cells) in rows {
        let cells = rewrite(&read(&cells)?);
        if cells.is_empty() {
            continue;
        }
        let set: Vec<String> = cells.keys().zip(2..).map(|(column, place)| format!("{} = ${place}", quote(column))).collect();
        let update = format!("UPDATE {} SET {} WHERE {}", table.quoted(), set.join(", "), table.place(is_sqlite));
        let update = AssertSqlSafe(update);
        let texts = cells.values().map(|cell| cell.as_str().map(str::to_owned));
        match transaction.on() {
            Backend::Sqlite(on) => {
                let query = texts.fold(sqlx::query(update).bind(address), sqlx::query::Query::bind);
                query.execute(on).await?;
            }
            Backend::Postgres(on) => {
                let query = texts.fold(sqlx::query(update).bind(address), sqlx::query::Query::bind);
                bounded(query.execute(on)).await?;
            }
        }
        changed += 1;
    }
    Ok(changed)
}

/// Whether a text contains an id as a whole: `discord:1` is in `person:discord:1`, but not in `discord:12`.
pub fn holds_id(text: &str, id: &str) -> bool {
    text.match_indices(id).any(|(at, found)| is_whole(text, at, found.len()))
}

fn is_whole(text: &str, at: usize, length: usize) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_';
    !text[..at].ends_with(inside) && !text[at + length..].starts_with(inside)
}

/// Replaces an id wherever a text contains it as a whole.
pub fn replace_id(text: &str, id: &str, by: &str) -> String {
    let (mut replaced, mut from) = (String::with_capacity(text.len()), 0);
    for (at, found) in text.match_indices(id).filter(|(at, found)| is_whole(text, *at, found.len())) {
        replaced.push_str(&text[from..at]);
        replaced.push_str(by);
        from = at + found.len();
    }
    replaced.push_str(&text[from..]);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_as_a_whole() {
        for (text, whole) in [
            ("discord:1", true),
            ("person:discord:1", true),
            (r#"{"id":"discord:1","name":"Ann"}"#, true),
            ("<user:discord:1> and discord:12", true),
            ("discord:1 👍", true),
            ("discord:12", false),
            ("mydiscord:1", false),
            ("", false),
        ] {
            assert_eq!(holds_id(text, "discord:1"), whole, "{text}");
        }
        assert_eq!(replace_id("discord:1 discord:12 <user:discord:1>", "discord:1", "x:y"), "x:y discord:12 <user:x:y>");
    }
}
