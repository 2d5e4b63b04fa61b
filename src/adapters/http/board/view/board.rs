//! The columns, with the cards that are looked at first in each.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::adapters::http::board::view::{Asked, Viewer, Who, parse_owner, words};
use crate::features::backlog::model::{Urgency, WorkStatus, short_id};
use crate::features::backlog::store::{BoardCard, BoardFilter};
use kernel::db::StoreError;

/// The most cards in a column; of the rest only the number is shown.
pub(crate) const MOST: usize = 100;

#[derive(Debug, Serialize)]
pub(crate) struct BoardView {
    team: String,
    /// The state of the backlog that is shown, for comparing.
    mark: i64,
    at: DateTime<Utc>,
    /// What was asked for.
    owner: String,
    text: String,
    /// Who may be asked for.
    owners: Vec<Who>,
    columns: Vec<ColumnView>,
}

#[derive(Debug, Serialize)]
struct ColumnView {
    id: &'static str,
    title: &'static str,
    /// How many there are; `cards` holds the first of them.
    count: u64,
    cards: Vec<CardView>,
}

#[derive(Debug, Serialize)]
struct CardView {
    id: String,
    short_id: String,
    what: String,
    owner: Who,
    /// Who carries it out, where that is not the owner.
    by: Option<Who>,
    urgency: Urgency,
    urgency_words: &'static str,
    status: WorkStatus,
    status_words: String,
    /// Why it waits.
    wait: Option<String>,
    evidence: Option<String>,
    outcome: Option<String>,
    attempts: u32,
    /// None while it cost nothing.
    cost: Option<String>,
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
    /// What is claimed next comes first.
    Work,
    /// What moved last comes first.
    Age,
}

const COLUMNS: [Column; 5] = [
    Column { id: "next", title: "Next", statuses: &[WorkStatus::Ready, WorkStatus::New, WorkStatus::Blocked], order: Order::Work },
    Column { id: "in-progress", title: "In progress", statuses: &[WorkStatus::InProgress], order: Order::Age },
    Column { id: "waiting", title: "Waiting for people", statuses: &[WorkStatus::Waiting, WorkStatus::InReview], order: Order::Age },
    Column { id: "done", title: "Done", statuses: &[WorkStatus::Done], order: Order::Age },
    Column { id: "ended", title: "Ended", statuses: &[WorkStatus::Failed, WorkStatus::Cancelled], order: Order::Age },
];

impl Viewer {
    /// The board as it is now.
    pub(crate) async fn read_board(&self, asked: &Asked) -> Result<BoardView, StoreError> {
        // Before the items: at worst the page is told of a change that it shows already.
        let mark = self.store.backlog_mark().await?;
        let filter = BoardFilter { owner: parse_owner(&asked.owner), text: asked.text.clone() };
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
        Ok(BoardView { team: self.team.clone(), mark, at: now, owner: asked.owner.clone(), text: asked.text.clone(), owners, columns })
    }

    async fn list_cards(&self, column: &Column, filter: &BoardFilter) -> Result<Vec<BoardCard>, StoreError> {
        let mut cards: Vec<BoardCard> = Vec::new();
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

    fn show_card(&self, card: BoardCard, now: DateTime<Utc>) -> CardView {
        let owner = self.show_owner(&card.owner);
        let by = card.persona.as_ref().map(|slug| self.show_persona(slug)).filter(|by| by.key != owner.key);
        CardView {
            short_id: short_id(&card.id).to_owned(),
            id: card.id.to_string(),
            what: card.what,
            owner,
            by,
            urgency: card.urgency,
            urgency_words: words::urgency(card.urgency),
            status: card.status,
            status_words: words::status(card.status),
            wait: card.wait.filter(|_| card.status == WorkStatus::Waiting).map(|wait| wait.describe()),
            evidence: words::count_evidence(&card.evidence),
            outcome: card.outcome.map(|outcome| words::cut(&outcome, 200)),
            attempts: card.attempts,
            cost: (card.cost.0 != 0).then(|| card.cost.to_string()),
            age: words::age(card.created_at, now),
            created_at: card.created_at,
            updated_at: card.updated_at,
        }
    }

    /// The personas, and of people those whose cards are shown.
    fn list_owners(&self, columns: &[ColumnView], filter: &BoardFilter) -> Vec<Who> {
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
