//! Without a model many questions get the same refusal ("I found nothing about …"). Where nobody asked for it by name, a channel gets it once an hour.

use std::time::Duration;

use crate::features::chat::Conversation;
use crate::features::chat::channel::answering::Ending;
use crate::features::chat::model::decision::Reason;
use crate::features::chat::rules::router::find_speech_act;
use kernel::agent::turn::{Trigger, Turn, TurnState};
use kernel::agent::{AnswerVerdict, SpeechAct};
use kernel::chat::message::Place;
use kernel::db::StoreError;
use kernel::people::Seen;

const REFUSED_EVERY: Duration = Duration::from_hours(1);

/// For the trace of a message.
const SPARED: &str = "nothing was found, and the channel was told so less than an hour ago";

impl Conversation {
    /// Leaves out a refusal that the channel does not need. If the database does not answer, the refusal is posted.
    pub(super) async fn spare_refusal(&self, turn: &Turn, ending: Ending) -> Ending {
        let refuses = |reply: &kernel::agent::Reply| reply.model.is_none() && reply.verdict == Some(AnswerVerdict::DoesNotKnow);
        if turn.trigger != Trigger::Message || !ending.reply.as_ref().is_some_and(refuses) {
            return ending;
        }
        let key = format!("refusal:{}", turn.channel);
        match self.is_refused_again(turn, &key).await {
            Ok(true) => Ending { error: Some(SPARED.to_owned()), ..Ending::silent(TurnState::Silent) },
            Ok(false) => Ending { noticed: Some(key), ..ending },
            Err(error) => {
                tracing::warn!(turn = %turn.id, %error, "earlier refusals could not be read");
                ending
            }
        }
    }

    /// Whether the channel was refused within the hour, and nobody asked a persona or the team. Who is alone in a channel is told each time that
    /// a question has no answer.
    async fn is_refused_again(&self, turn: &Turn, key: &str) -> Result<bool, StoreError> {
        let deps = self.deps();
        let Some(row) = deps.store.find_message(&turn.message).await? else { return Ok(false) };
        let (message, reason) = (row.message, row.decision.map(|decision| decision.reason));
        let is_open = matches!(
            reason,
            Some(Reason::Question | Reason::FollowUp | Reason::Thread | Reason::Bound | Reason::Knowledge | Reason::Weighed)
        );
        if !is_open || message.channel.place == Place::Direct || !deps.store.was_noticed(key, deps.clock.now(), REFUSED_EVERY).await? {
            return Ok(false);
        }
        let seen = Seen { author: &message.author, channel: &message.channel, at: message.sent_at };
        let asks = find_speech_act(&message.text, &deps.roster) == SpeechAct::Question;
        Ok(!asks || deps.store.is_shared(&seen).await?)
    }
}
