use super::{Audience, Context, Outcome, take};
use crate::chat::command::Command;

/// What the team can do and how to talk to it.
#[poise::command(slash_command)]
pub(super) async fn help(context: Context<'_>) -> Outcome {
    take(context, Command::Help, Audience::Caller).await
}
