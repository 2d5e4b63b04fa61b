//! Lines about items that end with others. Whoever ends an item announces it in the same transaction; what follows from that for others is only
//! known then, so it is announced here, from the events. A crash in between loses the line and nothing else.

use crate::features::backlog::Work;
use crate::features::backlog::model::{WorkItem, WorkStatus};
use kernel::chat::outbound::OutboundMessage;
use kernel::db::StoreError;

/// So many at a time have a line each: ten thousand items may need the one that failed.
const LINES: usize = 3;

impl Work {
    /// Announces what ended with others after `mark`.
    pub(super) async fn announce_ended_since(&self, mark: i64) -> Result<(), StoreError> {
        if self.parts().relay.is_none() {
            // The process that serves does.
            return Ok(());
        }
        let ended = self.parts().store.list_ended_with_others(mark).await?;
        let (told, rest) = ended.split_at(ended.len().min(LINES));
        for item in told {
            self.announce(item, None).await?;
        }
        match rest {
            [] => Ok(()),
            [one] => self.announce(one, None).await,
            [first, ..] => self.announce(first, Some(rest.len())).await,
        }
    }

    /// In a line of its own, or as the first of `many`.
    async fn announce(&self, item: &WorkItem, many: Option<usize>) -> Result<(), StoreError> {
        let lines = self
            .say(item, |voice| match (many, item.status) {
                (Some(many), _) => voice.announce_many(many),
                (None, WorkStatus::Done) => voice.announce_done(item),
                (None, _) => voice.announce_failed(item),
            })
            .await?;
        for line in lines {
            let line = OutboundMessage { id: item.notice_id(), ..line };
            self.parts().store.enqueue_once(&line, self.parts().clock.now()).await?;
            self.send_soon(Some(&line.channel));
        }
        Ok(())
    }
}
