//! Reports on the ledger: costs by day, persona, purpose or model.

use chrono::{DateTime, Utc};

use crate::db::{Database, Result, sql};
use crate::money::{CostGroup, CostLine, Money, TokenUsage};

#[derive(sqlx::FromRow)]
struct CostColumns {
    key: String,
    #[sqlx(try_from = "i64")]
    calls: u64,
    #[sqlx(try_from = "i64")]
    estimated: u64,
    #[sqlx(try_from = "i64")]
    input: u64,
    #[sqlx(try_from = "i64")]
    cached: u64,
    #[sqlx(try_from = "i64")]
    output: u64,
    cost: i64,
}

impl Database {
    /// The cost of a turn, a meeting or a step.
    pub async fn spent_on(&self, subject: &str) -> Result<(Money, TokenUsage)> {
        let (cost, input, cached, output): (i64, i64, i64, i64) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT CAST(COALESCE(SUM(cost), 0) AS BIGINT), CAST(COALESCE(SUM(input_tokens), 0) AS BIGINT),
                 CAST(COALESCE(SUM(cached_tokens), 0) AS BIGINT), CAST(COALESCE(SUM(output_tokens), 0) AS BIGINT)
             FROM ledger WHERE subject = $1",
            subject
        )?;
        let usage = TokenUsage { input: input.cast_unsigned(), cached: cached.cast_unsigned(), output: output.cast_unsigned() };
        Ok((Money(cost), usage))
    }

    /// The costs from `since` to `until` by group. Days are in order; other groups are sorted by cost.
    pub async fn costs(&self, since: DateTime<Utc>, until: DateTime<Utc>, group: CostGroup) -> Result<Vec<CostLine>> {
        let rows: Vec<CostColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT CASE $2 WHEN 'day' THEN day WHEN 'persona' THEN COALESCE(persona, 'none') WHEN 'purpose' THEN purpose
                 WHEN 'item' THEN subject ELSE model END AS key,
                 COUNT(*) AS calls,
                 SUM(CASE WHEN outcome IN ('estimated', 'cancelled', 'reserved') THEN 1 ELSE 0 END) AS estimated,
                 CAST(SUM(input_tokens) AS BIGINT) AS input, CAST(SUM(cached_tokens) AS BIGINT) AS cached,
                 CAST(SUM(output_tokens) AS BIGINT) AS output, CAST(SUM(cost) AS BIGINT) AS cost
             FROM ledger WHERE at >= $1 AND at <= $3 AND ($2 <> 'item' OR purpose = 'step') GROUP BY 1 ORDER BY 1",
            since,
            group.as_str(),
            until
        )?;
        let mut lines: Vec<CostLine> = rows
            .into_iter()
            .map(|row| CostLine {
                key: row.key,
                calls: row.calls,
                estimated: row.estimated,
                usage: TokenUsage { input: row.input, cached: row.cached, output: row.output },
                cost: Money(row.cost),
            })
            .collect();
        if group != CostGroup::Day {
            lines.sort_by_key(|line| std::cmp::Reverse(line.cost));
        }
        Ok(lines)
    }
}
