//! Announces items that ended because another one did, such as all that needed a failed item. A job that is enqueued with the first ending reads the
//! others from the events.

use crate::features::backlog::Work;
use crate::features::backlog::model::{WorkItem, WorkKind, WorkStatus};
use crate::features::backlog::store::EndedBetween;
use kernel::chat::outbound::OutboundMessage;
use kernel::db::StoreError;
use kernel::jobs::{JobContext, JobError};

/// Above this number, only a summary is posted: thousands of items may need the one that failed.
const LINES: usize = 3;

impl Work {
    pub(super) async fn announce_ended(&self, job: &JobContext) -> Result<(), JobError> {
        let mut ended = self.deps().store.list_ended_with_others(&job.payload::<EndedBetween>()?).await?;
        // A mission reports the outcome of its steps itself.
        ended.retain(|item| item.kind == WorkKind::Action);
        let (told, rest) = ended.split_at(ended.len().min(LINES));
        for item in told {
            self.announce(item, None).await?;
        }
        match rest {
            [] => Ok(()),
            [one] => Ok(self.announce(one, None).await?),
            [first, ..] => Ok(self.announce(first, Some(rest.len())).await?),
        }
    }

    /// Announces one item, alone or as the first of `many`.
    async fn announce(&self, item: &WorkItem, many: Option<usize>) -> Result<(), StoreError> {
        let lines = self
            .say(item, |announcer| match (many, item.status) {
                (Some(many), _) => announcer.announce_many(many),
                (None, WorkStatus::Done) => announcer.announce_done(item),
                (None, _) => announcer.announce_failed(item),
            })
            .await?;
        for line in lines {
            let line = OutboundMessage { id: item.notice_id(), ..line };
            self.deps().store.enqueue_once(&line, self.deps().clock.now()).await?;
        }
        Ok(())
    }
}
