use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use serenity::all as serenity;
use tokio::time::Instant;

use crate::adapters::discord::commands::Interactions;
use crate::adapters::discord::rest::{Call, Failure};
use kernel::chat::format::{MESSAGE_LIMIT, align_tables};
use kernel::chat::split::split;
use kernel::commands::{Audience, CommandReply, CommandRequest};
use kernel::ids::ChannelId;

/// The flag that shows a message to one person only.
const EPHEMERAL: u64 = 64;

/// An interaction that waits for its answer.
pub(super) struct Pending {
    application: serenity::ApplicationId,
    token: SecretString,
    asked: Instant,
    channel: ChannelId,
    promised: Promised,
}

/// What the acknowledgement has promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promised {
    /// A "thinking" that this audience sees.
    Answer(Audience),
    /// Nothing: a button was pressed.
    Nothing,
}

impl Pending {
    pub(super) fn of_command(interaction: &serenity::CommandInteraction, audience: Audience) -> Self {
        Self {
            application: interaction.application_id,
            token: interaction.token.clone().into(),
            asked: Instant::now(),
            channel: interaction.channel_id.to_string().into(),
            promised: Promised::Answer(audience),
        }
    }

    pub(super) fn of_press(interaction: &serenity::ComponentInteraction) -> Self {
        Self {
            application: interaction.application_id,
            token: interaction.token.clone().into(),
            asked: Instant::now(),
            channel: interaction.channel_id.to_string().into(),
            promised: Promised::Nothing,
        }
    }

    /// Whether nobody but the caller may ever see the answer. One that everybody was promised is said in the channel when its time is over.
    fn is_private(&self, reply: &CommandReply) -> bool {
        match self.promised {
            Promised::Answer(audience) => audience == Audience::Caller,
            Promised::Nothing => reply.ephemeral,
        }
    }

    /// The address of the first message of the interaction: the answer to a command, the message that bears a pressed button.
    fn original(&self) -> String {
        format!("/webhooks/{}/{}/messages/@original", self.application, self.token.expose_secret())
    }
}

/// Carries a command out and posts the answer.
pub(super) async fn carry_out(interactions: &Arc<Interactions>, pending: Pending, request: CommandRequest, allowed: bool) {
    let reply = if allowed {
        let registry = Arc::clone(&interactions.registry);
        // A task of its own, so that a panic in a command still ends in an answer.
        tokio::spawn(async move { registry.run(request).await }).await.unwrap_or_else(|_| fault())
    } else {
        CommandReply::refused("This team does not listen on this server.")
    };
    if reply.retire_buttons
        && pending.promised == Promised::Nothing
        && let Err(failure) = retire_buttons(interactions, &pending).await
    {
        tracing::warn!(channel = %pending.channel, %failure, "the buttons of a message could not be taken away");
    }
    if let Err(failure) = post(interactions, &pending, &reply).await {
        tracing::warn!(channel = %pending.channel, %failure, "the answer to a command could not be posted");
    }
}

fn fault() -> CommandReply {
    let text = "Something went wrong inside the team. It is in the log; please try again.";
    CommandReply::refused(text)
}

/// Follows up as long as the interaction lives, and says it as a normal message after that.
async fn post(interactions: &Interactions, pending: &Pending, reply: &CommandReply) -> Result<(), Failure> {
    if reply.ephemeral && pending.promised == Promised::Answer(Audience::Everybody) {
        retract(interactions, pending).await?;
    }
    for chunk in split(&align_tables(reply.text.trim()), MESSAGE_LIMIT) {
        let chunk = chunk.as_str();
        let alive = pending.asked.elapsed() < interactions.timing.interaction;
        let followed = if alive { follow_up(interactions, pending, reply, chunk).await } else { Err(Failure::refused("its time is over")) };
        match followed {
            Ok(()) => {}
            // What only the caller was to see is not shown to everybody instead.
            Err(failure) if pending.is_private(reply) => return Err(failure),
            Err(Failure::Refused { .. }) => interactions.rest.say(&interactions.credential, &pending.channel, chunk).await?,
            Err(failure) => return Err(failure),
        }
    }
    Ok(())
}

/// Takes back the "thinking" that everybody sees, so that what follows is seen by the caller alone: Discord lets the deferral decide for the
/// first answer.
async fn retract(interactions: &Interactions, pending: &Pending) -> Result<(), Failure> {
    interactions.rest.call(&interactions.credential, Call::delete(pending.original()).by_path_token()).await?;
    Ok(())
}

/// Works for a message of a webhook as well as for one of the account, since it goes through the interaction.
async fn retire_buttons(interactions: &Interactions, pending: &Pending) -> Result<(), Failure> {
    let call = Call::patch(pending.original()).body(json!({ "components": [] }), &[]);
    interactions.rest.call(&interactions.credential, call.by_path_token()).await?;
    Ok(())
}

async fn follow_up(interactions: &Interactions, pending: &Pending, reply: &CommandReply, text: &str) -> Result<(), Failure> {
    let flags = if reply.ephemeral || pending.promised == Promised::Answer(Audience::Caller) { EPHEMERAL } else { 0 };
    let payload = json!({ "content": text, "flags": flags, "allowed_mentions": { "parse": [] } });
    let path = format!("/webhooks/{}/{}", pending.application, pending.token.expose_secret());
    interactions.rest.call(&interactions.credential, Call::post(path).body(payload, &[]).by_path_token()).await?;
    Ok(())
}
