//! Plans many new items with a few statements. One by one, ten thousand would take PostgreSQL many seconds of round trips.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Wait, WorkStatus};
use crate::features::backlog::store::jobs::job_of;
use crate::features::backlog::store::planning::Planned;
use crate::features::backlog::store::transitions::{ItemRecord, event_of};
use kernel::db::{Backend, Result, Transaction, Word, bounded, document};
use kernel::events;
use kernel::ids::{PersonaSlug, WorkItemId};
use kernel::jobs::{self, JobId};

/// What changes when a new item is planned. The columns in the statements have this order.
type Row<'a> = (&'a str, &'a str, Option<String>, Option<&'a str>, String, bool, Option<String>, Option<i64>);

const WRITE_IN_SQLITE: &str = "UPDATE work_items SET status = new.value ->> 1, execution = new.value ->> 2, persona = new.value ->> 3,
         criteria = new.value ->> 4, criteria_drafted = new.value ->> 5, wait = new.value ->> 6, job = new.value ->> 7, updated_at = $2
     FROM json_each($1) AS new WHERE work_items.id = new.value ->> 0";
const WRITE_IN_POSTGRES: &str = "UPDATE work_items SET status = new.status, execution = new.execution, persona = new.persona,
         criteria = new.criteria, criteria_drafted = new.criteria_drafted, wait = new.wait, job = new.job, updated_at = $9
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[], $8::bigint[])
         AS new (id, status, execution, persona, criteria, criteria_drafted, wait, job)
     WHERE work_items.id = new.id";

/// Plans the items that are new and only need a status. Returns the numbers of the others, which are planned one by one.
pub(super) async fn plan_new(transaction: &mut Transaction, plans: &[(WorkItemId, Planned<'_>)], at: DateTime<Utc>) -> Result<Vec<usize>> {
    let ids: Vec<&str> = plans.iter().map(|(item, _)| item.as_str()).collect();
    let records = ItemRecord::list(transaction, &ids).await?;
    let mut records: HashMap<WorkItemId, ItemRecord> = records.into_iter().map(|record| (record.item.id.clone(), record)).collect();
    let needing: Vec<&str> = records.values().filter(|record| !record.is_alone()).map(|record| record.item.id.as_str()).collect();
    let needs = list_needs(transaction, &needing).await?;
    let (mut planned, mut others) = (Vec::with_capacity(plans.len()), Vec::new());
    for (number, (id, plan)) in plans.iter().enumerate() {
        // An item that is named twice is planned once here.
        let Some(record) = records.remove(id) else {
            others.push(number);
            continue;
        };
        match next_of(&record, plan, needs.get(id).map(Vec::as_slice).unwrap_or_default()) {
            Some(next) => planned.push((apply(record, plan, next), plan.note)),
            None => others.push(number),
        }
    }
    let (mut new_jobs, mut of) = (Vec::new(), Vec::new());
    for (number, (record, _)) in planned.iter().enumerate() {
        if let Some(job) = job_of(&record.item, &record.rank) {
            new_jobs.push(job);
            of.push(number);
        }
    }
    for (number, job) in of.into_iter().zip(jobs::enqueue_all(transaction, &new_jobs, at).await?) {
        planned[number].0.job = Some(job);
    }
    write(transaction, &planned.iter().map(|(record, _)| record).collect::<Vec<_>>(), at).await?;
    let events: Vec<_> = planned.iter().map(|(record, note)| event_of(&record.item, Some(WorkStatus::New), *note, at)).collect();
    events::record_all(transaction, &events).await?;
    Ok(others)
}

/// The statuses of what items need, by item.
async fn list_needs(transaction: &mut Transaction, items: &[&str]) -> Result<HashMap<WorkItemId, Vec<WorkStatus>>> {
    const SQLITE: &str = "SELECT item, status FROM work_dependencies JOIN work_items ON work_items.id = needs
         WHERE item IN (SELECT value FROM json_each($1))";
    const POSTGRES: &str = "SELECT item, status FROM work_dependencies JOIN work_items ON work_items.id = needs WHERE item = ANY($1)";
    let rows: Vec<(String, String)> = match transaction.on() {
        Backend::Sqlite(connection) => sqlx::query_as(SQLITE).bind(document(&items)).fetch_all(connection).await?,
        Backend::Postgres(connection) => bounded(sqlx::query_as(POSTGRES).bind(items).fetch_all(connection)).await?,
    };
    let mut needs: HashMap<WorkItemId, Vec<WorkStatus>> = HashMap::new();
    for (item, status) in rows {
        needs.entry(item.into()).or_default().push(Word::read(status)?);
    }
    Ok(needs)
}

/// The status of a new item without parts, if nothing else follows from its plan.
fn next_of(record: &ItemRecord, plan: &Planned<'_>, needs: &[WorkStatus]) -> Option<WorkStatus> {
    if record.item.status != WorkStatus::New
        || record.job.is_some()
        || record.item.not_before.or(plan.not_before).is_some()
        || record.has_parts
        || record.was_planned_before()
    {
        return None;
    }
    match (plan.status, &plan.wait) {
        // Other waits open a request, so these items are planned one by one.
        (WorkStatus::Waiting, Some(Wait::Kind { .. } | Wait::Model | Wait::Decision { .. })) => Some(WorkStatus::Waiting),
        // An item whose need was lost fails, so it is planned on its own.
        (WorkStatus::Ready | WorkStatus::Blocked, _) if needs.iter().any(|need| need.is_over() && *need != WorkStatus::Done) => None,
        (WorkStatus::Ready | WorkStatus::Blocked, _) if needs.iter().any(|need| !need.is_over()) => Some(WorkStatus::Blocked),
        (WorkStatus::Ready | WorkStatus::Blocked, _) => Some(WorkStatus::Ready),
        _ => None,
    }
}

/// The item as the planner decided.
fn apply(mut record: ItemRecord, plan: &Planned<'_>, next: WorkStatus) -> ItemRecord {
    plan.fill(&mut record);
    record.item.status = next;
    record.item.wait = plan.wait.clone().filter(|_| next == WorkStatus::Waiting);
    record
}

async fn write(transaction: &mut Transaction, records: &[&ItemRecord], at: DateTime<Utc>) -> Result<()> {
    let rows: Vec<Row<'_>> = records.iter().map(|record| row(record)).collect();
    match transaction.on() {
        Backend::Sqlite(connection) => {
            sqlx::query(WRITE_IN_SQLITE).bind(document(&rows)).bind(at).execute(connection).await?;
        }
        Backend::Postgres(connection) => {
            let statement = sqlx::query(WRITE_IN_POSTGRES)
                .bind(rows.iter().map(|row| row.0).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.1).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.2.as_deref()).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.3).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.4.as_str()).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.5).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.6.as_deref()).collect::<Vec<_>>())
                .bind(rows.iter().map(|row| row.7).collect::<Vec<_>>());
            bounded(statement.bind(at).execute(connection)).await?;
        }
    }
    Ok(())
}

fn row(record: &ItemRecord) -> Row<'_> {
    let item = &record.item;
    (
        item.id.as_str(),
        item.status.as_str(),
        item.execution.as_ref().map(document),
        item.persona.as_ref().map(PersonaSlug::as_str),
        document(&item.criteria),
        record.has_drafted_criteria,
        item.wait.as_ref().map(document),
        record.job.map(|JobId(job)| job),
    )
}
