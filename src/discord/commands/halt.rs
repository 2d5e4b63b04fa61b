use super::{Audience, Context, Outcome, take};
use crate::chat::command::Command;

/// Stop everything the team is doing.
#[poise::command(slash_command)]
pub(super) async fn halt(context: Context<'_>) -> Outcome {
    take(context, Command::Halt, Audience::Everybody).await
}
