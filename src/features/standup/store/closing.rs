//! The end of a standup: all its results, stored together.

use chrono::{DateTime, Utc};

use crate::features::backlog::model::WorkItem;
use crate::features::backlog::store::insert_items;
use crate::features::meeting::model::Meeting;
use crate::features::meeting::store::{cause, close_meeting};
use crate::features::standup::model::prediction::Prediction;
use crate::features::standup::model::report::DayReport;
use crate::features::standup::store::predictions::replace_prediction;
use crate::features::standup::store::reports::upsert_report;
use crate::store::Store;
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::outbox::store::insert_outbound;
use kernel::db::Result;
use kernel::ids::OutboxId;
use kernel::memory::Memory;
use kernel::memory::store::insert_memories;

/// A finished standup with all its results.
#[derive(Debug, Clone, Copy)]
pub struct StandupClosing<'a> {
    /// From [`Store::begin_closing`]. If another process begins the closing later, this one becomes void.
    pub meeting: &'a Meeting,
    pub report: &'a DayReport,
    /// The outbox row of the report, kept from the first revision of the day.
    pub post: &'a OutboxId,
    pub items: &'a [WorkItem],
    /// Replaces an open one on the same question for the same day.
    pub prediction: Option<&'a Prediction>,
    pub memories: &'a [Memory],
    /// The posts, in this order.
    pub outbox: &'a [OutboundMessage],
    pub at: DateTime<Utc>,
}

impl Store {
    /// Ends a standup: report, items, prediction, memories and posts are stored together. False, without any write, when it is already over, another
    /// process began its closing again, or the day already has a report of this revision.
    pub async fn close_standup(&self, closing: &StandupClosing<'_>) -> Result<bool> {
        let (meeting, at) = (closing.meeting, closing.at);
        let mut transaction = self.db().begin().await?;
        if !close_meeting(&mut transaction, meeting, at).await?
            || !upsert_report(&mut transaction, closing.report, closing.post, at).await?
        {
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
