use serde_json::{Value, json};
use serenity::model::id::InteractionId;

use crate::adapters::discord::commands::Interactions;
use crate::adapters::discord::commands::answer::EPHEMERAL;
use crate::adapters::discord::rest::{Call, Failure};
use kernel::commands::{Audience, Suggestion};

/// How many suggestions Discord shows.
const SUGGESTIONS: usize = 25;

/// The first reply to an interaction, which Discord wants within three seconds.
pub(super) enum Callback {
    /// "Thinking …", visible to this audience. The answer replaces it.
    Thinking(Audience),
    /// Leaves the message with the pressed button as it is.
    Unchanged,
    /// What completes the text that somebody is typing.
    Suggestions(Vec<Suggestion>),
}

impl Callback {
    /// The payload, with Discord's numbers for the types of callbacks.
    fn payload(self) -> Value {
        match self {
            Self::Thinking(Audience::Everybody) => json!({ "type": 5 }),
            Self::Thinking(Audience::Caller) => json!({ "type": 5, "data": { "flags": EPHEMERAL } }),
            Self::Unchanged => json!({ "type": 6 }),
            Self::Suggestions(found) => {
                let choices = found.into_iter().take(SUGGESTIONS).map(|choice| json!({ "name": choice.label, "value": choice.value }));
                json!({ "type": 8, "data": { "choices": choices.collect::<Vec<_>>() } })
            }
        }
    }
}

/// Sends the first reply to an interaction, which is known by its id and its token.
pub(super) async fn acknowledge(
    interactions: &Interactions,
    (id, token): (InteractionId, &str),
    callback: Callback,
) -> Result<(), Failure> {
    let call = Call::post(format!("/interactions/{id}/{token}/callback")).body(callback.payload(), &[]).by_path_token();
    interactions.rest.call(&interactions.credential, call).await.map(drop)
}
