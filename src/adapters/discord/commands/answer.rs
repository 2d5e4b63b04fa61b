use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use serenity::all as serenity;
use tokio::time::Instant;

use crate::adapters::discord::commands::Interactions;
use crate::adapters::discord::ids::from_discord;
use crate::adapters::discord::markup::{TEXT, written};
use crate::adapters::discord::rest::{Call, Failure};
use kernel::chat::outbound::OutboundFile;
use kernel::commands::{Audience, CommandReply, CommandRequest};
use kernel::ids::ChannelId;

/// The message flag for "only visible to the caller".
const EPHEMERAL: u64 = 64;

/// An interaction that is not answered yet.
pub(super) struct Pending {
    application: serenity::ApplicationId,
    token: SecretString,
    asked: Instant,
    channel: ChannelId,
    promised: Promised,
}

/// How the interaction was acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promised {
    /// "Thinking …", visible to this audience.
    Answer(Audience),
    /// No visible answer: a button was pressed.
    Nothing,
}

impl Pending {
    pub(super) fn of_command(interaction: &serenity::CommandInteraction, audience: Audience) -> Self {
        Self {
            application: interaction.application_id,
            token: interaction.token.clone().into(),
            asked: Instant::now(),
            channel: from_discord(interaction.channel_id),
            promised: Promised::Answer(audience),
        }
    }

    pub(super) fn of_press(interaction: &serenity::ComponentInteraction) -> Self {
        Self {
            application: interaction.application_id,
            token: interaction.token.clone().into(),
            asked: Instant::now(),
            channel: from_discord(interaction.channel_id),
            promised: Promised::Nothing,
        }
    }

    /// Whether the reply must stay private. A public reply may be posted as a normal message once the interaction has expired.
    fn is_private(&self, reply: &CommandReply) -> bool {
        match self.promised {
            Promised::Answer(audience) => audience == Audience::Caller,
            Promised::Nothing => reply.ephemeral,
        }
    }

    /// The path of the interaction's first message: the answer to a command, or the message with the pressed button.
    fn original(&self) -> String {
        format!("/webhooks/{}/{}/messages/@original", self.application, self.token.expose_secret())
    }
}

/// Runs a command and posts its answer.
pub(super) async fn carry_out(interactions: &Arc<Interactions>, pending: Pending, request: CommandRequest, allowed: bool) {
    let reply = if allowed {
        let registry = Arc::clone(&interactions.registry);
        // A separate task, so that a panic in a command still produces an answer.
        tokio::spawn(async move { registry.run(request).await }).await.unwrap_or_else(|_| fault())
    } else {
        CommandReply::refused("This team does not work on this server.")
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
    let text = "Something went wrong. Please try again. The details are in the log.";
    CommandReply::refused(text)
}

/// Posts a follow-up while the interaction is valid, and a normal message after that.
async fn post(interactions: &Interactions, pending: &Pending, reply: &CommandReply) -> Result<(), Failure> {
    if reply.ephemeral && pending.promised == Promised::Answer(Audience::Everybody) {
        retract(interactions, pending).await?;
    }
    let chunks = TEXT.split(&TEXT.lay_out(reply.text.trim()));
    for (index, chunk) in chunks.iter().enumerate() {
        let files = if index + 1 == chunks.len() { reply.files.as_slice() } else { &[] };
        let alive = pending.asked.elapsed() < interactions.timing.interaction;
        let followed =
            if alive { follow_up(interactions, pending, reply, (chunk, files)).await } else { Err(Failure::refused("its time is over")) };
        match followed {
            Ok(()) => {}
            // A private answer is never posted publicly.
            Err(failure) if pending.is_private(reply) => return Err(failure),
            Err(Failure::Refused { .. }) => interactions.rest.say(&interactions.credential, &pending.channel, chunk).await?,
            Err(failure) => return Err(failure),
        }
    }
    Ok(())
}

/// Deletes the public "thinking …" message. Discord gives the first answer the visibility of the acknowledgement, so a private answer needs
/// a new follow-up.
async fn retract(interactions: &Interactions, pending: &Pending) -> Result<(), Failure> {
    interactions.rest.call(&interactions.credential, Call::delete(pending.original()).by_path_token()).await?;
    Ok(())
}

/// Edits through the interaction, so that messages of webhooks can be changed too.
async fn retire_buttons(interactions: &Interactions, pending: &Pending) -> Result<(), Failure> {
    let call = Call::patch(pending.original()).body(json!({ "components": [] }), &[]);
    interactions.rest.call(&interactions.credential, call.by_path_token()).await?;
    Ok(())
}

async fn follow_up(
    interactions: &Interactions,
    pending: &Pending,
    reply: &CommandReply,
    (text, files): (&str, &[OutboundFile]),
) -> Result<(), Failure> {
    let flags = if reply.ephemeral || pending.promised == Promised::Answer(Audience::Caller) { EPHEMERAL } else { 0 };
    let payload = json!({ "content": written(text), "flags": flags, "allowed_mentions": { "parse": [] } });
    let path = format!("/webhooks/{}/{}", pending.application, pending.token.expose_secret());
    interactions.rest.call(&interactions.credential, Call::post(path).body(payload, files).by_path_token()).await?;
    Ok(())
}
