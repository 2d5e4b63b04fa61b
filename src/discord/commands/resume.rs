use super::{Audience, Context, Outcome, take};
use crate::chat::command::Command;

/// Let the team go on after a halt.
#[poise::command(slash_command)]
pub(super) async fn resume(context: Context<'_>) -> Outcome {
    take(context, Command::Resume, Audience::Everybody).await
}
