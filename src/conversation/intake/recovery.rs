//! What an earlier process left unfinished goes on.

use crate::conversation::Conversation;
use crate::conversation::channel::Waiting;
use crate::domain::ask::AskState;
use crate::domain::turn::Trigger;
use crate::store::AskUpdate;

impl Conversation {
    /// Puts open turns and undecided messages back into their channels' queues, in their old order, and takes up asks whose turn is over.
    /// To be called once, before events are taken.
    pub async fn recover(&self) -> anyhow::Result<()> {
        let store = &self.parts().store;
        let now = self.parts().clock.now();
        let turns = store.list_open_turns().await?;
        let asks = store.list_open_asks().await?;
        let messages = store.list_undecided(None).await?;
        if !(turns.is_empty() && asks.is_empty() && messages.is_empty()) {
            tracing::info!(turns = turns.len(), asks = asks.len(), messages = messages.len(), "taking up what an earlier process left");
        }
        let awaited: Vec<_> = turns
            .iter()
            .filter_map(|turn| match &turn.trigger {
                Trigger::Ask { ask } => Some(ask.clone()),
                _ => None,
            })
            .collect();
        for turn in turns {
            self.enqueue(&turn.channel.clone(), Waiting::Turn(Box::new(turn)));
        }
        for row in messages.into_iter().filter(|row| row.message.complete) {
            self.enqueue(&row.message.channel.id.clone(), Waiting::Message { message: Box::new(row.message), arrived_at: now });
        }
        for mut ask in asks.into_iter().filter(|ask| !awaited.contains(&ask.id)) {
            // Nobody waits for it any more, so its answer is a late one whenever it comes.
            let expired = AskUpdate { ask: &ask.id, state: AskState::Expired, answer: None };
            if ask.state == AskState::Expired || store.settle_ask(&expired, &[], now).await? {
                ask.state = AskState::Expired;
            }
            self.carry_out(ask);
        }
        Ok(())
    }
}
