use chrono::{DateTime, Utc};

use crate::features::backlog::model::WorkStatus;
use crate::store::Store;
use kernel::db::{Result, Word, sql};
use kernel::memory::Scope;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemCounts {
    /// Statuses without items are missing.
    pub by_status: Vec<(WorkStatus, u64)>,
    /// Items done since the given time.
    pub done_since: u64,
}

impl ItemCounts {
    pub fn of(&self, status: WorkStatus) -> u64 {
        self.by_status.iter().find(|(counted, _)| *counted == status).map_or(0, |(_, count)| *count)
    }
}

#[derive(sqlx::FromRow)]
struct CountColumns {
    #[sqlx(try_from = "String")]
    status: Word<WorkStatus>,
    count: i64,
}

impl Store {
    /// Counts the items that may be shown in `scope` by status. None: all. Statuses without items are missing.
    pub async fn count_items_in(&self, scope: Option<&Scope>) -> Result<Vec<(WorkStatus, u64)>> {
        let here = scope.unwrap_or(&Scope::TEAM).heard();
        let rows: Vec<CountColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT status, COUNT(*) AS count FROM work_items
             WHERE status IN ('new', 'ready', 'blocked', 'in_progress', 'in_review', 'waiting', 'done', 'failed', 'cancelled')
                 AND ($1 OR private_to IS NULL OR private_to IN ($2, $3))
             GROUP BY status ORDER BY status",
            scope.is_none(),
            here[0],
            here[1]
        )?;
        Ok(rows.into_iter().map(|row| (row.status.0, row.count.cast_unsigned())).collect())
    }

    /// Counts items by status, and items done since a time.
    pub async fn count_items(&self, since: DateTime<Utc>) -> Result<ItemCounts> {
        let rows: Vec<CountColumns> =
            sql!(self.db().read(), fetch_all, "SELECT status, COUNT(*) AS count FROM work_items GROUP BY status ORDER BY status")?;
        // Done is final, so each such event is an item that is done.
        let (done_since,): (i64,) =
            sql!(self.db().read(), fetch_one, "SELECT COUNT(*) FROM events WHERE topic = 'item' AND at >= $1 AND kind = 'done'", since)?;
        let by_status = rows.into_iter().map(|row| (row.status.0, row.count.cast_unsigned())).collect();
        Ok(ItemCounts { by_status, done_since: done_since.cast_unsigned() })
    }
}
