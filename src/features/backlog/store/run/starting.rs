//! The start of a run, by the job that runs the item.

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Product, WorkItem, WorkStatus};
use crate::features::backlog::store::transitions::{ItemRecord, insert_event};
use crate::store::Store;
use kernel::db::Result;
use kernel::jobs::JobContext;

/// An item in progress, with the job of its run. No write for it is stored once the job is lost.
#[derive(Clone)]
pub struct Claimed {
    pub item: WorkItem,
    pub job: JobContext,
    /// The product of an interrupted run, which only needs to be verified.
    pub product: Option<Product>,
}

impl Store {
    /// Records the repository that the item of a job works in. False if the job is lost.
    pub async fn record_repository(&self, job: &JobContext, repository: &str, at: DateTime<Utc>) -> Result<bool> {
        let mut transaction = self.db().begin().await?;
        let Some(mut record) = ItemRecord::hold(&mut transaction, job).await? else { return Ok(false) };
        record.item.repository = Some(repository.to_owned());
        record.save(&mut transaction, at).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Marks the item of a job as in progress. A run whose process died counts as an attempt. None if the item no longer needs this job, or the job is
    /// lost.
    pub async fn start_run(&self, job: &JobContext, at: DateTime<Utc>) -> Result<Option<Claimed>> {
        let mut transaction = self.db().begin().await?;
        let Some(mut record) = ItemRecord::hold(&mut transaction, job).await? else { return Ok(None) };
        let of = job.job();
        let note = (record.item.run > 0).then(|| format!("try {}", record.item.run + 1));
        match record.item.status {
            WorkStatus::Ready => record.begin(&mut transaction, note.as_deref(), at).await?,
            WorkStatus::InProgress if of.suspicions > 0 => {
                record.item.attempts += 1;
                let died =
                    if of.crashes > 0 { format!("its worker died over it (crash {})", of.crashes) } else { "its worker died".into() };
                let taken_back = WorkItem { status: WorkStatus::Ready, ..record.item.clone() };
                insert_event(&mut transaction, &taken_back, Some(WorkStatus::InProgress), Some(&died), at).await?;
                insert_event(&mut transaction, &record.item, Some(WorkStatus::Ready), note.as_deref(), at).await?;
                record.save(&mut transaction, at).await?;
            }
            // Its run was put off and now continues.
            WorkStatus::InProgress => {}
            _ => return Ok(None),
        }
        transaction.commit().await?;
        Ok(Some(Claimed { item: record.item, job: job.clone(), product: record.product }))
    }
}
