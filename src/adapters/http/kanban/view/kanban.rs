//! The columns of the kanban page, with the first cards of each.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::adapters::http::kanban::read_id;
use crate::adapters::http::kanban::view::{Asked, Viewer, Who, labels, parse_owner};
use crate::features::backlog::model::{Urgency, WorkKind, WorkStatus, short_id};
use crate::features::backlog::store::{KanbanCard, KanbanFilter};
use kernel::db::StoreError;

/// The most cards in a column. For the rest only the number is shown.
pub(crate) const MOST: usize = 100;

/// The most missions to choose from.
const MISSIONS: usize = 30;

#[derive(Debug, Serialize)]
pub(crate) struct KanbanView {
    team: String,
    /// The change counter of the data shown.
    mark: i64,
    at: DateTime<Utc>,
    as_of: String,
    /// The selected filter.
    owner: String,
    text: String,
    mission: String,
    /// The owners to choose from.
    owners: Vec<Who>,
    /// The missions to choose from.
    missions: Vec<MissionOption>,
    columns: Vec<ColumnView>,
}

#[derive(Debug, Clone, Serialize)]
struct MissionOption {
    id: String,
    what: String,
}

#[derive(Debug, Serialize)]
struct ColumnView {
    id: &'static str,
    title: &'static str,
    /// All cards of the column; `cards` holds the first ones.
    count: u64,
    cards: Vec<CardView>,
}

#[derive(Debug, Serialize)]
struct CardView {
    id: String,
    short_id: String,
    kind: WorkKind,
    what: String,
    owner: Who,
    /// Who works on it, if not the owner.
    by: Option<Who>,
    urgency: Urgency,
    urgency_label: String,
    is_overdue: bool,
    /// The mission of a step.
    mission: Option<MissionOption>,
    status: WorkStatus,
    status_label: String,
    /// Why it waits.
    wait: Option<String>,
    evidence: Option<String>,
    outcome: Option<String>,
    attempts: u32,
    /// None if it cost nothing.
    cost: Option<String>,
    /// When it was added, or ended: with the distance, as in `3 h ago`.
    date: String,
    age: String,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

struct Column {
    id: &'static str,
    title: &'static str,
    statuses: &'static [WorkStatus],
    order: Order,
}

enum Order {
    /// In the order of work: what is claimed next comes first.
    Work,
    /// The most recently changed first.
    Age,
}

const COLUMNS: [Column; 5] = [
    Column { id: "next", title: "Next", statuses: &[WorkStatus::Ready, WorkStatus::New, WorkStatus::Blocked], order: Order::Work },
    Column { id: "in-progress", title: "In progress", statuses: &[WorkStatus::InProgress], order: Order::Age },
    Column { id: "waiting", title: "Waiting", statuses: &[WorkStatus::Waiting, WorkStatus::InReview], order: Order::Age },
    Column { id: "done", title: "Done", statuses: &[WorkStatus::Done], order: Order::Age },
    Column { id: "ended", title: "Ended", statuses: &[WorkStatus::Failed, WorkStatus::Cancelled], order: Order::Age },
];

impl Viewer {
    /// Reads the current columns.
    pub(crate) async fn read_kanban(&self, asked: &Asked) -> Result<KanbanView, StoreError> {
        // Read before the items, so that a change in between causes at most one reload too many.
        let mark = self.store.backlog_mark().await?;
        let filter = KanbanFilter {
            owner: parse_owner(&asked.owner),
            text: asked.text.clone(),
            mission: read_id(asked.mission.clone()).filter(|id| !id.as_str().is_empty()),
        };
        let counts = self.store.count_cards(&filter).await?;
        let now = self.clock.now();
        let mut columns = Vec::with_capacity(COLUMNS.len());
        for column in &COLUMNS {
            let count = counts.iter().filter(|(status, _)| column.statuses.contains(status)).map(|(_, count)| count).sum();
            let cards = self.list_cards(column, &filter).await?;
            let cards = cards.into_iter().map(|card| self.show_card(card, now)).collect();
            columns.push(ColumnView { id: column.id, title: column.title, count, cards });
        }
        let owners = self.list_owners(&columns, &filter);
        Ok(KanbanView {
            team: self.team.clone(),
            mark,
            at: now,
            as_of: self.roster.show_time(now),
            owner: asked.owner.clone(),
            text: asked.text.clone(),
            mission: asked.mission.clone(),
            owners,
            missions: self.list_missions(&filter).await?,
            columns,
        })
    }

    async fn list_cards(&self, column: &Column, filter: &KanbanFilter) -> Result<Vec<KanbanCard>, StoreError> {
        let mut cards: Vec<KanbanCard> = Vec::new();
        for status in column.statuses {
            let room = MOST - cards.len();
            let more = match column.order {
                Order::Work => self.store.list_cards_by_rank(*status, filter, room).await?,
                Order::Age => self.store.list_cards_by_age(*status, filter, room).await?,
            };
            cards.extend(more);
        }
        Ok(cards)
    }

    fn show_card(&self, card: KanbanCard, now: DateTime<Utc>) -> CardView {
        let owner = self.show_owner(&card.owner);
        let by = card.persona.as_ref().map(|slug| self.show_persona(slug)).filter(|by| by.key != owner.key);
        let changed = if card.status.is_over() { card.updated_at } else { card.created_at };
        CardView {
            short_id: short_id(&card.id).to_owned(),
            kind: card.kind,
            id: card.id.to_string(),
            what: card.what,
            owner,
            by,
            urgency: card.urgency,
            urgency_label: self.show_when(card.due, card.urgency, card.status),
            is_overdue: !card.status.is_over() && card.due.is_some_and(|due| due < now),
            mission: card.mission.map(|(id, what)| MissionOption { id: id.to_string(), what }),
            status: card.status,
            status_label: labels::status(card.status),
            wait: card.wait.filter(|_| card.status == WorkStatus::Waiting).map(|wait| wait.describe()),
            evidence: labels::count_evidence(&card.evidence),
            outcome: card.outcome.map(|outcome| labels::cut(&outcome, 200)),
            attempts: card.attempts,
            cost: (card.cost.0 != 0).then(|| card.cost.to_string()),
            date: labels::date(changed, now, self.zone),
            age: labels::distance(changed, now),
            created_at: card.created_at,
            updated_at: card.updated_at,
        }
    }

    /// The missions that were changed last, and the one that is asked for.
    async fn list_missions(&self, filter: &KanbanFilter) -> Result<Vec<MissionOption>, StoreError> {
        let mut missions = self.store.list_kanban_missions(MISSIONS).await?;
        if let Some(asked) = filter.mission.as_ref().filter(|asked| missions.iter().all(|(id, _)| id != *asked)) {
            missions.extend(self.store.find_item(asked).await?.map(|item| (item.id, item.what)));
        }
        Ok(missions.into_iter().map(|(id, what)| MissionOption { id: id.to_string(), what }).collect())
    }

    /// The personas, and the people who own one of the cards shown.
    fn list_owners(&self, columns: &[ColumnView], filter: &KanbanFilter) -> Vec<Who> {
        let personas = self.roster.personas().iter().map(|persona| self.show_persona(&persona.slug));
        let shown = columns.iter().flat_map(|column| &column.cards).map(|card| card.owner.clone());
        let asked = filter.owner.iter().map(|owner| self.show_owner(owner));
        let mut owners: Vec<Who> = Vec::new();
        for who in personas.chain(shown).chain(asked) {
            if owners.iter().all(|known| known.key != who.key) {
                owners.push(who);
            }
        }
        owners
    }
}
