use super::{Audience, Context, Outcome, take};
use crate::chat::command::{Command, PredictionsView};

/// The calls made in standups, and how they turned out.
#[expect(clippy::unused_async, reason = "poise calls it so; Discord offers only the sub-commands")]
#[poise::command(slash_command, subcommands("list", "score"), subcommand_required)]
pub(super) async fn predictions(_context: Context<'_>) -> Outcome {
    Ok(())
}

/// The latest calls: which are open, which came true.
#[poise::command(slash_command)]
async fn list(context: Context<'_>) -> Outcome {
    take(context, Command::Predictions(PredictionsView::List), Audience::Caller).await
}

/// How good the calls are: hits, misses, accuracy.
#[poise::command(slash_command)]
async fn score(context: Context<'_>) -> Outcome {
    take(context, Command::Predictions(PredictionsView::Score), Audience::Caller).await
}
