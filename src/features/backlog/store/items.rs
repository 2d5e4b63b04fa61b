//! Work items and their dependencies.

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Evidence, MeetingOrigin, Origin, Owner, Urgency, WorkItem, WorkKind, WorkStatus};
use crate::store::Store;
use kernel::db::{Document, Readable, Result, StoreError, Who, Word, document, sql};
use kernel::ids::{ChannelId, MessageId, PersonaSlug, UserId, WorkItemId};
use kernel::memory::Scope;
use kernel::money::Money;

/// The most items that are followed back to find the person who asked for the first one.
const STEPS: usize = 8;

#[derive(Debug, Clone, Copy)]
pub struct ItemFilter<'a> {
    /// Empty: all.
    pub statuses: &'a [WorkStatus],
    pub owner: Option<&'a Owner>,
    /// The place in which they are shown. Items that are private elsewhere are left out. None: all items.
    pub scope: Option<&'a Scope>,
    pub limit: u32,
}

impl ItemFilter<'_> {
    /// All open items.
    pub fn open(limit: u32) -> Self {
        Self { statuses: &WorkStatus::OPEN, owner: None, scope: None, limit }
    }

    /// The statuses as a fixed number of parameters, padded with empty names. SQLite cannot bind a list.
    fn names(&self) -> [&'static str; 9] {
        WorkStatus::ALL.map(|status| if self.statuses.is_empty() || self.statuses.contains(&status) { status.as_str() } else { "" })
    }
}

#[derive(sqlx::FromRow)]
pub(super) struct ItemColumns {
    id: String,
    #[sqlx(try_from = "String")]
    kind: Word<WorkKind>,
    what: String,
    how: String,
    why: String,
    said: String,
    background: String,
    owner: String,
    owner_name: Option<String>,
    #[sqlx(try_from = "String")]
    urgency: Word<Urgency>,
    #[sqlx(try_from = "i64")]
    priority: u8,
    #[sqlx(try_from = "String")]
    criteria: Document<Vec<String>>,
    #[sqlx(try_from = "String")]
    status: Word<WorkStatus>,
    #[sqlx(try_from = "i64")]
    attempts: u32,
    execution: Option<String>,
    persona: Option<String>,
    channel: Option<String>,
    private_to: Option<String>,
    wait: Option<String>,
    not_before: Option<DateTime<Utc>>,
    due: Option<DateTime<Utc>>,
    reviewer: Option<String>,
    #[sqlx(try_from = "i64")]
    run: u32,
    #[sqlx(try_from = "String")]
    evidence: Document<Vec<Evidence>>,
    parent: Option<String>,
    /// Ids separated by spaces. Null without dependencies.
    depends_on: Option<String>,
    repository: Option<String>,
    #[sqlx(try_from = "String")]
    origin: Document<Origin>,
    outcome: Option<String>,
    cost: i64,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl TryFrom<ItemColumns> for WorkItem {
    type Error = StoreError;

    fn try_from(row: ItemColumns) -> Result<Self> {
        Ok(Self {
            id: row.id.into(),
            kind: row.kind.0,
            what: row.what,
            how: row.how,
            why: row.why,
            said: row.said,
            background: row.background,
            owner: Who { key: row.owner, name: row.owner_name }.into(),
            urgency: row.urgency.0,
            priority: row.priority,
            criteria: row.criteria.0,
            status: row.status.0,
            attempts: row.attempts,
            execution: row.execution.map(Document::read).transpose()?,
            persona: row.persona.map(PersonaSlug::new),
            channel: row.channel.map(ChannelId::new),
            private_to: row.private_to.map(ChannelId::new),
            wait: row.wait.map(Document::read).transpose()?,
            not_before: row.not_before,
            due: row.due,
            reviewer: row.reviewer.map(Document::read).transpose()?,
            run: row.run,
            evidence: row.evidence.0,
            parent: row.parent.map(WorkItemId::new),
            depends_on: row.depends_on.iter().flat_map(|ids| ids.split(' ')).map(WorkItemId::from).collect(),
            repository: row.repository,
            origin: row.origin.0,
            outcome: row.outcome,
            cost: Money(row.cost),
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

impl Store {
    /// Matching items by urgency, priority and age.
    pub async fn list_items(&self, filter: &ItemFilter<'_>) -> Result<Vec<WorkItem>> {
        let (statuses, here) = (filter.names(), filter.scope.unwrap_or(&Scope::TEAM).heard());
        let rows: Vec<Readable<ItemColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
             FROM work_items WHERE status IN ($1, $2, $3, $4, $5, $6, $7, $8, $9) AND ($10 = '' OR owner = $10)
                 AND ($12 OR private_to IS NULL OR private_to IN ($13, $14))
             ORDER BY CASE urgency WHEN 'now' THEN 0 WHEN 'today' THEN 1 WHEN 'this_week' THEN 2 ELSE 3 END,
                 CASE WHEN due IS NULL THEN 1 ELSE 0 END, due, priority, created_at, id
             LIMIT $11",
            statuses[0],
            statuses[1],
            statuses[2],
            statuses[3],
            statuses[4],
            statuses[5],
            statuses[6],
            statuses[7],
            statuses[8],
            filter.owner.map(|owner| Who::from(owner).key).unwrap_or_default(),
            i64::from(filter.limit),
            filter.scope.is_none(),
            here[0],
            here[1]
        )?;
        Ok(self.db().read_each("work_items", rows, WorkItem::try_from))
    }

    pub async fn find_item(&self, item: &WorkItemId) -> Result<Option<WorkItem>> {
        let row: Option<ItemColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
             FROM work_items WHERE id = $1",
            item.as_str()
        )?;
        row.map(WorkItem::try_from).transpose()
    }

    /// The parts of an item, oldest first.
    pub async fn list_parts(&self, parent: &WorkItemId) -> Result<Vec<WorkItem>> {
        let rows: Vec<ItemColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
             FROM work_items WHERE parent = $1 ORDER BY created_at, id",
            parent.as_str()
        )?;
        rows.into_iter().map(WorkItem::try_from).collect()
    }

    /// Up to `limit` items by the end of their id, newest first. Fewer than six characters match nothing.
    pub async fn find_items_by_suffix(&self, suffix: &str, limit: u32) -> Result<Vec<WorkItem>> {
        let suffix = suffix.to_lowercase();
        let Some((start, _)) = suffix.char_indices().rev().nth(5) else { return Ok(Vec::new()) };
        let rows: Vec<Readable<ItemColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT work_items.*, (SELECT string_agg(needs, ' ' ORDER BY position) FROM work_dependencies WHERE item = work_items.id) AS depends_on
             FROM work_items WHERE substr(id, length(id) - 5) = $2 AND substr(id, length(id) - length($1) + 1) = $1
             ORDER BY created_at DESC, id DESC LIMIT $3",
            suffix.as_str(),
            &suffix[start..],
            i64::from(limit)
        )?;
        Ok(self.db().read_each("work_items", rows, WorkItem::try_from))
    }

    /// The channel of the latest item that a meeting decided on, if it is not private.
    pub async fn find_meeting_channel(&self) -> Result<Option<ChannelId>> {
        let row: Option<(String,)> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT channel FROM work_items
             WHERE substr(origin, 3, 7) = 'meeting' AND channel IS NOT NULL AND private_to IS NULL
             ORDER BY created_at DESC LIMIT 1"
        )?;
        Ok(row.map(|(channel,)| channel.into()))
    }

