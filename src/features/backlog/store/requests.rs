//! What people were asked about items: open while the item waits for that person. Each open one has a job that reminds them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::features::backlog::model::{Evidence, Execution, Owner, PersonRequest, Wait, WorkItem, WorkStatus};
use crate::features::backlog::store::jobs::PERSON;
use crate::features::backlog::store::transitions::ItemRecord;
use crate::store::Store;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::chat::store::FileText;
use kernel::db::{Applied, Document, Result, Transaction, document, sql};
use kernel::ids::{UserId, WorkItemId};
use kernel::jobs::{self, NewJob};

/// The payload of the job that reminds a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RequestOf {
    pub(crate) item: WorkItemId,
    pub(crate) run: u32,
    pub(crate) person: UserId,
}

/// A person's answer as it is taken from a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PersonAnswer {
    pub(crate) item: WorkItemId,
    pub(crate) run: u32,
    pub(crate) person: UserId,
    /// The person's name.
    pub(crate) by: String,
    pub(crate) text: String,
    /// Files that came with it, and the platform's ids of them.
    pub(crate) files: Vec<Evidence>,
    pub(crate) attachments: Vec<String>,
}

#[derive(sqlx::FromRow)]
struct RequestColumns {
    item: String,
    #[sqlx(try_from = "i64")]
    run: u32,
    person: String,
    asked_at: DateTime<Utc>,
    #[sqlx(try_from = "i64")]
    reminders: u32,
    reminded_at: Option<DateTime<Utc>>,
}

impl From<RequestColumns> for PersonRequest {
    fn from(row: RequestColumns) -> Self {
        Self {
            item: row.item.into(),
            run: row.run,
            person: row.person.into(),
            asked_at: row.asked_at,
            reminders: row.reminders,
            reminded_at: row.reminded_at,
        }
    }
}

/// Opens the request of an item that now waits for a person, with its job, and closes earlier ones.
pub(super) async fn follow_wait(transaction: &mut Transaction, item: &WorkItem, from: WorkStatus, at: DateTime<Utc>) -> Result<()> {
    let awaited = if item.status == WorkStatus::Waiting { item.find_asked() } else { None };
    if from == WorkStatus::Waiting {
        sql!(
            transaction.on(),
            execute,
            "UPDATE item_requests SET closed_at = $3 WHERE item = $1 AND closed_at IS NULL AND person <> $2",
            item.id.as_str(),
            awaited.map_or("", UserId::as_str),
            at
        )?;
    }
    let Some(person) = awaited else { return Ok(()) };
    sql!(
        transaction.on(),
        execute,
        "INSERT INTO item_requests (item, run, person, asked_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (item, run, person) DO UPDATE SET closed_at = NULL",
        item.id.as_str(),
        i64::from(item.run),
        person.as_str(),
        at
    )?;
    let of = RequestOf { item: item.id.clone(), run: item.run, person: person.clone() };
    let key = format!("{PERSON}:{}:{}:{}", of.item, of.run, of.person);
    jobs::enqueue(transaction, &NewJob::new(PERSON, &of).unique(key), at).await?;
    Ok(())
}

/// Takes a person's message as the answer to an item that asks for it. The item's run continues with the answer.
pub(crate) async fn take_answer(transaction: &mut Transaction, answer: &PersonAnswer, at: DateTime<Utc>) -> Result<Applied> {
    let Some(mut record) = ItemRecord::find(transaction, &answer.item).await? else { return Ok(Applied::Refused("it is gone".into())) };
    if record.item.run != answer.run || !matches!(record.item.wait, Some(Wait::Answer { .. } | Wait::Help { .. })) {
        return Ok(Applied::Refused("it does not wait any more".into()));
    }
    // The helper answers instead of the personas that did not know.
    if let (Some(Wait::Help { .. }), Some(Execution::Ask { whom, .. })) = (&record.item.wait, &mut record.item.execution) {
        *whom = Owner::Person { id: answer.person.clone(), name: answer.by.clone() };
    }
    record.add_delivery(transaction).await?;
    record.add_evidence(&[Evidence::Answer { by: answer.by.clone(), text: answer.text.clone(), at }]);
    record.add_evidence(&answer.files);
    sql!(
        transaction.on(),
        execute,
        "UPDATE item_requests SET files = $4 WHERE item = $1 AND run = $2 AND person = $3",
        answer.item.as_str(),
        i64::from(answer.run),
        answer.person.as_str(),
        document(&answer.attachments)
    )?;
    record.resume(transaction, &format!("{} answered", answer.by), at).await?;
    Ok(Applied::Done)
}

