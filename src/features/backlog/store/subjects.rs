//! Finds open items that are about the same, by keys of their titles, without reading all.
//!
//! Only open items have keys. The place of a private item is a part of them, so that nobody elsewhere finds it.

use std::collections::{BTreeMap, BTreeSet};

use crate::features::backlog::action::Subject;
use crate::features::backlog::model::WorkItem;
use crate::features::backlog::store::items::ItemColumns;
use crate::store::Store;
use kernel::db::{Backend, Result, Transaction, bounded, document, sql};
use kernel::ids::{ChannelId, WorkItemId};
use kernel::memory::Scope;

/// The most items that a title is compared with for each of its words, newest first. A word that more items have says little, and similar titles have
/// most words in common.
const COMPARED: i64 = 50;

/// The most keys in a statement.
const AT_ONCE: usize = 1000;

/// Stores the keys of open items.
pub(super) async fn insert<'a>(transaction: &mut Transaction, items: impl IntoIterator<Item = &'a WorkItem>) -> Result<()> {
    const SQLITE: &str =
        "INSERT INTO work_subjects (key, item) SELECT value ->> 0, value ->> 1 FROM json_each($1) WHERE TRUE ON CONFLICT DO NOTHING";
    const POSTGRES: &str = "INSERT INTO work_subjects (key, item) SELECT * FROM unnest($1::bigint[], $2::text[]) ON CONFLICT DO NOTHING";
    let open = items.into_iter().filter(|item| !item.status.is_over());
    let keys: Vec<(i64, &str)> = open
        .flat_map(|item| {
            let (subject, place) = (Subject::of(&item.what), item.private_to.as_ref());
            subject.word_keys(place).into_iter().chain([subject.key(place)]).map(|key| (key, item.id.as_str()))
        })
        .collect();
    for keys in keys.chunks(AT_ONCE) {
        match transaction.on() {
            Backend::Sqlite(connection) => {
                sqlx::query(SQLITE).bind(document(&keys)).execute(connection).await?;
            }
            Backend::Postgres(connection) => {
                let (keys, items): (Vec<i64>, Vec<&str>) = keys.iter().copied().unzip();
                bounded(sqlx::query(POSTGRES).bind(keys).bind(items).execute(connection)).await?;
            }
        }
    }
    Ok(())
}

/// Removes the keys of an item that has ended.
pub(super) async fn delete(transaction: &mut Transaction, item: &WorkItemId) -> Result<()> {
    sql!(transaction.on(), execute, "DELETE FROM work_subjects WHERE item = $1", item.as_str())?;
    Ok(())
}

/// Replaces the keys of an item whose title was changed.
pub(super) async fn replace(transaction: &mut Transaction, item: &WorkItem) -> Result<()> {
    delete(transaction, &item.id).await?;
    insert(transaction, [item]).await
}

/// Gives keys to open items that an earlier version added.
pub(super) async fn insert_missing(transaction: &mut Transaction) -> Result<()> {
    let rows: Vec<ItemColumns> = sql!(
        transaction.on(),
        fetch_all,
        "SELECT work_items.*, NULL AS depends_on FROM work_items
         WHERE status NOT IN ('done', 'failed', 'cancelled') AND NOT EXISTS (SELECT 1 FROM work_subjects WHERE item = work_items.id)"
    )?;
    let without = rows.into_iter().map(WorkItem::try_from).collect::<Result<Vec<_>>>()?;
    insert(transaction, &without).await
}

impl Store {
    /// Open items that may be told in `scope`, with titles similar to one of these, oldest first, with their titles.
    pub async fn list_alike(&self, titles: &[String], scope: &Scope) -> Result<Vec<(WorkItemId, String)>> {
        let mut alike = BTreeMap::new();
        for title in titles {
            let subject = Subject::of(title);
            for place in places(scope) {
                let keys: BTreeSet<i64> = subject.word_keys(place.as_ref()).into_iter().chain([subject.key(place.as_ref())]).collect();
                for key in keys {
                    let found = self.list_titles(key).await?;
                    alike.extend(found.into_iter().filter(|(_, what)| subject.is_like(&Subject::of(what))));
                }
            }
        }
        Ok(alike.into_iter().collect())
    }

    /// The oldest open item that may be told in `scope` and has the same significant words.
    pub async fn find_same(&self, title: &str, scope: &Scope) -> Result<Option<(WorkItemId, String)>> {
        let subject = Subject::of(title);
        let mut same = BTreeMap::new();
        for place in places(scope) {
            let found = self.list_titles(subject.key(place.as_ref())).await?;
            same.extend(found.into_iter().filter(|(_, what)| subject.is_same(&Subject::of(what))));
        }
        Ok(same.into_iter().next())
    }

    async fn list_titles(&self, key: i64) -> Result<Vec<(WorkItemId, String)>> {
        let rows: Vec<(String, String)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.id, work_items.what FROM work_subjects JOIN work_items ON work_items.id = work_subjects.item
             WHERE work_subjects.key = $1 AND work_items.status NOT IN ('done', 'failed', 'cancelled')
             ORDER BY work_subjects.item DESC LIMIT $2",
            key,
            COMPARED
        )?;
        Ok(rows.into_iter().map(|(id, what)| (id.into(), what)).collect())
    }
}

/// The places whose items may be told in a scope.
fn places(scope: &Scope) -> impl Iterator<Item = Option<ChannelId>> {
    let private = scope.heard().into_iter().filter(|place| !place.is_empty()).map(|place| Some(ChannelId::new(place)));
    private.chain([None]).collect::<Vec<_>>().into_iter()
}
