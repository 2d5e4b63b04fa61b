//! A copy of everything that is stored about one person, and its removal (SEC-4).

use std::collections::HashSet;

use anyhow::ensure;
use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use crate::app::people;
use crate::config::Config;
use crate::features::{FEATURES, FeatureSection};
use crate::store::Store;
use kernel::chat::text::Mention;
use kernel::db::StoreError;
use kernel::db::rows::{Row, Table, Wanted, holds_id, replace_id, rewrite_rows};
use kernel::ids::UserId;
use kernel::people::{Erasure, KnownPerson};
use kernel::persona::roster::Roster;

/// Replaces the person's name.
const SOMEBODY: &str = "somebody";

/// The table with the names of people. Its rows go last, so that an interrupted removal can be repeated.
const PEOPLE: &str = "people";

/// The table with people's messages.
const INBOX: &str = "inbox";

/// Columns with the id of a message: that of the row itself, of the message that it belongs to, or of the message that it answers.
const OF_MESSAGE: [&str; 3] = ["id", "message", "cause"];

/// All rows that are about a person, by table: rows with the account's id, and rows that belong to the person's messages. Messages of other people
/// that only mention the person are left out.
pub async fn export_person(store: &Store, person: &UserId) -> anyhow::Result<Value> {
    let tables = store.list_tables().await?;
    let messages = list_messages_of(store, &tables, person).await?;
    let mut found: Map<String, Value> = Map::new();
    for table in &tables {
        let mut rows = Vec::new();
        let take = |row: Row| {
            let belongs = OF_MESSAGE.iter().filter_map(|column| row.get(*column)?.as_str()).any(|message| messages.contains(message));
            let names_them = || row.values().filter_map(Value::as_str).any(|cell| holds_id(cell, person.as_str()));
            if belongs || (table.name != INBOX && names_them()) {
                rows.push(unfold(row));
            }
            Ok::<_, StoreError>(())
        };
        store.read_rows(table, None, take).await?;
        if !rows.is_empty() {
            found.insert(table.name.clone(), rows.into());
        }
    }
    Ok(json!({ "person": person, "tables": found }))
}

async fn list_messages_of(store: &Store, tables: &[Table], person: &UserId) -> anyhow::Result<HashSet<String>> {
    let mut messages = HashSet::new();
    for inbox in tables.iter().filter(|table| table.name == INBOX) {
        let take = |row: Row| {
            let row = unfold(row);
            if row["message"]["author"]["id"] == person.as_str() {
                messages.extend(row["id"].as_str().map(str::to_owned));
            }
            Ok::<_, StoreError>(())
        };
        store.read_rows(inbox, Some(Wanted::Holding(person.as_str())), take).await?;
    }
    Ok(messages)
}

/// All rows of all tables, one at a time.
pub async fn export_all(store: &Store, mut take: impl FnMut(&Value) -> std::io::Result<()> + Send) -> anyhow::Result<()> {
    for table in store.list_tables().await? {
        let take = |row| anyhow::Ok(take(&json!({ "table": table.name, "row": unfold(row) }))?);
        store.read_rows(&table, None, take).await?;
    }
    Ok(())
}

/// What a removal did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgotten {
    /// Rows that stay, with the person made anonymous.
    pub rewritten: u64,
}

/// Removes the person's messages and the rows that are only about this person. Replaces the account and the names everywhere else. If it is
/// interrupted, another call finishes it. Works beside a running team.
pub async fn forget_person(
    store: &Store,
    (config, roster): (&Config, &Roster),
    person: &KnownPerson,
    at: DateTime<Utc>,
) -> anyhow::Result<Forgotten> {
    let named = config.features.iter().flat_map(FeatureSection::list_people).any(|(id, _)| id == person.id);
    ensure!(!named, "{} is in the settings: remove {} there first", person.name, person.id);
    let directory = people(config, store).directory().await?;
    // A name that others share does not identify this person.
    let is_own = |name: &&String| directory.find(name).is_ok_and(|found| found.id == person.id) && roster.find_named(name).is_none();
    let somebody = Somebody {
        id: person.id.clone(),
        names: person.names.clone(),
        own_names: person.names.iter().filter(is_own).cloned().collect(),
        nobody: UserId::new(format!("{}:forgotten-{}", platform(&person.id), uuid::Uuid::now_v7().simple())),
    };
    let private = store.list_private_channels_of(&person.id).await?;
    let erasure = Erasure { person: person.id.clone(), private, at };
    for feature in FEATURES {
        feature.forget_person(store, &erasure).await?;
    }
    let mut rewritten = 0;
    for table in store.list_tables().await?.iter().filter(|table| table.name != PEOPLE) {
        rewritten += somebody.leave(store, table).await?;
    }
    store.forget_seen(&person.id).await?;
    store.drop_deleted().await?;
    Ok(Forgotten { rewritten })
}

/// A person who is made anonymous.
struct Somebody {
    id: UserId,
    names: Vec<String>,
    /// Names that nobody else has.
    own_names: Vec<String>,
    /// The id that replaces the account. No platform has it.
    nobody: UserId,
}

impl Somebody {
    async fn leave(&self, store: &Store, table: &Table) -> anyhow::Result<u64> {
        let mut transaction = store.db().begin().await?;
        let mut changed = rewrite_rows(&mut transaction, table, Wanted::Holding(self.id.as_str()), |row| self.rewrite(row)).await?;
        // Some columns contain only the name of the person who acted.
        for name in &self.own_names {
            changed += rewrite_rows(&mut transaction, table, Wanted::Exactly(name), |row| self.rewrite(row)).await?;
        }
        transaction.commit().await?;
        Ok(changed)
    }

    /// The cells of a row that change. Empty if the row is about another person, whose account begins in the same way.
    fn rewrite(&self, row: &Row) -> Row {
        let texts = || row.iter().filter_map(|(column, cell)| Some((column, cell.as_str()?)));
        let is_theirs = |text: &str| holds_id(text, self.id.as_str()) || self.own_names.iter().any(|name| name == text);
        if !texts().any(|(_, text)| is_theirs(text)) {
            return Row::new();
        }
        let rewritten = |(column, text): (&String, &str)| {
            let cell = match serde_json::from_str(text) {
                Ok(mut document @ (Value::Object(_) | Value::Array(_))) => {
                    self.rewrite_document(&mut document);
                    document.to_string()
                }
                _ => self.rewrite_text(text),
            };
            (cell != text).then(|| (column.clone(), cell.into()))
        };
        texts().filter_map(rewritten).collect()
    }

    fn rewrite_document(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.rewrite_text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.rewrite_document(value)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.rewrite_document(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Replaces a name only where it is the whole text. Inside a sentence it may be an ordinary word.
    fn rewrite_text(&self, text: &str) -> String {
        if self.names.iter().any(|name| name == text) {
            return SOMEBODY.to_owned();
        }
        let text = text.replace(&Mention(&self.id).to_string(), SOMEBODY);
        replace_id(&text, self.id.as_str(), self.nobody.as_str())
    }
}

fn platform(person: &UserId) -> &str {
    person.as_str().split_once(':').map_or("", |(platform, _)| platform)
}

/// A row with its JSON documents parsed.
fn unfold(row: Row) -> Value {
    let cell = |cell: Value| match cell.as_str().and_then(|text| serde_json::from_str(text).ok()) {
        Some(document @ (Value::Object(_) | Value::Array(_))) => document,
        _ => cell,
    };
    Value::Object(row.into_iter().map(|(column, value)| (column, cell(value))).collect())
}
