use chrono::{DateTime, Utc};

use crate::features::relationships::model::{Cause, Move, Relationship, Relationships, pair_of};
use crate::store::Store;
use kernel::db::{Result, StoreError, Transaction, plain, sql};
use kernel::ids::PersonaSlug;
use kernel::persona::roster::Roster;
use kernel::text::one_line;

/// The most characters of what a cause was about.
const ABOUT: usize = 120;

#[derive(sqlx::FromRow)]
struct RelationshipColumns {
    one: String,
    other: String,
    trust: f64,
    tension: f64,
    #[sqlx(try_from = "i64")]
    agreed: u32,
    #[sqlx(try_from = "i64")]
    disagreed: u32,
    cause: String,
    moved_by: String,
    about: Option<String>,
    moved_at: DateTime<Utc>,
}

impl RelationshipColumns {
    fn read(self) -> Result<Relationship> {
        let cause = Cause::parse(&self.cause).ok_or_else(|| {
            StoreError::Corrupt(format!("the relationship of {} and {} was moved by {}", self.one, self.other, self.cause))
        })?;
        let pair = (PersonaSlug::new(self.one), PersonaSlug::new(self.other));
        let by = PersonaSlug::new(self.moved_by);
        let with = if by == pair.0 { pair.1.clone() } else { pair.0.clone() };
        Ok(Relationship {
            pair,
            trust: self.trust,
            tension: self.tension,
            agreed: self.agreed,
            disagreed: self.disagreed,
            last: Move { cause, by, with, about: self.about },
            moved_at: self.moved_at,
        })
    }
}

impl Store {
    /// All relationships: at most one row for each pair.
    pub async fn list_relationships(&self, now: DateTime<Utc>) -> Result<Relationships> {
        let rows: Vec<RelationshipColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT one, other, trust, tension, agreed, disagreed, cause, moved_by, about, moved_at FROM relationships ORDER BY one, other"
        )?;
        Ok(Relationships { all: rows.into_iter().map(RelationshipColumns::read).collect::<Result<_>>()?, now })
    }

    /// Removes the relationships of personas that have left the team.
    pub(super) async fn forget_departed(&self, roster: &Roster, now: DateTime<Utc>) -> Result<()> {
        let Relationships { all, .. } = self.list_relationships(now).await?;
        let departed = all.into_iter().filter(|known| [&known.pair.0, &known.pair.1].iter().any(|slug| roster.find(slug).is_none()));
        for Relationship { pair: (one, other), .. } in departed {
            sql!(self.db().write()?, execute, "DELETE FROM relationships WHERE one = $1 AND other = $2", one.as_str(), other.as_str())?;
        }
        Ok(())
    }
}

/// Moves relationships, inside the transaction of their cause. No persona has a relationship with itself.
pub async fn move_relationships(transaction: &mut Transaction, moves: Vec<Move>, at: DateTime<Utc>) -> Result<()> {
    let mut moves: Vec<Move> = moves.into_iter().filter(|cause| cause.by != cause.with).collect();
    // Always in the same order, so that two transactions do not wait for each other.
    moves.sort_by(|one, other| pair_of(&one.by, &one.with).cmp(&pair_of(&other.by, &other.with)));
    for cause in moves {
        let (one, other) = pair_of(&cause.by, &cause.with);
        // Locks the row of the pair.
        let row: RelationshipColumns = sql!(
            transaction.on(),
            fetch_one,
            "INSERT INTO relationships (one, other, trust, tension, agreed, disagreed, cause, moved_by, moved_at) VALUES ($1, $2, 0, 0, 0, 0, $3, $4, $5)
             ON CONFLICT (one, other) DO UPDATE SET cause = excluded.cause
             RETURNING one, other, trust, tension, agreed, disagreed, cause, moved_by, about, moved_at",
            one.as_str(),
            other.as_str(),
            cause.cause.as_str(),
            cause.by.as_str(),
            at
        )?;
        let now = row.read()?.moved(cause, at);
        sql!(
            transaction.on(),
            execute,
            "UPDATE relationships SET trust = $3, tension = $4, agreed = $5, disagreed = $6, cause = $7, moved_by = $8, about = $9, moved_at = $10
             WHERE one = $1 AND other = $2",
            now.pair.0.as_str(),
            now.pair.1.as_str(),
            now.trust,
            now.tension,
            i64::from(now.agreed),
            i64::from(now.disagreed),
            now.last.cause.as_str(),
            now.last.by.as_str(),
            now.last.about.as_deref().map(|about| plain(&one_line(about, ABOUT)).into_owned()),
            now.moved_at
        )?;
    }
    Ok(())
}
