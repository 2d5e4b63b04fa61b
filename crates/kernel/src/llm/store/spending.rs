//! Reserves money before a model call and settles it after.
//!
//! A reservation counts with its worst case until it is settled; one left by a crash keeps counting. Daily sums (UTC) are stored in the
//! same transactions, so that a reservation takes constant time. What a work item and a mission have cost is summed from the ledger, because they
//! have few calls.

use std::collections::HashMap;
use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};

use crate::db::{Database, Result, StoreError, Transaction, count, plain, sql};
use crate::ids::{PersonaSlug, WorkItemId};
use crate::llm::budget::Budgets;
use crate::money::{Allowance, CallOutcome, Limit, Money, Purpose, Refused, Reservation, Settlement};

/// The PostgreSQL lock that serialises reservations: "budgets" in ASCII.
const RESERVATION_LOCK: i64 = i64::from_be_bytes(*b"\0budgets");

/// The share of the day's budget at which people are warned.
pub(in crate::llm) const NOTICE_AT: f64 = 0.8;

/// An accepted reservation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reserved {
    /// The used share of the day's budget in dollars or tokens, whichever is higher. 0 without a limit, 1 when used up.
    pub day_share: f64,
}

/// Why a reservation failed.
#[derive(Debug, thiserror::Error)]
pub enum ReserveError {
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The allowance of so many calls is used up.
    #[error("{0} model calls are used up")]
    CallsUsedUp(u32),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The cost of a day, including reservations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    pub cost: Money,
    pub tokens: u64,
    /// How much people raised the day's budget.
    pub raised: Money,
}

#[derive(sqlx::FromRow)]
struct Sums {
    cost: i64,
    tokens: i64,
    persona_cost: i64,
    persona_tokens: i64,
}

/// The cost of an item and of its mission.
struct WorkSums {
    item: (i64, i64),
    /// The mission that the item belongs to, with what it has cost.
    mission: Option<(WorkItemId, i64, i64)>,
}

/// How much people raised the limits of a call, by name.
type Raises = HashMap<String, i64>;

/// The calls of a chain. One that failed before it cost anything is not counted.
macro_rules! count_calls {
    ($on:expr, $chain:expr) => {
        sql!(
            $on,
            fetch_one,
            "SELECT COUNT(*) FROM ledger WHERE chain = $1 AND NOT (outcome = 'failed' AND input_tokens + output_tokens = 0)",
            $chain.as_str()
        )
        .map(|(count,): (i64,)| u32::try_from(count).unwrap_or(u32::MAX))
    };
}

impl Database {
    /// Reserves the worst-case cost of a call.
    ///
    /// # Errors
    /// [`ReserveError::Refused`] if it would exceed a limit of money or tokens, [`ReserveError::CallsUsedUp`] if it would exceed its allowance.
    /// Calls that cost nothing exceed no limit of money.
    pub async fn reserve(&self, reservation: &Reservation, budgets: &Budgets) -> Result<Reserved, ReserveError> {
        let mut transaction = self.db().begin().await?;
        transaction.serialize(RESERVATION_LOCK).await?;
        let day = reservation.at.date_naive();
        let sums = find_sums(&mut transaction, day, reservation.persona.as_ref()).await?;
        let work = match reservation.purpose {
            Purpose::Step => Some(find_work_sums(&mut transaction, &reservation.subject).await?),
            _ => None,
        };
        let reserved = match check(reservation, budgets, &sums, work.as_ref(), &Raises::new()) {
            Ok(reserved) if reserved.day_share < NOTICE_AT => reserved,
            // Few calls come this far, so most need no look at the raises.
            _ => {
                let mission = work.as_ref().and_then(|work| work.mission.as_ref()).map(|(mission, ..)| mission);
                let raises = find_raises(&mut transaction, reservation, mission, day).await?;
                check(reservation, budgets, &sums, work.as_ref(), &raises)?
            }
        };
        if let Some(allowance) = &reservation.allowance
            && count_calls!(transaction.on(), &allowance.chain)? >= allowance.calls
        {
            return Err(ReserveError::CallsUsedUp(allowance.calls));
        }
        insert_reservation(&mut transaction, reservation, day).await?;
        let tokens = count(reservation.tokens);
        add_spending(&mut transaction, &day.to_string(), reservation.persona.as_ref().map(PersonaSlug::as_str), reservation.cost.0, tokens)
            .await?;
        transaction.commit().await?;
        Ok(reserved)
    }

    /// How many calls an allowance still has.
    pub async fn count_calls_left(&self, allowance: &Allowance) -> Result<u32> {
        Ok(allowance.calls.saturating_sub(count_calls!(self.db().read(), &allowance.chain)?))
    }

    /// Replaces a reservation with the real cost. False if it was settled already or does not exist.
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

