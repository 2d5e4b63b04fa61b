//! The rows of insights.

use chrono::{DateTime, Utc};
use std::time::Duration;

use crate::features::overwatch::jobs::{KIND, MeetingAsked};
use crate::features::overwatch::model::{Insight, InsightKind, LookBack, Subject};
use crate::features::relationships::{Cause, Move, move_relationships};
use crate::store::Store;
use kernel::db::{Readable, Result, Transaction, plain, sql};
use kernel::ids::{PersonaSlug, UserId, WorkItemId};
use kernel::jobs::{self, NewJob, RetentionRule};
use kernel::memory::Scope;
use kernel::people::Erasure;

/// The most recent insights that are searched for those of one run. Older runs may therefore be looked back at again.
const SEARCHED: u32 = 1000;

#[derive(sqlx::FromRow)]
struct InsightColumns {
    id: String,
    subject: String,
    title: String,
    persona: String,
    whom: Option<String>,
    kind: String,
    text: String,
    actionable: bool,
    task: Option<String>,
    supported: bool,
    private_to: Option<String>,
    item: Option<String>,
    created_at: DateTime<Utc>,
}

impl From<InsightColumns> for Insight {
    fn from(row: InsightColumns) -> Self {
        Self {
            id: row.id,
            subject: row.subject.into(),
            title: row.title,
            by: row.persona.into(),
            to: row.whom.map(PersonaSlug::new),
            kind: InsightKind::parse(&row.kind).unwrap_or(InsightKind::None),
            text: row.text,
            actionable: row.actionable,
            task: row.task,
            supported: row.supported,
            private_to: row.private_to.map(Into::into),
            item: row.item.map(WorkItemId::new),
            at: row.created_at,
        }
    }
}

/// Enqueues the look back at a run, in the transaction that ends it.
pub async fn look_back(transaction: &mut Transaction, run: &LookBack, at: DateTime<Utc>) -> Result<()> {
    jobs::enqueue(transaction, &NewJob::new(KIND, run).unique(format!("{KIND}:{}", run.key())), at).await?;
    Ok(())
}

/// Enqueues the look back at a meeting. A second request before the job is over enqueues nothing.
pub(super) async fn look_back_at_meeting(transaction: &mut Transaction, asked: &MeetingAsked, at: DateTime<Utc>) -> Result<()> {
    jobs::enqueue(transaction, &NewJob::new(KIND, asked).unique(format!("{KIND}:{}", asked.meeting)), at).await?;
    Ok(())
}

impl Store {
    /// The last insights, the newest first.
    pub async fn list_insights(&self, limit: u32) -> Result<Vec<Insight>> {
        let rows: Vec<Readable<InsightColumns>> =
            sql!(self.db().read(), fetch_all, "SELECT * FROM insights ORDER BY created_at DESC, id LIMIT $1", i64::from(limit))?;
        Ok(self.db().keep_readable("insights", rows).into_iter().map(Insight::from).collect())
    }

    /// The insights about one run.
    pub(super) async fn list_insights_of(&self, subject: &Subject) -> Result<Vec<Insight>> {
        let all = self.list_insights(SEARCHED).await?;
        Ok(all.into_iter().filter(|insight| insight.subject == *subject).collect())
    }

    pub(super) async fn find_insight(&self, id: &str) -> Result<Option<Insight>> {
        let row: Option<InsightColumns> = sql!(self.db().read(), fetch_optional, "SELECT * FROM insights WHERE id = $1", id)?;
        Ok(row.map(Insight::from))
    }

