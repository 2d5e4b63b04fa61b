use std::sync::Arc;

use poise::serenity_prelude as serenity;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use tokio::time::Instant;

use super::{Audience, Counter};
use crate::chat::command::{CommandCall, CommandReply};
use crate::discord::rest::{Call, Failure};
use crate::domain::ids::ChannelId;

/// What Discord takes in one message, in characters.
const MESSAGE: usize = 2000;
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
}

/// Has the desk carry a command out and posts the answer.
pub(super) async fn carry_out(counter: &Arc<Counter>, question: Question, call: CommandCall, allowed: bool) {
    let reply = if allowed {
        let desk = Arc::clone(&counter.desk);
        // A task of its own, so that a panic in a command still ends in an answer.
        tokio::spawn(async move { desk.run(call).await }).await.unwrap_or_else(|_| fault())
    } else {
        CommandReply { text: "This team does not listen on this server.".to_owned(), ephemeral: true, error: true }
    };
    if let Err(failure) = post(counter, &question, &reply).await {
        tracing::warn!(channel = %question.channel, %failure, "the answer to a command could not be posted");
    }
}

fn fault() -> CommandReply {
    let text = "Something went wrong inside the team. It is in the log; please try again.".to_owned();
    CommandReply { text, ephemeral: true, error: true }
}

/// Follows up as long as the interaction lives, and says it as a normal message after that.
async fn post(counter: &Counter, question: &Question, reply: &CommandReply) -> Result<(), Failure> {
    for chunk in chunks(&reply.text) {
        let alive = question.asked.elapsed() < counter.timing.interaction;
        let followed = if alive { follow_up(counter, question, reply, chunk).await } else { Err(Failure::refused("its time is over")) };
        match followed {
            Ok(()) => {}
            // What only the caller was to see is not shown to everybody instead.
            Err(failure) if question.audience == Audience::Caller => return Err(failure),
            Err(Failure::Refused { .. }) => counter.rest.say(&counter.credential, &question.channel, chunk).await?,
            Err(failure) => return Err(failure),
        }
    }
    Ok(())
}

async fn follow_up(counter: &Counter, question: &Question, reply: &CommandReply, text: &str) -> Result<(), Failure> {
    let flags = if reply.ephemeral || question.audience == Audience::Caller { EPHEMERAL } else { 0 };
    let payload = json!({ "content": text, "flags": flags, "allowed_mentions": { "parse": [] } });
    let path = format!("/webhooks/{}/{}", question.application, question.token.expose_secret());
    counter.rest.call(&counter.credential, Call::post(path).body(payload, &[]).by_path_token()).await?;
    Ok(())
}

/// Pieces that Discord takes, cut at the end of a line where there is one. Answers to commands are lists of short lines; what is written by
/// models goes through the outbox and is split with more care.
fn chunks(text: &str) -> Vec<&str> {
    let mut rest = text.trim();
    let mut chunks = Vec::new();
    while let Some((limit, _)) = rest.char_indices().nth(MESSAGE) {
        let cut = rest[..limit].rfind('\n').filter(|cut| *cut > 0).unwrap_or(limit);
        let (chunk, after) = rest.split_at(cut);
        chunks.push(chunk);
        rest = after.trim_start_matches('\n');
    }
    if !rest.is_empty() {
        chunks.push(rest);
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_is_cut_at_line_ends_and_loses_nothing() {
        let line = "é".repeat(99);
        let text = vec![line.as_str(); 50].join("\n");
        let chunks = chunks(&text);
        assert_eq!(chunks.iter().map(|chunk| chunk.chars().count()).collect::<Vec<_>>(), [1999, 1999, 999]);
        assert_eq!(chunks.join("\n"), text);
    }

    #[test]
    fn a_text_without_lines_is_cut_where_it_must_be_and_nothing_makes_no_message() {
        let text = "x".repeat(4001);
        assert_eq!(chunks(&text).iter().map(|chunk| chunk.len()).collect::<Vec<_>>(), [2000, 2000, 1]);
        assert!(chunks(" \n ").is_empty());
    }
}
