//! Progress that people see during a turn.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::Instrument as _;

use crate::features::chat::Conversation;
use kernel::agent::turn::{Trigger, Turn};
use kernel::chat::outbound::{OutboundMessage, Placement};
use kernel::ids::OutboxId;

/// Discord hides the typing indicator after 10 s. It is refreshed before that.
const TYPING_EVERY: Duration = Duration::from_secs(8);

/// An answer within this time shows no typing indicator.
const TYPING_AFTER: Duration = Duration::from_millis(150);

/// What a turn is doing now, as far as its tools say. Cheap to clone.
#[derive(Debug, Default, Clone)]
pub(super) struct Activity(Arc<Mutex<Option<String>>>);

impl Activity {
    pub(super) fn set(&self, doing: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(doing);
    }

    fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Conversation {
    /// Shows typing during the turn. After the configured time, posts what the turn is doing, and changes that line when it does something else. Ends
    /// when the guard is dropped.
    pub(super) fn show_progress(&self, turn: &Turn, activity: &Activity, cancel: &CancellationToken) -> DropGuard {
        let over = cancel.child_token();
        let conversation = self.clone();
        let (turn, activity, ended) = (turn.clone(), activity.clone(), over.clone());
        let showing = async move {
            let (began, mut told) = (conversation.deps().clock.now(), None);
            tokio::select! {
                () = ended.cancelled() => {}
                () = conversation.keep_company(&turn, &activity, &mut told) => {}
            }
            if let Some((first, _)) = told.filter(|_| !conversation.deps().stop.is_cancelled()) {
                let took = (conversation.deps().clock.now() - began).num_seconds();
                conversation.say_progress(&turn, &first, false, &format!("That took {took} s.")).await;
            }
        };
        self.deps().tasks.spawn(showing.in_current_span());
        over.drop_guard()
    }

    /// `told`: the line that was posted, and its text.
    async fn keep_company(&self, turn: &Turn, activity: &Activity, told: &mut Option<(OutboxId, String)>) {
        let deps = self.deps();
        let (clock, still_after) = (&deps.clock, deps.chat.still_thinking_after);
        let mut waited = TYPING_AFTER;
        clock.sleep(TYPING_AFTER).await;
        loop {
            deps.platform.show_typing(&turn.persona, &turn.channel).await;
            let until_told = if told.is_some() { TYPING_EVERY } else { still_after.saturating_sub(waited).max(Duration::from_millis(1)) };
            let wait = TYPING_EVERY.min(until_told);
            clock.sleep(wait).await;
            waited += wait;
            if waited < still_after {
                continue;
            }
            let doing = activity.get().map(|doing| format!("{doing} …"));
            let line = match (&*told, doing) {
                (None, None) => still_busy(turn).to_owned(),
                (None, Some(doing)) => doing,
                (Some((_, shown)), Some(doing)) if *shown != doing => doing,
                (Some(_), _) => continue,
            };
            // Known before it is posted, so that the end of the turn finds it.
            let first = told.as_ref().map(|(first, _)| first.clone());
            let id = first.clone().unwrap_or_else(OutboxId::generate);
            *told = Some((id.clone(), line.clone()));
            self.say_progress(turn, &id, first.is_none(), &line).await;
        }
    }

    /// Posts a line, or changes the one that was posted before.
    async fn say_progress(&self, turn: &Turn, id: &OutboxId, is_first: bool, line: &str) {
        let notice = Self::notice(&turn.persona, &turn.channel, line);
        let message = if is_first {
            OutboundMessage { id: id.clone(), ..notice }
        } else {
            OutboundMessage { place: Placement::Revision { of: id.clone() }, ..notice }
        };
        if let Err(error) = self.post(message).await {
            tracing::warn!(%error, "cannot say what a turn is doing");
        }
    }
}

fn still_busy(turn: &Turn) -> &'static str {
    match &turn.trigger {
        Trigger::Ask { .. } => "I have asked and am waiting for the answer.",
        _ => "I am still on it; the answer comes here.",
    }
}
