//! Resumes the unfinished work of an earlier process.

use crate::features::chat::store::AskUpdate;
use crate::features::chat::{Conversation, commands};
use kernel::agent::ask::{Ask, AskState};
use kernel::agent::turn::Trigger;
use kernel::ids::AskId;

impl Conversation {
    /// Puts undecided messages back into their channels' queues in their old order, and resumes asks whose turn is over. Open turns have jobs, and
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

    /// Sends the asks again whose answer a channel or a command expects, unless they are too old. Other asks belong to a turn, which sends them again
    /// itself or is over.
    async fn recover_asks(&self, asks: Vec<Ask>, awaited: &[AskId]) -> anyhow::Result<()> {
        let deps = self.deps();
        let now = deps.clock.now();
        for mut ask in asks {
            if ask.state == AskState::Asked && awaited.contains(&ask.id) {
                continue;
            }
            let promised = ask.state == AskState::Expired || commands::is_command(&ask);
            let young = (now - ask.asked_at).to_std().is_ok_and(|age| age <= deps.chat.max_age);
            let heard = !self.inner.halts.was_halted_since(&ask.channel, ask.asked_at);
            let next = if promised && young && heard { AskState::Expired } else { AskState::Failed };
            if ask.state != next {
                deps.store.settle_ask(&AskUpdate { ask: &ask.id, state: next, answer: None }, &[], now).await?;
                ask.state = next;
            }
            if next == AskState::Expired {
                self.carry_out(ask);
            }
        }
        Ok(())
    }
}