    /// Raises a limit by an amount in its own unit. Takes effect at once and survives a restart. A daily limit is raised for the day of
    /// `at` (UTC), the limit of a work item for good.
    pub async fn raise_limit(&self, limit: &Limit, amount: i64, by: &str, at: DateTime<Utc>) -> Result<()> {
        sql!(
            self.db().write()?,
            execute,
            "INSERT INTO limit_raises (name, whose, day, amount, by, at) VALUES ($1, $2, $3, $4, $5, $6)",
            limit.as_str(),
            limit.whose(),
            day_of(limit, at),
            amount,
            plain(by),
            at
        )?;
        Ok(())
    }

    /// Raises a limit that was raised by `raised` until now. False, without any write, if it was raised since, so that only one of two clicks counts.
    pub async fn raise_limit_once(&self, limit: &Limit, raised: i64, amount: i64, by: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        transaction.serialize(RESERVATION_LOCK).await?;
        let stored = sql!(
            transaction.on(),
            execute,
            "INSERT INTO limit_raises (name, whose, day, amount, by, at) SELECT $1, $2, $3, $4, $5, $6
             WHERE $7 = (SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM limit_raises WHERE name = $1 AND whose = $2 AND day = $3)",
            limit.as_str(),
            limit.whose(),
            day_of(limit, at),
            amount,
            plain(by),
            at,
            raised
        )?;
        transaction.commit().await?;
        Ok(stored > 0)
    }

    /// What a limit allows at present: its setting plus the amount by which people raised it. None: no limit.
    pub async fn find_allowed(&self, limit: &Limit, budgets: &Budgets, at: DateTime<Utc>) -> Result<Option<i64>> {
        let Some(budget) = budgets.find(limit) else { return Ok(None) };
        Ok(Some(budget.saturating_add(self.find_raise(limit, at).await?)))
    }

    /// How much people raised a limit. For a daily limit: on the day of `at` (UTC).
    pub async fn find_raise(&self, limit: &Limit, at: DateTime<Utc>) -> Result<i64> {
        let (raised,): (i64,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM limit_raises WHERE name = $1 AND whose = $2 AND day = $3",
            limit.as_str(),
            limit.whose(),
            day_of(limit, at)
        )?;
        Ok(raised)
    }

    /// Notes that a daily limit stopped a call. True for the first one of the day (UTC).
    pub async fn note_used_up(&self, limit: &Limit, now: DateTime<Utc>) -> Result<bool> {
        let key = format!("{}{}:{}", used_up_prefix(now), limit.as_str(), limit.whose());
        self.claim_notice(&key, now, Duration::from_hours(24)).await
    }

    /// The daily limits that have stopped calls today (UTC), also those that were raised since.
    pub async fn list_used_up(&self, now: DateTime<Utc>) -> Result<Vec<Limit>> {
        let prefix = used_up_prefix(now);
        let rows: Vec<(String,)> =
            sql!(self.db().read(), fetch_all, "SELECT key FROM notices WHERE key LIKE $1 ORDER BY key", format!("{prefix}%"))?;
        let parse =
            |(key,): &(String,)| key.strip_prefix(&prefix)?.split_once(':').and_then(|(setting, whose)| Limit::daily(setting, whose));
        Ok(rows.iter().filter_map(parse).collect())
    }

    /// The cost of the day of `now` (UTC) so far.
    pub async fn spent_today(&self, now: DateTime<Utc>) -> Result<Spent> {
        let (cost, tokens): (i64, i64) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT), CAST(COALESCE(SUM(tokens), 0) AS BIGINT) FROM spending WHERE day = $1",
            now.date_naive().to_string()
        )?;
        let raised = Money(self.find_raise(&Limit::Day, now).await?);
        Ok(Spent { cost: Money(cost), tokens: u64::try_from(tokens).unwrap_or_default(), raised })
    }
}

fn used_up_prefix(now: DateTime<Utc>) -> String {
    format!("used-up:{}:", now.date_naive())
}

/// The day that a raise applies to. Empty for limits that are not daily.
fn day_of(limit: &Limit, at: DateTime<Utc>) -> String {
    if limit.ends_with_the_day() { at.date_naive().to_string() } else { String::new() }
}

async fn find_sums(transaction: &mut Transaction, day: NaiveDate, persona: Option<&PersonaSlug>) -> Result<Sums> {
    sql!(
        transaction.on(),
        fetch_one,
        "SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT) AS cost, CAST(COALESCE(SUM(tokens), 0) AS BIGINT) AS tokens,
             CAST(COALESCE(SUM(CASE WHEN persona = $2 THEN cost END), 0) AS BIGINT) AS persona_cost,
             CAST(COALESCE(SUM(CASE WHEN persona = $2 THEN tokens END), 0) AS BIGINT) AS persona_tokens
         FROM spending WHERE day = $1",
        day.to_string(),
        persona.map_or("", PersonaSlug::as_str)
    )
}

