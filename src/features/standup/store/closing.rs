//! The end of a standup: all its results, stored together.

use chrono::{DateTime, Utc};

use crate::features::backlog::model::WorkItem;
use crate::features::backlog::store::insert_items;
use crate::features::meeting::model::Meeting;
use crate::features::meeting::store::{MeetingRun, cause};
use crate::features::standup::model::prediction::Prediction;
use crate::features::standup::model::report::DayReport;
use crate::features::standup::store::predictions::replace_prediction;
use crate::features::standup::store::reports::upsert_report;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::Result;
use kernel::ids::OutboxId;
use kernel::jobs::JobError;
use kernel::memory::Memory;
use kernel::memory::store::save_memory;

/// A finished standup with all its results.
#[derive(Clone, Copy)]
pub struct StandupClosing<'a> {
    pub run: &'a MeetingRun,
    /// From [`MeetingRun::begin_closing`]. If the closing is begun again, this one becomes void.
    pub meeting: &'a Meeting,
    pub report: &'a DayReport,
    /// The outbox row of the report, kept from the first revision of the day.
    pub post: &'a OutboxId,
    pub items: &'a [WorkItem],
    /// Replaces an open prediction on the same question for the same day or the same expiry.
    pub prediction: Option<&'a Prediction>,
    pub memories: &'a [Memory],
    /// The posts, in this order.
    pub outbox: &'a [OutboundMessage],
    pub at: DateTime<Utc>,
}

impl StandupClosing<'_> {
    /// Ends a standup and its job: report, items, prediction, memories and posts are stored together. False, without any write, when it is already
    /// over, its closing was begun again, or the day already has a report of this revision.
    ///
    /// # Errors
    /// `LostLease` when the run no longer holds the job.
    pub async fn store(&self) -> Result<bool, JobError> {
        let (meeting, at) = (self.meeting, self.at);
        let Some(mut transaction) = self.run.begin_close(meeting, at).await? else { return Ok(false) };
        if !upsert_report(&mut transaction, self.report, self.post, at).await? {
            return Ok(false);
        }
        insert_items(&mut transaction, self.items, at).await?;
        if let Some(prediction) = self.prediction {
            replace_prediction(&mut transaction, prediction, meeting.day, at).await?;
        }
        for memory in self.memories {
            save_memory(&mut transaction, memory).await?;
        }
        insert_outbound(&mut transaction, self.outbox, cause(meeting), at).await?;
        self.run.finish(transaction).await?;
        Ok(true)
    }
}
