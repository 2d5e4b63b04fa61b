use super::{Audience, Context, Outcome, take};
use crate::chat::command::{Command, ReportView};

/// The Day Reports: what came out of the standups.
#[expect(clippy::unused_async, reason = "poise calls it so; Discord offers only the sub-commands")]
#[poise::command(slash_command, subcommands("today", "show"), subcommand_required)]
pub(super) async fn report(_context: Context<'_>) -> Outcome {
    Ok(())
}

/// The Day Report of today.
#[poise::command(slash_command)]
async fn today(context: Context<'_>) -> Outcome {
    take(context, Command::Report(ReportView::Today), Audience::Caller).await
}

/// The Day Report of another day.
#[poise::command(slash_command)]
async fn show(
    context: Context<'_>,
    #[description = "Which day, such as 2026-03-31"]
    #[max_length = 20]
    date: String,
) -> Outcome {
    take(context, Command::Report(ReportView::Of { day: date }), Audience::Caller).await
}
