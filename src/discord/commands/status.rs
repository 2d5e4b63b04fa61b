use super::{Audience, Context, Outcome, take};
use crate::chat::command::Command;

/// How the team fares: who is online, what waits, what was blocked.
#[poise::command(slash_command)]
pub(super) async fn status(context: Context<'_>) -> Outcome {
    take(context, Command::Status, Audience::Caller).await
}
