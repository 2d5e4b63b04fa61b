use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use serenity::all as serenity;
use tokio::time::Instant;

use crate::adapters::discord::commands::Interactions;
use crate::adapters::discord::ids::from_discord;
use crate::adapters::discord::markup::{TEXT, written};
use crate::adapters::discord::rest::{Call, Failure};
use kernel::chat::outbound::{OutboundFile, OutboundKind, OutboundMessage};
use kernel::commands::{Audience, CommandReply, CommandRequest};
use kernel::ids::{ChannelId, UserId};

/// The message flag for "only visible to the caller".
pub(super) const EPHEMERAL: u64 = 64;

/// An interaction that is not answered yet.
pub(super) struct Pending {
    application: serenity::ApplicationId,
    token: SecretString,
    asked: Instant,
    channel: ChannelId,
    person: UserId,
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
            person: from_discord(interaction.user.id),
            promised: Promised::Answer(audience),
        }
    }

    pub(super) fn of_press(interaction: &serenity::ComponentInteraction) -> Self {
        Self {
            application: interaction.application_id,
            token: interaction.token.clone().into(),
            asked: Instant::now(),
            channel: from_discord(interaction.channel_id),
            person: from_discord(interaction.user.id),
            promised: Promised::Nothing,
        }
    }

    /// Whether the reply must stay private. A public reply may be posted as a normal message once the interaction has expired.
    fn is_private(&self, reply: &CommandReply) -> bool {
        match self.promised {
            Promised::Answer(audience) => audience == Audience::Caller || reply.ephemeral,
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

/// Posts through the interaction while it is valid, and a normal message after that.
async fn post(interactions: &Interactions, pending: &Pending, reply: &CommandReply) -> Result<(), Failure> {
    let changes_audience = reply.ephemeral && pending.promised == Promised::Answer(Audience::Everybody);
    if changes_audience {
        // If this fails, the "thinking …" message disappears by itself once the interaction is over.
        if let Err(failure) = retract(interactions, pending).await {
            tracing::debug!(channel = %pending.channel, %failure, "the sign of thinking could not be taken away");
        }
    }
    let OutboundMessage { text, files, .. } = screen(interactions, pending, reply);
    let chunks = TEXT.split(&TEXT.lay_out(text.trim()));
    for (index, chunk) in chunks.iter().enumerate() {
        let files = if index + 1 == chunks.len() { files.as_slice() } else { &[] };
        let fills_in = index == 0 && pending.promised != Promised::Nothing && !changes_audience;
        let posted = if fills_in {
            fill_in(interactions, pending, (chunk, files)).await
        } else {
            follow_up(interactions, pending, reply, (chunk, files)).await
        };
        match posted {
            Ok(()) => {}
            // A private answer is never posted publicly.
            Err(Failure::Refused { .. }) if pending.is_private(reply) => {
                let direct = interactions.rest.open_direct(&interactions.credential, &pending.person).await?;
                interactions.rest.say(&interactions.credential, &from_discord(direct.id), chunk, files).await?;
            }
            Err(Failure::Refused { .. }) => interactions.rest.say(&interactions.credential, &pending.channel, chunk, files).await?,
            Err(failure) => return Err(failure),
        }
    }
    Ok(())
}

/// The answer as it may be posted: without secrets, and as a file if it is long.
fn screen(interactions: &Interactions, pending: &Pending, reply: &CommandReply) -> OutboundMessage {
    let persona = &interactions.credential.persona;
    let mut message = OutboundMessage::new(persona, &pending.channel, OutboundKind::Notice, &reply.text);
    message.files.clone_from(&reply.files);
    let redacted = interactions.redactor.redact_message(&mut message);
    if redacted > 0 {
        metrics::counter!("teamroom_redactions_total").increment(redacted as u64);
        tracing::warn!(%persona, redacted, "secrets were taken out of the answer to a command");
    }
    if message.text.chars().count() > interactions.attach_over {
        message.fit(&TEXT);
    }
    message
}

/// Replaces "thinking …". An edit can be repeated without a second message, so this is tried until the interaction is over.
async fn fill_in(interactions: &Interactions, pending: &Pending, (text, files): (&str, &[OutboundFile])) -> Result<(), Failure> {
    let timing = &interactions.timing;
    let payload = json!({ "content": written(text), "allowed_mentions": { "parse": [] } });
    let mut pause = timing.first_pause;
    while pending.asked.elapsed() < timing.interaction {
        let call = Call::patch(pending.original()).body(payload.clone(), files).by_path_token();
        match interactions.rest.call(&interactions.credential, call).await {
            Ok(_) => return Ok(()),
            Err(Failure::Unreachable(reason)) => {
                tracing::debug!(reason, "the answer to a command is posted again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(timing.longest_pause);
            }
            Err(Failure::RateLimited(wait)) => tokio::time::sleep(wait).await,
            Err(failure) => return Err(failure),
        }
    }
    Err(Failure::refused("its time is over"))
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

/// Posts a further message. It is not repeated when no answer came, because it may have been posted.
async fn follow_up(
    interactions: &Interactions,
    pending: &Pending,
    reply: &CommandReply,
    (text, files): (&str, &[OutboundFile]),
) -> Result<(), Failure> {
    let flags = if reply.ephemeral || pending.promised == Promised::Answer(Audience::Caller) { EPHEMERAL } else { 0 };
    let payload = json!({ "content": written(text), "flags": flags, "allowed_mentions": { "parse": [] } });
    let path = format!("/webhooks/{}/{}", pending.application, pending.token.expose_secret());
    while pending.asked.elapsed() < interactions.timing.interaction {
        let call = Call::post(path.clone()).body(payload.clone(), files).by_path_token();
        match interactions.rest.call(&interactions.credential, call).await {
            Err(Failure::RateLimited(wait)) => tokio::time::sleep(wait).await,
            posted => return posted.map(drop),
        }
    }
    Err(Failure::refused("its time is over"))
}
