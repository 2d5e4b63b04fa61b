//! The kanban view: counts by status and the first cards of each.

use std::net::SocketAddr;

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Evidence, Owner, Urgency, Wait, WorkKind, WorkStatus};
use crate::store::Store;
use kernel::db::{Document, Readable, Result, StoreError, Who, Word, plain, sql};
use kernel::ids::{PersonaSlug, WorkItemId};
use kernel::money::Money;

/// Which items to show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KanbanFilter {
    /// None: all owners.
    pub owner: Option<Owner>,
    /// Part of the title, ignoring case, or the end of an item's id. Empty: all items.
    pub text: String,
    /// A mission: it and its steps. None: all items.
    pub mission: Option<WorkItemId>,
}

/// An item on the kanban page.
#[derive(Debug, Clone, PartialEq)]
pub struct KanbanCard {
    pub id: WorkItemId,
    pub kind: WorkKind,
    pub what: String,
    pub owner: Owner,
    /// The persona that executes it.
    pub persona: Option<PersonaSlug>,
    pub urgency: Urgency,
    pub due: Option<DateTime<Utc>>,
    pub status: WorkStatus,
    pub wait: Option<Wait>,
    pub evidence: Vec<Evidence>,
    pub outcome: Option<String>,
    /// Failed attempts.
    pub attempts: u32,
    pub cost: Money,
    /// The mission of a step, with its title.
    pub mission: Option<(WorkItemId, String)>,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

#[derive(sqlx::FromRow)]
struct CardColumns {
    id: String,
    #[sqlx(try_from = "String")]
    kind: Word<WorkKind>,
    what: String,
    owner: String,
    owner_name: Option<String>,
    persona: Option<String>,
    #[sqlx(try_from = "String")]
    urgency: Word<Urgency>,
    due: Option<DateTime<Utc>>,
    #[sqlx(try_from = "String")]
    status: Word<WorkStatus>,
    wait: Option<String>,
    #[sqlx(try_from = "String")]
    evidence: Document<Vec<Evidence>>,
    outcome: Option<String>,
    #[sqlx(try_from = "i64")]
    attempts: u32,
    cost: i64,
    parent: Option<String>,
    mission: Option<String>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl TryFrom<CardColumns> for KanbanCard {
    type Error = StoreError;

    fn try_from(row: CardColumns) -> Result<Self> {
        Ok(Self {
            id: row.id.into(),
            kind: row.kind.0,
            what: row.what,
            owner: Who { key: row.owner, name: row.owner_name }.into(),
            persona: row.persona.map(PersonaSlug::new),
            urgency: row.urgency.0,
            due: row.due,
            status: row.status.0,
            wait: row.wait.map(Document::read).transpose()?,
            evidence: row.evidence.0,
            outcome: row.outcome,
            attempts: row.attempts,
            cost: Money(row.cost),
            mission: row.parent.map(WorkItemId::new).zip(row.mission),
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

impl KanbanFilter {
    fn owner_key(&self) -> String {
        self.owner.as_ref().map(|owner| plain(&Who::from(owner).key).into_owned()).unwrap_or_default()
    }

    fn mission_id(&self) -> String {
        self.mission.as_ref().map(|mission| plain(mission.as_str()).into_owned()).unwrap_or_default()
    }

    /// A `LIKE` pattern for the text, with `!` as escape character.
    fn pattern(&self) -> String {
        let text = plain(self.text.trim()).to_lowercase();
        ['!', '%', '_'].into_iter().fold(text, |text, special| text.replace(special, &format!("!{special}")))
    }
}

impl Store {
    /// Stores where this process serves the kanban page: the address of its server, and what people open. None: nobody can open it.
    pub async fn record_kanban_page(&self, page: Option<(SocketAddr, &str)>) -> Result<()> {
        let Some((address, url)) = page else {
            sql!(self.db().write()?, execute, "DELETE FROM kanban_page WHERE id = 1")?;
            return Ok(());
        };
        sql!(
            self.db().write()?,
            execute,
            "INSERT INTO kanban_page (id, address, url) VALUES (1, $1, $2)
             ON CONFLICT (id) DO UPDATE SET address = excluded.address, url = excluded.url",
            address.to_string(),
            url
        )?;
        Ok(())
    }

    /// Where a process of the team serves the kanban page, or served it until it was killed.
    pub async fn find_kanban_page(&self) -> Result<Option<(SocketAddr, String)>> {
        let row: Option<(String, String)> = sql!(self.db().read(), fetch_optional, "SELECT address, url FROM kanban_page WHERE id = 1")?;
        Ok(row.and_then(|(address, url)| Some((address.parse().ok()?, url))))
    }

    /// The number of matching items per status. Statuses without items are missing.
    pub async fn count_cards(&self, filter: &KanbanFilter) -> Result<Vec<(WorkStatus, u64)>> {
        let rows: Vec<(String, i64)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT status, COUNT(*) FROM work_items
             WHERE status IN ('new', 'ready', 'blocked', 'in_progress', 'in_review', 'waiting', 'done', 'failed', 'cancelled')
                 AND ($1 = '' OR owner = $1) AND ($2 = '' OR lower(what) LIKE '%' || $2 || '%' ESCAPE '!' OR id LIKE '%' || $2 ESCAPE '!')
                 AND ($3 = '' OR id = $3 OR parent = $3)
             GROUP BY status ORDER BY status",
            filter.owner_key(),
            filter.pattern(),
            filter.mission_id()
        )?;
        rows.into_iter().map(|(status, count)| Ok((Word::read(status)?, count.cast_unsigned()))).collect()
    }

    /// Items of one status in the order of work, as ranked by the planner.
    pub async fn list_cards_by_rank(&self, status: WorkStatus, filter: &KanbanFilter, limit: usize) -> Result<Vec<KanbanCard>> {
        let rows: Vec<Readable<CardColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT id, kind, what, owner, owner_name, persona, urgency, due, status, wait, evidence, outcome, attempts, cost, created_at, updated_at,
                 parent, (SELECT whole.what FROM work_items whole WHERE whole.id = work_items.parent AND whole.kind = 'mission') AS mission
             FROM work_items WHERE status = $1
                 AND ($2 = '' OR owner = $2) AND ($3 = '' OR lower(what) LIKE '%' || $3 || '%' ESCAPE '!' OR id LIKE '%' || $3 ESCAPE '!')
                 AND ($5 = '' OR id = $5 OR parent = $5)
             ORDER BY rank, id LIMIT $4",
            status.as_str(),
            filter.owner_key(),
            filter.pattern(),
            i64::try_from(limit).unwrap_or(i64::MAX),
            filter.mission_id()
        )?;
        Ok(self.db().read_each("work_items", rows, KanbanCard::try_from))
    }

    /// Items of one status, most recently changed first.
    pub async fn list_cards_by_age(&self, status: WorkStatus, filter: &KanbanFilter, limit: usize) -> Result<Vec<KanbanCard>> {
        let rows: Vec<Readable<CardColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT id, kind, what, owner, owner_name, persona, urgency, due, status, wait, evidence, outcome, attempts, cost, created_at, updated_at,
                 parent, (SELECT whole.what FROM work_items whole WHERE whole.id = work_items.parent AND whole.kind = 'mission') AS mission
             FROM work_items WHERE status = $1
                 AND ($2 = '' OR owner = $2) AND ($3 = '' OR lower(what) LIKE '%' || $3 || '%' ESCAPE '!' OR id LIKE '%' || $3 ESCAPE '!')
                 AND ($5 = '' OR id = $5 OR parent = $5)
             ORDER BY updated_at DESC, id DESC LIMIT $4",
            status.as_str(),
            filter.owner_key(),
            filter.pattern(),
            i64::try_from(limit).unwrap_or(i64::MAX),
            filter.mission_id()
        )?;
        Ok(self.db().read_each("work_items", rows, KanbanCard::try_from))
    }

    /// The missions that were changed last, with their titles.
    pub async fn list_kanban_missions(&self, limit: usize) -> Result<Vec<(WorkItemId, String)>> {
        let rows: Vec<(String, String)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT id, what FROM work_items WHERE kind = 'mission' ORDER BY updated_at DESC, id DESC LIMIT $1",
            i64::try_from(limit).unwrap_or(i64::MAX)
        )?;
        Ok(rows.into_iter().map(|(id, what)| (id.into(), what)).collect())
    }
}
