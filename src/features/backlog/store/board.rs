//! The backlog as a board shows it: how many items stand where, and the few of them that are looked at first.

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Evidence, Owner, Urgency, Wait, WorkStatus};
use crate::store::Store;
use kernel::db::{Document, Result, StoreError, Who, Word, plain, sql};
use kernel::ids::{PersonaSlug, WorkItemId};
use kernel::money::Money;

/// Which items are looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoardFilter {
    /// None for everybody's.
    pub owner: Option<Owner>,
    /// Words that stand in what is to be done, whatever their case, or the end of an item's id. Empty for all.
    pub text: String,
}

/// What a board shows of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct BoardCard {
    pub id: WorkItemId,
    pub what: String,
    pub owner: Owner,
    /// Who carries it out.
    pub persona: Option<PersonaSlug>,
    pub urgency: Urgency,
    pub status: WorkStatus,
    pub wait: Option<Wait>,
    pub evidence: Vec<Evidence>,
    pub outcome: Option<String>,
    /// How often it was tried in vain.
    pub attempts: u32,
    pub cost: Money,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

#[derive(sqlx::FromRow)]
struct CardColumns {
    id: String,
    what: String,
    owner: String,
    owner_name: Option<String>,
    persona: Option<String>,
    #[sqlx(try_from = "String")]
    urgency: Word<Urgency>,
    #[sqlx(try_from = "String")]
    status: Word<WorkStatus>,
    wait: Option<String>,
    #[sqlx(try_from = "String")]
    evidence: Document<Vec<Evidence>>,
    outcome: Option<String>,
    #[sqlx(try_from = "i64")]
    attempts: u32,
    cost: i64,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl TryFrom<CardColumns> for BoardCard {
    type Error = StoreError;

    fn try_from(row: CardColumns) -> Result<Self> {
        Ok(Self {
            id: row.id.into(),
            what: row.what,
            owner: Who { key: row.owner, name: row.owner_name }.into(),
            persona: row.persona.map(PersonaSlug::new),
            urgency: row.urgency.0,
            status: row.status.0,
            wait: row.wait.map(Document::read).transpose()?,
            evidence: row.evidence.0,
            outcome: row.outcome,
            attempts: row.attempts,
            cost: Money(row.cost),
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

impl BoardFilter {
    fn owner_key(&self) -> String {
        self.owner.as_ref().map(|owner| plain(&Who::from(owner).key).into_owned()).unwrap_or_default()
    }

    /// The words as a pattern of `LIKE` in which `!` takes its meaning from what would have one.
    fn pattern(&self) -> String {
        let text = plain(self.text.trim()).to_lowercase();
        ['!', '%', '_'].into_iter().fold(text, |text, special| text.replace(special, &format!("!{special}")))
    }
}

impl Store {
    /// How many items that pass a filter have each status; one that none has is missing.
    pub async fn count_cards(&self, filter: &BoardFilter) -> Result<Vec<(WorkStatus, u64)>> {
        let rows: Vec<(String, i64)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT status, COUNT(*) FROM work_items
             WHERE status IN ('new', 'ready', 'blocked', 'in_progress', 'in_review', 'waiting', 'done', 'failed', 'cancelled')
                 AND ($1 = '' OR owner = $1) AND ($2 = '' OR lower(what) LIKE '%' || $2 || '%' ESCAPE '!' OR id LIKE '%' || $2 ESCAPE '!')
             GROUP BY status ORDER BY status",
            filter.owner_key(),
            filter.pattern()
        )?;
        rows.into_iter().map(|(status, count)| Ok((Word::read(status)?, count.cast_unsigned()))).collect()
    }

    /// The items with one status in the order of work, as the planner set it.
    pub async fn list_cards_by_rank(&self, status: WorkStatus, filter: &BoardFilter, limit: usize) -> Result<Vec<BoardCard>> {
        let rows: Vec<CardColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT id, what, owner, owner_name, persona, urgency, status, wait, evidence, outcome, attempts, cost, created_at, updated_at
             FROM work_items WHERE status = $1
                 AND ($2 = '' OR owner = $2) AND ($3 = '' OR lower(what) LIKE '%' || $3 || '%' ESCAPE '!' OR id LIKE '%' || $3 ESCAPE '!')
             ORDER BY rank, id LIMIT $4",
            status.as_str(),
            filter.owner_key(),
            filter.pattern(),
            i64::try_from(limit).unwrap_or(i64::MAX)
        )?;
        rows.into_iter().map(BoardCard::try_from).collect()
    }

    /// The items with one status, those that moved last coming first.
    pub async fn list_cards_by_age(&self, status: WorkStatus, filter: &BoardFilter, limit: usize) -> Result<Vec<BoardCard>> {
        let rows: Vec<CardColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT id, what, owner, owner_name, persona, urgency, status, wait, evidence, outcome, attempts, cost, created_at, updated_at
             FROM work_items WHERE status = $1
                 AND ($2 = '' OR owner = $2) AND ($3 = '' OR lower(what) LIKE '%' || $3 || '%' ESCAPE '!' OR id LIKE '%' || $3 ESCAPE '!')
             ORDER BY updated_at DESC, id DESC LIMIT $4",
            status.as_str(),
            filter.owner_key(),
            filter.pattern(),
            i64::try_from(limit).unwrap_or(i64::MAX)
        )?;
        rows.into_iter().map(BoardCard::try_from).collect()
    }
}