    /// The person who asked for an item, who asked for the item during which it was added, or who called the meeting that decided on it.
    pub async fn find_author(&self, item: &WorkItem) -> Result<Option<(UserId, String)>> {
        let mut origin = item.origin.clone();
        for _ in 0..STEPS {
            let from = match origin {
                Origin::Person { id, name, .. } | Origin::Meeting(MeetingOrigin { called_by: Some((id, name)), .. }) => {
                    return Ok(Some((id, name)));
                }
                Origin::WorkItem(from) => self.find_item(&from).await?,
                Origin::Meeting(_) | Origin::CommandLine | Origin::KanbanPage => None,
            };
            let Some(from) = from else { break };
            origin = from.origin;
        }
        Ok(None)
    }

    /// The message in which a person asked for an item, or for the item that it belongs to.
    pub(crate) async fn find_request(&self, item: &WorkItem) -> Result<Option<MessageId>> {
        let mut origin = item.origin.clone();
        for _ in 0..STEPS {
            let Origin::WorkItem(from) = origin else { break };
            let Some(from) = self.find_item(&from).await? else { return Ok(None) };
            origin = from.origin;
        }
        Ok(if let Origin::Person { message, .. } = origin { message } else { None })
    }

    /// The message in which a person asked for an item, with its channel, as long as it is remembered.
    pub async fn find_request_place(&self, item: &WorkItem) -> Result<Option<(ChannelId, MessageId)>> {
        let Some(message) = self.find_request(item).await? else { return Ok(None) };
        let row: Option<(String,)> =
            sql!(self.db().read(), fetch_optional, "SELECT channel FROM inbox WHERE id = $1 AND deleted_at IS NULL", message.as_str())?;
        Ok(row.map(|(channel,)| (channel.into(), message)))
    }

    /// The number of open items that this one added.
    pub async fn count_added_by(&self, item: &WorkItemId) -> Result<u64> {
        let (added,): (i64,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT COUNT(*) FROM work_items WHERE origin = $1 AND status NOT IN ('done', 'failed', 'cancelled')",
            document(&Origin::WorkItem(item.clone()))
        )?;
        Ok(added.cast_unsigned())
    }
}
