//! Resumes the unfinished work of an earlier process.

use crate::features::chat::store::AskUpdate;
use crate::features::chat::{Conversation, commands};
use kernel::agent::ask::{Ask, AskState};
use kernel::agent::turn::Trigger;
use kernel::ids::AskId;

impl Conversation {
    /// Puts undecided messages back into their channels' queues in their old order, and ends asks that nobody waits for. Open turns have jobs, and
    /// their channels wait for them. Called once, before events are taken and jobs are run.
    pub async fn recover(&self) -> anyhow::Result<()> {
        let store = &self.deps().store;
        let now = self.deps().clock.now();
        let lost = store.enqueue_lost_turns(now).await?;
        if lost > 0 {
            tracing::info!(lost, "turns without a job have got one");
        }
        let turns = store.list_open_turns().await?;
        let asks = store.list_open_asks().await?;
        let messages = store.list_undecided(None).await?;
        if !(turns.is_empty() && asks.is_empty() && messages.is_empty()) {
            tracing::info!(turns = turns.len(), asks = asks.len(), messages = messages.len(), "taking up what an earlier process left");
        }
        // A stop comes first: a claimed stop silences the turns before they begin.
        let mut waiting = Vec::new();
        for message in messages.into_iter().map(|row| row.message) {
            if self.is_stop(&message).await? {
                self.take_stop(&message, now).await?;
            } else {
                waiting.push(message);
            }
        }
        let awaited: Vec<_> = turns
            .iter()
            .filter_map(|turn| match &turn.trigger {
                Trigger::Ask { ask } => Some(ask.clone()),
                _ => None,
            })
            .collect();
        for turn in turns {
            self.with_queue(&turn.channel, |queue| queue.open_turns([&turn.id]));
        }
        for message in waiting {
            self.enqueue_message(message, now);
        }
        self.recover_asks(asks, &awaited).await
    }

    /// Expires the asks of commands, whose process is dead; their answers come late. Ends the asks whose turn is over. The turns of the others send them
    /// again.
    async fn recover_asks(&self, asks: Vec<Ask>, awaited: &[AskId]) -> anyhow::Result<()> {
        let store = &self.deps().store;
        let now = self.deps().clock.now();
        for ask in &asks {
            match ask.state {
                AskState::Expired => store.enqueue_late_ask(&ask.id, now).await?,
                _ if awaited.contains(&ask.id) => {}
                _ if commands::is_command(ask) => _ = store.expire_ask(&ask.id, now).await?,
                _ => _ = store.settle_ask(&AskUpdate { ask: &ask.id, state: AskState::Failed, answer: None }, &[], now).await?,
            }
        }
        Ok(())
    }
}
