//! Halts that other processes write, such as `teamroom halt`.

use std::time::Duration;

use crate::features::chat::Conversation;
use kernel::agent::halts::{ChangedHalts, HALTS, HaltScope};
use kernel::chat::Presence;

/// The delay before they are read again while the database is unavailable.
const RETRY: Duration = Duration::from_secs(1);

impl Conversation {
    /// Applies halts that other processes write and lift, until the team stops.
    pub(crate) async fn follow_halts(self) {
        let parts = self.parts();
        let mut changes = parts.store.subscribe(HALTS, &parts.clock);
        let follow = async {
            loop {
                match self.inner.halts.refresh().await {
                    Ok(changed) => {
                        self.obey(changed).await;
                        changes.next().await;
                    }
                    Err(error) => {
                        tracing::warn!(%error, "halts by other processes cannot be read");
                        parts.clock.sleep(RETRY).await;
                    }
                }
            }
        };
        parts.stop.run_until_cancelled(follow).await;
    }

    async fn obey(&self, changed: ChangedHalts) {
        for scope in changed.halted {
            match scope {
                HaltScope::All => self.cancel_running(|_| true),
                HaltScope::Channel(channel) => self.cancel_running(|running| running.channel == channel),
                HaltScope::Persona(persona) => self.parts().platform.set_presence(&persona, Presence::Paused).await,
            }
        }
        for scope in changed.lifted {
            if let HaltScope::Persona(persona) = scope {
                self.parts().platform.set_presence(&persona, Presence::Listening).await;
            }
        }
    }
}
