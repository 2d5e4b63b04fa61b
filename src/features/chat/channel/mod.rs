//! One channel's task: it lives while there is something to do and works in arrival order.
//!
//! `queue` holds what waits; `deciding` makes a decision of a burst, `answering` runs a turn, `handover` lets agents answer it as far as the guard
//! allows, `asking` carries questions from one persona to another. What to say is not decided here but in `persona`.

mod answering;
mod asking;
mod deciding;
mod handover;
mod queue;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

pub(super) use asking::{Outcome, attribute};
pub(super) use queue::{ChannelQueue, Waiting};

use crate::features::chat::Conversation;
use crate::features::chat::model::decision::Block;
use crate::features::chat::store::CancelScope;
use kernel::agent::turn::{Trigger, Turn};
use kernel::catch_panic::contain;
use kernel::ids::ChannelId;

impl Conversation {
    /// Works off a channel until it is empty or the process stops; what is left then stands in the store.
    pub(super) async fn work_off(self, channel: &ChannelId, queue: &Arc<ChannelQueue>) {
        loop {
            if self.parts().stop.is_cancelled() {
                return;
            }
            if let Err(error) = contain(Box::pin(self.work_off_next(queue))).await {
                tracing::error!(%channel, error = format!("{error:#}"), "a message could not be worked off");
                metrics::counter!("teamroom_errors_total", "where" => "channel").increment(1);
            }
            // Under the same lock under which others add, so that nothing is added to a queue nobody works off.
            let mut queues = self.queues();
            if queue.is_empty() {
                queues.remove(channel);
                self.parts().answered.wake();
                return;
            }
        }
    }

    async fn work_off_next(&self, queue: &ChannelQueue) -> anyhow::Result<()> {
        let turns = queue.pop_turns();
        if !turns.is_empty() {
            return self.run_turns(queue, turns).await;
        }
        self.await_burst(queue).await;
        if self.parts().stop.is_cancelled() {
            return Ok(());
        }
        let taken_at = self.parts().clock.now();
        let mut burst = queue.pop_burst(self.parts().chat.coalesce);
        if burst.is_empty() {
            return Ok(());
        }
        let refused = self.read_files(&mut burst).await?;
        let turns = self.decide(&burst, taken_at, refused).await?;
        self.run_turns(queue, turns.into()).await
    }

    /// Waits until the person has finished: nothing more within the set time, or somebody else spoke. Typing shows meanwhile.
    async fn await_burst(&self, queue: &ChannelQueue) {
        let parts = self.parts();
        let coalesce = parts.chat.coalesce;
        if coalesce.is_zero() {
            return;
        }
        if let Some(first) = queue.peek_message() {
            if self.parts().listeners.iter().any(|listener| listener.recognises(&first)) {
                return;
            }
            self.show_typing_early(first);
        }
        while let Some(burst) = queue.find_burst(coalesce) {
            let quiet = (parts.clock.now() - burst.last_arrival).to_std().unwrap_or(Duration::ZERO);
            if burst.closed || quiet >= coalesce {
                return;
            }
            tokio::select! {
                () = parts.clock.sleep(coalesce.saturating_sub(quiet)) => {}
                () = queue.arrived() => {}
                () = parts.stop.cancelled() => return,
            }
        }
    }

    /// Runs turns one after the other, and those that follow from them. A person who speaks ends the talk of agents.
    async fn run_turns(&self, queue: &ChannelQueue, mut turns: VecDeque<Turn>) -> anyhow::Result<()> {
        while let Some(turn) = turns.pop_front() {
            let among_agents = matches!(turn.trigger, Trigger::Agent { .. });
            if among_agents && queue.has_message() {
                return self.yield_to_person(&turn).await;
            }
            if self.parts().stop.is_cancelled() {
                return Ok(());
            }
            match self.run_unless_person_speaks(&turn, &turns, queue).await? {
                Some(follow_ups) => turns.extend(follow_ups),
                None => return self.yield_to_person(&turn).await,
            }
        }
        Ok(())
    }

    /// The turns that follow, or none when a person cut the talk of agents short. A turn is cancelled, never dropped: its call is settled.
    async fn run_unless_person_speaks(
        &self,
        turn: &Turn,
        queued: &VecDeque<Turn>,
        queue: &ChannelQueue,
    ) -> anyhow::Result<Option<Vec<Turn>>> {
        let among_agents = matches!(turn.trigger, Trigger::Agent { .. });
        let mut running = std::pin::pin!(self.run_turn(turn, queued, queue));
        tokio::select! {
            follow_ups = &mut running => return follow_ups.map(Some),
            () = person_spoke(queue), if among_agents => self.cancel_turn(&turn.id),
        }
        running.await?;
        Ok(None)
    }

    async fn yield_to_person(&self, turn: &Turn) -> anyhow::Result<()> {
        let parts = self.parts();
        let now = parts.clock.now();
        if let Trigger::Agent { from, .. } = &turn.trigger {
            self.note_block(turn, from, &turn.persona, Block::PersonSpoke).await;
        }
        parts.store.cancel_turns(CancelScope::AgentTalk(&turn.channel), "a person spoke", now).await?;
        Ok(())
    }
}

async fn person_spoke(queue: &ChannelQueue) {
    while !queue.has_message() {
        queue.arrived().await;
    }
}