async fn find_work_sums(transaction: &mut Transaction, item: &str) -> Result<WorkSums> {
    let of_item: (i64, i64) = sql!(
        transaction.on(),
        fetch_one,
        "SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT), CAST(COALESCE(SUM(input_tokens + output_tokens), 0) AS BIGINT)
         FROM ledger WHERE subject = $1",
        item
    )?;
    let of_mission: Option<(String, i64, i64)> = sql!(
        transaction.on(),
        fetch_optional,
        "SELECT mine.whole, CAST(COALESCE(SUM(cost), 0) AS BIGINT), CAST(COALESCE(SUM(input_tokens + output_tokens), 0) AS BIGINT)
         FROM budget_groups AS mine JOIN budget_groups AS all_of ON all_of.whole = mine.whole
             LEFT JOIN ledger ON ledger.subject = all_of.subject
         WHERE mine.subject = $1 GROUP BY mine.whole",
        item
    )?;
    Ok(WorkSums { item: of_item, mission: of_mission.map(|(whole, cost, tokens)| (whole.into(), cost, tokens)) })
}

/// Makes the calls about a subject count towards the budget of a mission.
pub async fn join_budget(transaction: &mut Transaction, subject: &WorkItemId, mission: &WorkItemId) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO budget_groups (subject, whole) VALUES ($1, $2) ON CONFLICT (subject) DO NOTHING",
        subject.as_str(),
        mission.as_str()
    )?;
    Ok(())
}

/// Makes the calls about a subject count towards the same mission as the calls about another subject, if there is one.
pub async fn share_budget(transaction: &mut Transaction, subject: &WorkItemId, with: &WorkItemId) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO budget_groups (subject, whole) SELECT $1, whole FROM budget_groups WHERE subject = $2 ON CONFLICT (subject) DO NOTHING",
        subject.as_str(),
        with.as_str()
    )?;
    Ok(())
}

async fn find_raises(
    transaction: &mut Transaction,
    reservation: &Reservation,
    mission: Option<&WorkItemId>,
    day: NaiveDate,
) -> Result<Raises> {
    let raises: Vec<(String, i64)> = sql!(
        transaction.on(),
        fetch_all,
        "SELECT name, CAST(SUM(amount) AS BIGINT) FROM limit_raises WHERE whose IN ('', $1, $2, $3) AND day IN ('', $4) GROUP BY name",
        reservation.persona.as_ref().map_or("", PersonaSlug::as_str),
        reservation.subject.as_str(),
        mission.map_or("", WorkItemId::as_str),
        day.to_string()
    )?;
    Ok(raises.into_iter().collect())
}

/// Checks the call against each limit, the widest first: raising another one is useless while it refuses.
fn check(reservation: &Reservation, budgets: &Budgets, sums: &Sums, work: Option<&WorkSums>, raises: &Raises) -> Result<Reserved, Refused> {
    let (cost, tokens) = (reservation.cost.0, count(reservation.tokens));
    let mut limits = vec![(Limit::Day, sums.cost, cost), (Limit::DayTokens, sums.tokens, tokens)];
    if let Some(persona) = &reservation.persona {
        limits.push((Limit::PersonaDay(persona.clone()), sums.persona_cost, cost));
        limits.push((Limit::PersonaDayTokens(persona.clone()), sums.persona_tokens, tokens));
    }
    if let Some(work) = work {
        if let Some((mission, spent, spent_tokens)) = &work.mission {
            limits.push((Limit::Mission(mission.clone()), *spent, cost));
            limits.push((Limit::MissionTokens(mission.clone()), *spent_tokens, tokens));
        }
        let id = WorkItemId::new(&*reservation.subject);
        limits.push((Limit::Item(id.clone()), work.item.0, cost));
        limits.push((Limit::ItemTokens(id), work.item.1, tokens));
    }
    let mut day_share = 0.0_f64;
    for (limit, spent, more) in limits {
        let Some(budget) = budgets.find(&limit) else { continue };
        let allowed = budget.saturating_add(raises.get(limit.as_str()).copied().unwrap_or_default());
        if more > 0 && spent + more > allowed {
            return Err(Refused { limit, spent, allowed });
        }
        if matches!(limit, Limit::Day | Limit::DayTokens) {
            day_share = day_share.max(share(spent + more, allowed));
        }
    }
    Ok(Reserved { day_share })
}

#[expect(clippy::cast_precision_loss, reason = "a share, for a notice")]
fn share(used: i64, allowed: i64) -> f64 {
    if allowed > 0 { used as f64 / allowed as f64 } else { 0.0 }
}

/// Inserts a reservation with its worst case. All tokens count as input, because the split is not known yet.
async fn insert_reservation(transaction: &mut Transaction, reservation: &Reservation, day: NaiveDate) -> Result<()> {
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO ledger (id, at, day, persona, purpose, subject, provider, model, tier, reserved_tokens, reserved_cost,
             input_tokens, cached_tokens, output_tokens, cost, outcome, chain)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $10, 0, 0, $11, $12, $13)",
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
        CallOutcome::Reserved.as_str(),
        reservation.allowance.as_ref().map(|allowance| allowance.chain.as_str())
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