/// Counts a reminder and puts its message into the outbox. False if the person is not awaited any more, or it was counted before.
pub(crate) async fn record_reminder(
    transaction: &mut Transaction,
    request: &PersonRequest,
    message: &OutboundMessage,
    at: DateTime<Utc>,
) -> Result<bool> {
    let counted = sql!(
        transaction.on(),
        execute,
        "UPDATE item_requests SET reminders = reminders + 1, reminded_at = $5
         WHERE item = $1 AND run = $2 AND person = $3 AND reminders = $4 AND closed_at IS NULL",
        request.item.as_str(),
        i64::from(request.run),
        request.person.as_str(),
        i64::from(request.reminders),
        at
    )?;
    if counted > 0 {
        insert_outbound(transaction, std::slice::from_ref(message), None, at).await?;
    }
    Ok(counted > 0)
}

impl Store {
    /// The request of a job, while the person is awaited.
    pub(crate) async fn find_open_request(&self, of: &RequestOf) -> Result<Option<PersonRequest>> {
        let row: Option<RequestColumns> = sql!(
            self.db().read(),
            fetch_optional,
            "SELECT item, run, person, asked_at, reminders, reminded_at FROM item_requests
             WHERE item = $1 AND run = $2 AND person = $3 AND closed_at IS NULL",
            of.item.as_str(),
            i64::from(of.run),
            of.person.as_str()
        )?;
        Ok(row.map(PersonRequest::from))
    }

    /// What waits for a person, oldest first.
    pub async fn list_requests_of(&self, person: &UserId) -> Result<Vec<PersonRequest>> {
        let rows: Vec<RequestColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT item, run, person, asked_at, reminders, reminded_at FROM item_requests
             WHERE person = $1 AND closed_at IS NULL ORDER BY asked_at, item",
            person.as_str()
        )?;
        Ok(rows.into_iter().map(PersonRequest::from).collect())
    }

    /// What waits for a person or for all people, oldest first, each with its item.
    pub async fn list_requests(&self, person: Option<&UserId>, limit: u32) -> Result<Vec<(PersonRequest, WorkItem)>> {
        let rows: Vec<RequestColumns> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT item, run, person, asked_at, reminders, reminded_at FROM item_requests
             WHERE person > '' AND ($1 = '' OR person = $1) AND closed_at IS NULL ORDER BY asked_at, item LIMIT $2",
            person.map_or("", UserId::as_str),
            i64::from(limit)
        )?;
        let mut requests = Vec::new();
        for request in rows.into_iter().map(PersonRequest::from) {
            if let Some(item) = self.find_item(&request.item).await? {
                requests.push((request, item));
            }
        }
        Ok(requests)
    }

    /// The files that people gave as answers in a run of an item.
    pub(crate) async fn list_given_files(&self, item: &WorkItem) -> Result<Vec<FileText>> {
        let rows: Vec<(String,)> = sql!(
            self.db().read(),
            fetch_all,
            "SELECT files FROM item_requests WHERE item = $1 AND run = $2 AND files IS NOT NULL",
            item.id.as_str(),
            i64::from(item.run)
        )?;
        let mut files = Vec::new();
        for (ids,) in rows {
            for id in Document::<Vec<String>>::read(ids)? {
                files.extend(self.find_file(&id).await?);
            }
        }
        Ok(files)
    }

    /// Whether anybody wrote in a channel after a time, before `until`.
    pub(crate) async fn has_messages_between(&self, channel: &str, after: DateTime<Utc>, until: DateTime<Utc>) -> Result<bool> {
        let (messages,): (i64,) = sql!(
            self.db().read(),
            fetch_one,
            "SELECT COUNT(*) FROM inbox WHERE channel = $1 AND sent_at > $2 AND sent_at < $3 AND speaker IS NOT NULL",
            channel,
            after,
            until
        )?;
        Ok(messages > 0)
    }
}
