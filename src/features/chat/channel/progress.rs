//! Progress that people see during a turn.

use std::time::Duration;

use tokio_util::sync::{CancellationToken, DropGuard};

use crate::features::chat::Conversation;
use kernel::agent::turn::{Trigger, Turn};

/// Discord hides the typing indicator after 10 s. It is refreshed before that.
const TYPING_EVERY: Duration = Duration::from_secs(8);

/// An answer within this time shows no typing indicator.
const TYPING_AFTER: Duration = Duration::from_millis(150);

impl Conversation {
    /// Shows typing during the turn. After the configured time, posts that the turn is still running. Ends when the guard is dropped.
    pub(super) fn show_progress(&self, turn: &Turn, cancel: &CancellationToken) -> DropGuard {
        let over = cancel.child_token();
        let conversation = self.clone();
        let (turn, ended) = (turn.clone(), over.clone());
        self.deps().tasks.spawn(async move {
            tokio::select! {
                () = ended.cancelled() => {}
                () = conversation.keep_company(&turn) => {}
            }
        });
        over.drop_guard()
    }

    async fn keep_company(&self, turn: &Turn) {
        let deps = self.deps();
        let (clock, still_after) = (&deps.clock, deps.chat.still_thinking_after);
        let mut waited = TYPING_AFTER;
        let mut told = false;
        clock.sleep(TYPING_AFTER).await;
        loop {
            deps.platform.show_typing(&turn.persona, &turn.channel).await;
            let until_told = if told { TYPING_EVERY } else { still_after.saturating_sub(waited).max(Duration::from_millis(1)) };
            let wait = TYPING_EVERY.min(until_told);
            clock.sleep(wait).await;
            waited += wait;
            if !told && waited >= still_after {
                told = true;
                let doing = match &turn.trigger {
                    Trigger::Ask { .. } => "I have asked and am waiting for the answer.",
                    _ => "I am still on it; the answer comes here.",
                };
                if let Err(error) = self.post(Self::notice(&turn.persona, &turn.channel, doing)).await {
                    tracing::warn!(%error, "cannot say that a turn takes longer");
                }
            }
        }
    }
}
