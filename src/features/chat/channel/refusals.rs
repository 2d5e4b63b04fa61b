//! Without a model many questions get the same refusal ("I found nothing about …"). Where nobody asked for it by name, a channel gets it once an hour.

use std::time::Duration;

use crate::features::chat::Conversation;
use crate::features::chat::channel::answering::Ending;
use crate::features::chat::model::decision::Reason;
use crate::features::chat::rules::router::find_speech_act;
use kernel::agent::turn::{Trigger, Turn, TurnState};
use kernel::agent::{AnswerVerdict, Reply, SpeechAct};
use kernel::chat::message::Place;
use kernel::db::StoreError;
use kernel::people::Seen;

const REFUSED_EVERY: Duration = Duration::from_hours(1);

/// For the trace of a message.
const SPARED: &str = "nothing was found, and the channel was told so less than an hour ago";

impl Conversation {
    /// Leaves out a refusal that the channel does not need. If the database does not answer, the refusal is posted.
    pub(super) async fn spare_refusal(&self, turn: &Turn, ending: Ending) -> Ending {
        let refuses = |reply: &Reply| reply.model.is_none() && reply.verdict == Some(AnswerVerdict::DoesNotKnow);
        if turn.trigger != Trigger::Message || !ending.reply.as_ref().is_some_and(refuses) {
            return ending;
        }
        let key = format!("refusal:{}", turn.channel);
        let was_refused = async || self.deps().store.was_noticed(&key, self.deps().clock.now(), REFUSED_EVERY).await;
        match self.is_unasked(turn).await {
            Ok(false) => ending,
            Ok(true) if matches!(was_refused().await, Ok(true)) => {
                Ending { error: Some(SPARED.to_owned()), ..Ending::silent(TurnState::Silent) }
            }
            Ok(true) => Ending { noticed: Some(key), ..ending },
            Err(error) => {
                tracing::warn!(turn = %turn.id, %error, "whether a refusal is needed could not be read");
                ending
            }
        }
    }

    /// Whether a message asks no persona and not the team: a question to nobody where others write too, or something that asks nothing.
    async fn is_unasked(&self, turn: &Turn) -> Result<bool, StoreError> {
        let deps = self.deps();
        let burst = deps.store.list_burst(&turn.message).await?;
        let Some(decision) = burst.first().and_then(|row| row.decision.as_ref()) else { return Ok(false) };
        let message = &burst[0].message;
        let seen = Seen { author: &message.author, channel: &message.channel, at: message.sent_at };
        let asks = burst.iter().any(|row| find_speech_act(&row.message.text, &deps.roster) == SpeechAct::Question);
        Ok(match decision.reason {
            _ if message.channel.place == Place::Direct => false,
            Reason::Question | Reason::Bound | Reason::Knowledge | Reason::Weighed => !asks || deps.store.is_shared(&seen).await?,
            Reason::FollowUp | Reason::Thread => !asks,
            _ => false,
        })
    }
}