    /// The insights for later plans: supported, actionable and allowed in this place, the newest first (OVER-6).
    pub async fn list_insights_for_plans(&self, scope: &Scope, limit: usize) -> Result<Vec<Insight>> {
        let [place, parent] = scope.heard();
        let rows: Vec<Readable<InsightColumns>> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT * FROM insights WHERE supported AND actionable AND kind <> 'none' AND (private_to IS NULL OR private_to IN ($1, $2))
             ORDER BY created_at DESC, id LIMIT $3",
            place,
            parent,
            i64::try_from(limit).unwrap_or(i64::MAX)
        )?;
        Ok(self.db().keep_readable("insights", rows).into_iter().map(Insight::from).collect())
    }

    /// Stores a person's rating. A later rating replaces it. Only the first one changes the relationship between the author and the addressee of the
    /// insight.
    pub(super) async fn rate_insight(&self, insight: &Insight, account: &UserId, useful: bool, at: DateTime<Utc>) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        let is_first = sql!(
            transaction.on(),
            execute,
            "INSERT INTO insight_ratings (insight, account, useful, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT (insight, account) DO NOTHING",
            insight.id.as_str(),
            account.as_str(),
            useful,
            at
        )?;
        if is_first == 0 {
            sql!(
                transaction.on(),
                execute,
                "UPDATE insight_ratings SET useful = $3, created_at = $4 WHERE insight = $1 AND account = $2",
                insight.id.as_str(),
                account.as_str(),
                useful,
                at
            )?;
        } else if let Some(to) = &insight.to {
            let cause = if useful { Cause::Useful } else { Cause::NotUseful };
            let about = insight.private_to.is_none().then(|| insight.title.clone());
            let cause = Move { cause, by: insight.by.clone(), with: to.clone(), about };
            move_relationships(&mut transaction, vec![cause], at).await?;
        }
        transaction.commit().await
    }

    /// The number of ratings since `since`, and the number of useful ones among them.
    pub(super) async fn count_insight_ratings(&self, since: DateTime<Utc>) -> Result<(u64, u64)> {
        let (all, useful): (i64, i64) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT COUNT(*), COUNT(CASE WHEN useful THEN 1 END) FROM insight_ratings WHERE created_at >= $1",
            since
        )?;
        Ok((all.unsigned_abs(), useful.unsigned_abs()))
    }

    /// Removes a person's ratings, and the insights about missions of private conversations with this person.
    pub(super) async fn forget_insights_of(&self, erasure: &Erasure) -> Result<()> {
        let mut transaction = self.db().begin().await?;
        sql!(
            transaction.on(),
            execute,
            "DELETE FROM insight_ratings WHERE account = $1 /* reads all: a person is forgotten */",
            erasure.person.as_str()
        )?;
        for place in &erasure.private {
            sql!(
                transaction.on(),
                execute,
                "DELETE FROM insights WHERE private_to = $1 /* reads all: a person is forgotten */",
                place.as_str()
            )?;
        }
        transaction.commit().await
    }
}

pub(super) async fn insert_insights(transaction: &mut Transaction, insights: &[Insight]) -> Result<()> {
    for insight in insights {
        sql!(
            transaction.on(),
            execute,
            "INSERT INTO insights (id, subject, title, persona, whom, kind, text, actionable, task, supported, private_to, item, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, NULL, $12) ON CONFLICT (id) DO NOTHING",
            insight.id.as_str(),
            insight.subject.to_string(),
            plain(&insight.title),
            insight.by.as_str(),
            insight.to.as_ref().map(PersonaSlug::as_str),
            insight.kind.as_str(),
            plain(&insight.text),
            insight.actionable,
            insight.task.as_deref().map(plain),
            insight.supported,
            insight.private_to.as_ref().map(kernel::ids::ChannelId::as_str),
            insight.at
        )?;
    }
    Ok(())
}

/// Notes the item that was made of an insight. False if there is one already.
pub(super) async fn note_item(transaction: &mut Transaction, insight: &str, item: &WorkItemId) -> Result<bool> {
    let noted = sql!(transaction.on(), execute, "UPDATE insights SET item = $2 WHERE id = $1 AND item IS NULL", insight, item.as_str())?;
    Ok(noted > 0)
}

pub(super) fn retention(kept: Duration) -> RetentionRule {
    RetentionRule::new("insights", &["insights", "insight_ratings"], kept, |database, before, limit| {
        Box::pin(async move {
            let mut transaction = database.db().begin().await?;
            let gone: Vec<(String,)> = sql!(
                transaction.on(),
                fetch_all,
                "DELETE FROM insights WHERE id IN (SELECT id FROM insights WHERE created_at < $1 ORDER BY created_at LIMIT $2) RETURNING id",
                before,
                i64::from(limit)
            )?;
            for (insight,) in &gone {
                sql!(transaction.on(), execute, "DELETE FROM insight_ratings WHERE insight = $1", insight.as_str())?;
            }
            transaction.commit().await?;
            Ok(gone.len() as u64)
        })
    })
}
