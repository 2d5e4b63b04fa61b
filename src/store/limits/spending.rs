//! Reserving money before a model call and settling it after.
//!
//! A reservation counts at its worst case until it is settled; one that a crash left behind counts like that for good. Sums of each
//! day (UTC) are kept beside the ledger, in the same transactions, so that a reservation costs the same at the end of a day as at
//! its beginning. What one work item has cost is added up from the ledger itself: its calls are few, and an index leads to them.

use chrono::{DateTime, NaiveDate, Utc};

use crate::config::Budgets;
use crate::domain::ids::{PersonaSlug, WorkItemId};
use crate::domain::usage::{CallOutcome, Limit, Money, Purpose, Refused, Reservation, Settlement};
use crate::store::Store;
use crate::store::engine::{Transaction, count, plain, sql};
use crate::store::error::{Result, StoreError};

/// The key under which PostgreSQL lets one reservation pass at a time: "budgets" in ASCII.
const TURNSTILE: i64 = i64::from_be_bytes(*b"\0budgets");

/// A reservation that was accepted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reserved {
    /// Which part of the day's budget is used now, in dollars or tokens, whichever is more; 0 without a limit, 1 when used up.
    pub day_share: f64,
}

/// Why a reservation was not made.
#[derive(Debug, thiserror::Error)]
pub enum ReserveError {
    #[error(transparent)]
    Refused(#[from] Refused),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What a day has cost so far, reservations included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    pub cost: Money,
    pub tokens: u64,
    /// By how much people raised the day's budget.
    pub raised: Money,
}

#[derive(sqlx::FromRow)]
struct Sums {
    cost: i64,
    tokens: i64,
    persona_cost: i64,
    persona_tokens: i64,
    raised: i64,
}

/// What a work item has cost so far, and by how much its budget was raised.
#[derive(sqlx::FromRow)]
struct ItemSums {
    cost: i64,
    tokens: i64,
    raised: i64,
}

impl Store {
    /// Sets the worst case of a call aside.
    ///
    /// # Errors
    /// [`ReserveError::Refused`] when it would break a limit; a call that costs nothing never does.
    pub async fn reserve(&self, reservation: &Reservation, budgets: &Budgets) -> Result<Reserved, ReserveError> {
        let mut transaction = self.db().begin().await?;
        transaction.serialize(TURNSTILE).await?;
        let day = reservation.at.date_naive();
        let sums = find_sums(&mut transaction, day, reservation.persona.as_ref()).await?;
        let item = match reservation.purpose {
            Purpose::Step => Some(find_item_sums(&mut transaction, &reservation.subject).await?),
            _ => None,
        };
        let reserved = check(reservation, budgets, &sums, item.as_ref())?;
        insert_reservation(&mut transaction, reservation, day).await?;
        let tokens = count(reservation.tokens);
        add_spending(&mut transaction, &day.to_string(), reservation.persona.as_ref().map(PersonaSlug::as_str), reservation.cost.0, tokens)
            .await?;
        transaction.commit().await?;
        Ok(reserved)
    }

    /// Puts the real cost in the place of the reservation. False when it was settled already or never made.
    pub async fn settle(&self, settlement: &Settlement) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let usage = settlement.usage;
        let row: Option<(String, Option<String>, i64, i64)> = sql!(
            transaction.on(),
            fetch_optional,
            "UPDATE ledger SET input_tokens = $2, cached_tokens = $3, output_tokens = $4, cost = $5, latency_ms = $6, outcome = $7
             WHERE id = $1 AND outcome = 'reserved' RETURNING day, persona, reserved_cost, reserved_tokens",
            settlement.id.as_str(),
            count(usage.input),
            count(usage.cached),
            count(usage.output),
            settlement.cost.0,
            count(settlement.latency_ms),
            settlement.outcome.as_str()
        )?;
        let Some((day, persona, reserved_cost, reserved_tokens)) = row else { return Ok(false) };
        let cost = settlement.cost.0 - reserved_cost;
        add_spending(&mut transaction, &day, persona.as_deref(), cost, count(usage.total()) - reserved_tokens).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Raises a day's budget, in force at once and after a restart.
    pub async fn raise_budget(&self, day: NaiveDate, amount: Money, by: &str, at: DateTime<Utc>) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "INSERT INTO raises (day, amount, by, at) VALUES ($1, $2, $3, $4)",
            day.to_string(),
            amount.0,
            plain(by),
            at
        )?;
        Ok(())
    }

    /// Raises the budget of one work item, in dollars, for good.
    pub async fn raise_item(&self, item: &WorkItemId, amount: Money, by: &str, at: DateTime<Utc>) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "INSERT INTO item_raises (item, amount, by, at) VALUES ($1, $2, $3, $4)",
            item.as_str(),
            amount.0,
            plain(by),
            at
        )?;
        Ok(())
    }

    /// What the day of `now` (UTC) has cost so far.
    pub async fn spent_today(&self, now: DateTime<Utc>) -> Result<Spent> {
        let (cost, tokens, raised): (i64, i64, i64) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT), CAST(COALESCE(SUM(tokens), 0) AS BIGINT),
                 (SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM raises WHERE day = $1)
             FROM spending WHERE day = $1",
            now.date_naive().to_string()
        )?;
        Ok(Spent { cost: Money(cost), tokens: u64::try_from(tokens).unwrap_or_default(), raised: Money(raised) })
    }
}

