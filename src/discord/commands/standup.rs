use super::{Audience, Context, Outcome, persona_names, take};
use crate::chat::command::{Command, StandupCommand};

/// The standup of this channel.
#[expect(clippy::unused_async, reason = "poise calls it so; Discord offers only the sub-commands")]
#[poise::command(slash_command, subcommands("start", "status", "skip", "wrap", "cancel"), subcommand_required)]
pub(super) async fn standup(_context: Context<'_>) -> Outcome {
    Ok(())
}

/// Begin a standup here and now.
#[poise::command(slash_command)]
async fn start(context: Context<'_>) -> Outcome {
    take(context, Command::Standup(StandupCommand::Start), Audience::Caller).await
}

/// Who has spoken, who comes next, and how long it has run.
#[poise::command(slash_command)]
async fn status(context: Context<'_>) -> Outcome {
    take(context, Command::Standup(StandupCommand::Status), Audience::Caller).await
}

/// Pass over somebody who has not spoken yet.
#[poise::command(slash_command)]
async fn skip(
    context: Context<'_>,
    #[description = "Whom: a persona, or a person who takes part"]
    #[autocomplete = "persona_names"]
    #[max_length = 100]
    persona: String,
) -> Outcome {
    take(context, Command::Standup(StandupCommand::Skip { who: persona }), Audience::Everybody).await
}

/// Come to the end: pass over everybody left and write the Day Report.
#[poise::command(slash_command)]
async fn wrap(context: Context<'_>) -> Outcome {
    take(context, Command::Standup(StandupCommand::Wrap), Audience::Everybody).await
}

/// Stop the standup without a Day Report.
#[poise::command(slash_command)]
async fn cancel(context: Context<'_>) -> Outcome {
    take(context, Command::Standup(StandupCommand::Cancel), Audience::Caller).await
}
