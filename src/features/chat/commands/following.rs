//! Changes by other processes: halts, such as by `teamroom halt`, and turns that ended.

use crate::features::chat::store::TURNS;
use crate::features::chat::{Conversation, Deps};
use kernel::agent::halts::{ChangedHalts, HALTS, HaltScope};
use kernel::chat::Presence;

impl Conversation {
    /// Applies what other processes change, until the team stops.
    pub(crate) async fn follow_others(self) {
        let Deps { store, clock, stop, .. } = self.deps();
        let (mut halts, mut turns) = (store.subscribe(HALTS, clock), store.subscribe(TURNS, clock));
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = halts.next() => self.follow_halts().await,
                () = turns.next() => self.follow_turns().await,
            }
        }
    }

    /// Another process has ended a turn, and may have started others that follow from it.
    async fn follow_turns(&self) {
        match self.deps().store.list_open_turns().await {
            Ok(open) => open.iter().for_each(|turn| {
                self.with_queue(&turn.channel, |queue| queue.open_turns([&turn.id]));
            }),
            Err(error) => tracing::warn!(%error, "the open turns cannot be read"),
        }
        let queues: Vec<_> = self.queues().iter().map(|(channel, queue)| (channel.clone(), queue.clone())).collect();
        for (channel, queue) in queues.iter().filter(|(_, queue)| queue.has_turns()) {
            self.forget_ended_turns(channel, queue).await;
        }
    }

    async fn follow_halts(&self) {
        match self.inner.halts.refresh().await {
            Ok(changed) => self.obey(changed).await,
            Err(error) => tracing::warn!(%error, "halts by other processes cannot be read"),
        }
    }

    async fn obey(&self, changed: ChangedHalts) {
        for scope in changed.halted {
            match scope {
                HaltScope::All => self.cancel_running(|_| true),
                HaltScope::Channel(channel) => self.cancel_running(|running| running.channel == channel),
                HaltScope::Persona(persona) => self.deps().platform.set_presence(&persona, Presence::Paused).await,
            }
        }
        for scope in changed.lifted {
            if let HaltScope::Persona(persona) = scope {
                self.deps().platform.set_presence(&persona, Presence::Listening).await;
            }
        }
    }
}