async fn find_sums(transaction: &mut Transaction, day: NaiveDate, persona: Option<&PersonaSlug>) -> Result<Sums> {
    sql!(
        transaction.on(),
        fetch_one,
        "SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT) AS cost, CAST(COALESCE(SUM(tokens), 0) AS BIGINT) AS tokens,
             CAST(COALESCE(SUM(CASE WHEN persona = $2 THEN cost END), 0) AS BIGINT) AS persona_cost,
             CAST(COALESCE(SUM(CASE WHEN persona = $2 THEN tokens END), 0) AS BIGINT) AS persona_tokens,
             (SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM raises WHERE day = $1) AS raised
         FROM spending WHERE day = $1",
        day.to_string(),
        persona.map_or("", PersonaSlug::as_str)
    )
}

async fn find_item_sums(transaction: &mut Transaction, item: &str) -> Result<ItemSums> {
    sql!(
        transaction.on(),
        fetch_one,
        "SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT) AS cost, CAST(COALESCE(SUM(input_tokens + output_tokens), 0) AS BIGINT) AS tokens,
             (SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM item_raises WHERE item = $1) AS raised
         FROM ledger WHERE subject = $1",
        item
    )
}

/// Holds the call against each limit: the team's first, the item's last, so that nobody raises an item in vain.
fn check(reservation: &Reservation, budgets: &Budgets, sums: &Sums, item: Option<&ItemSums>) -> Result<Reserved, Refused> {
    let (cost, tokens) = (reservation.cost.0, count(reservation.tokens));
    let day = budgets.day.map(|limit| limit.0 + sums.raised);
    let day_tokens = budgets.day_tokens.map(count);
    let mut limits = vec![(Limit::Day, day, sums.cost, cost), (Limit::DayTokens, day_tokens, sums.tokens, tokens)];
    if let Some(persona) = &reservation.persona {
        limits.push((Limit::PersonaDay(persona.clone()), budgets.persona_day.map(|limit| limit.0), sums.persona_cost, cost));
        limits.push((Limit::PersonaDayTokens(persona.clone()), budgets.persona_day_tokens.map(count), sums.persona_tokens, tokens));
    }
    if let Some(item) = item {
        let id = WorkItemId::new(&*reservation.subject);
        limits.push((Limit::Item(id.clone()), budgets.item.map(|limit| limit.0 + item.raised), item.cost, cost));
        limits.push((Limit::ItemTokens(id), budgets.item_tokens.map(count), item.tokens, tokens));
    }
    for (limit, allowed, spent, more) in limits {
        if let Some(allowed) = allowed
            && more > 0
            && spent + more > allowed
        {
            return Err(Refused { limit, spent, allowed });
        }
    }
    let day_share = share(sums.cost + cost, day).max(share(sums.tokens + tokens, day_tokens));
    Ok(Reserved { day_share })
}

#[expect(clippy::cast_precision_loss, reason = "a share, for a notice")]
fn share(used: i64, allowed: Option<i64>) -> f64 {
    match allowed {
        Some(allowed) if allowed > 0 => used as f64 / allowed as f64,
        _ => 0.0,
    }
}

/// A reservation stands in the ledger at its worst case; its tokens all count as input, because nobody knows better yet.
async fn insert_reservation(transaction: &mut Transaction, reservation: &Reservation, day: NaiveDate) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO ledger (id, at, day, persona, purpose, subject, provider, model, tier, reserved_tokens, reserved_cost,
             input_tokens, cached_tokens, output_tokens, cost, outcome)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $10, 0, 0, $11, $12)",
        reservation.id.as_str(),
        reservation.at,
        day.to_string(),
        reservation.persona.as_ref().map(PersonaSlug::as_str),
        reservation.purpose.as_str(),
        reservation.subject.as_str(),
        reservation.provider.as_str(),
        reservation.model.as_str(),
        reservation.tier.as_str(),
        count(reservation.tokens),
        reservation.cost.0,
        CallOutcome::Reserved.as_str()
    )?;
    Ok(())
}

async fn add_spending(transaction: &mut Transaction, day: &str, persona: Option<&str>, cost: i64, tokens: i64) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO spending (day, persona, cost, tokens) VALUES ($1, $2, $3, $4)
         ON CONFLICT (day, persona) DO UPDATE SET cost = spending.cost + excluded.cost, tokens = spending.tokens + excluded.tokens",
        day,
        persona.unwrap_or_default(),
        cost,
        tokens
    )?;
    Ok(())
}
