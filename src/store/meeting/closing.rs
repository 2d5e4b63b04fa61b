//! The end of a standup: everything that it leaves behind, stored together.

use chrono::{DateTime, Utc};

use super::meetings::cause;
use super::predictions::replace_prediction;
use super::reports::upsert_report;
use crate::domain::ids::OutboxId;
use crate::domain::meeting::{Meeting, MeetingState};
use crate::domain::memory::Memory;
use crate::domain::outbound::OutboundMessage;
use crate::domain::prediction::Prediction;
use crate::domain::report::DayReport;
use crate::domain::work::WorkItem;
use crate::store::Store;
use crate::store::engine::sql;
use crate::store::error::Result;
use crate::store::memory::insert_memories;
use crate::store::talk::insert_outbound;
use crate::store::work::insert_items;

/// A standup that is over and all that came of it.
#[derive(Debug, Clone, Copy)]
pub struct StandupClosing<'a> {
    /// As [`Store::begin_closing`] gave it. Somebody who began the closing later makes this one void.
    pub meeting: &'a Meeting,
    pub report: &'a DayReport,
    /// The row of the outbox with the report; kept from the first revision of the day.
    pub post: &'a OutboxId,
    pub items: &'a [WorkItem],
    /// Replaces an open one that was made on the same question for the same day.
    pub prediction: Option<&'a Prediction>,
    pub memories: &'a [Memory],
    /// What is to be posted, in this order.
    pub outbox: &'a [OutboundMessage],
    pub at: DateTime<Utc>,
}

impl Store {
    /// Ends a standup: report, items, prediction, memories and posts are stored together. False, and nothing is stored, when it is
    /// over already, its closing was begun anew by somebody else, or the day has a report of this revision.
    pub async fn close_standup(&self, closing: &StandupClosing<'_>) -> Result<bool> {
        let (meeting, at) = (closing.meeting, closing.at);
        let mut transaction = self.db().begin().await?;
        let closed = sql!(
            transaction.on(),
            execute,
            "UPDATE meetings SET state = $3, updated_at = $4, ended_at = $4 WHERE id = $1 AND state = 'closing' AND closings = $2",
            meeting.id.as_str(),
            i64::from(meeting.closings),
            MeetingState::Done.as_str(),
            at
        )?;
        if closed == 0 || !upsert_report(&mut transaction, closing.report, closing.post, at).await? {
            return Ok(false);
        }
        insert_items(&mut transaction, closing.items, at).await?;
        if let Some(prediction) = closing.prediction {
            replace_prediction(&mut transaction, prediction, meeting.day).await?;
        }
        insert_memories(&mut transaction, closing.memories).await?;
        insert_outbound(&mut transaction, closing.outbox, cause(meeting), at).await?;
        transaction.commit().await?;
        Ok(true)
    }
}
