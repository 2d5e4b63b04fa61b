//! Announces items that ended because of others. Whoever ends an item announces only that one; the consequences are read from the events
//! here. A crash in between loses only the announcement.

use crate::features::backlog::Work;
use crate::features::backlog::model::{WorkItem, WorkStatus};
use kernel::chat::outbound::OutboundMessage;
use kernel::db::StoreError;

/// Above this number, only a summary is posted: thousands of items may need the one that failed.
const LINES: usize = 3;

impl Work {
    /// Announces items that ended because of others after `mark`.
    pub(super) async fn announce_ended_since(&self, mark: i64) -> Result<(), StoreError> {
        if self.parts().relay.is_none() {
            // The serving process does this.
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
            self.parts().store.enqueue_once(&line, self.parts().clock.now()).await?;
            self.wake_relay(Some(&line.channel));
        }
        Ok(())
    }
}
