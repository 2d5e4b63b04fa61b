use super::{Audience, Context, Outcome, persona_names, take};
use crate::chat::command::Command;

/// The personas of the team.
#[expect(clippy::unused_async, reason = "poise calls it so; Discord offers only the sub-commands")]
#[poise::command(slash_command, subcommands("list", "show", "pause", "resume"), subcommand_required)]
pub(super) async fn team(_context: Context<'_>) -> Outcome {
    Ok(())
}

/// Who is on the team.
#[poise::command(slash_command)]
async fn list(context: Context<'_>) -> Outcome {
    take(context, Command::TeamList, Audience::Caller).await
}

/// One persona: what it does, with which model, and how it fares.
#[poise::command(slash_command)]
async fn show(
    context: Context<'_>,
    #[description = "Which persona"]
    #[autocomplete = "persona_names"]
    persona: String,
) -> Outcome {
    take(context, Command::TeamShow { persona }, Audience::Caller).await
}

/// Let a persona keep silent until it is resumed.
#[poise::command(slash_command)]
async fn pause(
    context: Context<'_>,
    #[description = "Which persona"]
    #[autocomplete = "persona_names"]
    persona: String,
) -> Outcome {
    take(context, Command::TeamPause { persona }, Audience::Caller).await
}

/// Let a paused persona speak again.
#[poise::command(slash_command)]
async fn resume(
    context: Context<'_>,
    #[description = "Which persona"]
    #[autocomplete = "persona_names"]
    persona: String,
) -> Outcome {
    take(context, Command::TeamResume { persona }, Audience::Caller).await
}
