use std::sync::Arc;

use poise::serenity_prelude as serenity;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use tokio::time::Instant;

use super::{Audience, Counter};
use crate::chat::command::{CommandCall, CommandReply};
use crate::chat::format::{MESSAGE_LIMIT, align_tables};
use crate::chat::split::split;
use crate::discord::rest::{Call, Failure};
use crate::domain::ids::ChannelId;

/// The flag that shows a message to one person only.
const EPHEMERAL: u64 = 64;

/// An interaction that waits for its answer.
pub(super) struct Question {
    application: serenity::ApplicationId,
    token: SecretString,
    asked: Instant,
    channel: ChannelId,
    audience: Audience,
}

impl Question {
    pub(super) fn new(interaction: &serenity::CommandInteraction, audience: Audience) -> Self {
        Self {
            application: interaction.application_id,
            token: interaction.token.clone().into(),
            asked: Instant::now(),
            channel: interaction.channel_id.to_string().into(),
            audience,
        }
    }

    pub(super) fn of_press(interaction: &serenity::ComponentInteraction) -> Self {
        Self {
            application: interaction.application_id,
            token: interaction.token.clone().into(),
            asked: Instant::now(),
            channel: interaction.channel_id.to_string().into(),
            audience: Audience::AsAnswered,
        }
    }

    /// Whether nobody but the caller may ever see the answer. One that everybody was promised is said in the channel when its time is over.
    fn is_private(&self, reply: &CommandReply) -> bool {
        match self.audience {
            Audience::Caller => true,
            Audience::AsAnswered => reply.ephemeral,
            Audience::Everybody => false,
        }
    }

    /// The address of the first message of the interaction: the answer to a command, the message that bears a pressed button.
    fn original(&self) -> String {
        format!("/webhooks/{}/{}/messages/@original", self.application, self.token.expose_secret())
    }
}

/// Has the desk carry a command out and posts the answer.
pub(super) async fn carry_out(counter: &Arc<Counter>, question: Question, call: CommandCall, allowed: bool) {
    let reply = if allowed {
        let desk = Arc::clone(&counter.desk);
        // A task of its own, so that a panic in a command still ends in an answer.
        tokio::spawn(async move { desk.run(call).await }).await.unwrap_or_else(|_| fault())
    } else {
        CommandReply::refused("This team does not listen on this server.")
    };
    if reply.retire_buttons
        && question.audience == Audience::AsAnswered
        && let Err(failure) = retire_buttons(counter, &question).await
    {
        tracing::warn!(channel = %question.channel, %failure, "the buttons of a message could not be taken away");
    }
    if let Err(failure) = post(counter, &question, &reply).await {
        tracing::warn!(channel = %question.channel, %failure, "the answer to a command could not be posted");
    }
}

fn fault() -> CommandReply {
    let text = "Something went wrong inside the team. It is in the log; please try again.";
    CommandReply::refused(text)
}

/// Follows up as long as the interaction lives, and says it as a normal message after that.
async fn post(counter: &Counter, question: &Question, reply: &CommandReply) -> Result<(), Failure> {
    if reply.ephemeral && question.audience == Audience::Everybody {
        retract(counter, question).await?;
    }
    for chunk in split(&align_tables(reply.text.trim()), MESSAGE_LIMIT) {
        let chunk = chunk.as_str();
        let alive = question.asked.elapsed() < counter.timing.interaction;
        let followed = if alive { follow_up(counter, question, reply, chunk).await } else { Err(Failure::refused("its time is over")) };
        match followed {
            Ok(()) => {}
            // What only the caller was to see is not shown to everybody instead.
            Err(failure) if question.is_private(reply) => return Err(failure),
            Err(Failure::Refused { .. }) => counter.rest.say(&counter.credential, &question.channel, chunk).await?,
            Err(failure) => return Err(failure),
        }
    }
    Ok(())
}

/// Takes back the "thinking" that everybody sees, so that what follows is seen by the caller alone: Discord lets the deferral decide for the
/// first answer.
async fn retract(counter: &Counter, question: &Question) -> Result<(), Failure> {
    counter.rest.call(&counter.credential, Call::delete(question.original()).by_path_token()).await?;
    Ok(())
}

/// Works for a message of a webhook as well as for one of the account, since it goes through the interaction.
async fn retire_buttons(counter: &Counter, question: &Question) -> Result<(), Failure> {
    let call = Call::patch(question.original()).body(json!({ "components": [] }), &[]);
    counter.rest.call(&counter.credential, call.by_path_token()).await?;
    Ok(())
}

async fn follow_up(counter: &Counter, question: &Question, reply: &CommandReply, text: &str) -> Result<(), Failure> {
    let flags = if reply.ephemeral || question.audience == Audience::Caller { EPHEMERAL } else { 0 };
    let payload = json!({ "content": text, "flags": flags, "allowed_mentions": { "parse": [] } });
    let path = format!("/webhooks/{}/{}", question.application, question.token.expose_secret());
    counter.rest.call(&counter.credential, Call::post(path).body(payload, &[]).by_path_token()).await?;
    Ok(())
}
