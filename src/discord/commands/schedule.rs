use poise::serenity_prelude as serenity;
use serenity::CreateAutocompleteResponse;

use super::{Audience, Context, Outcome, choices, take};
use crate::chat::command::{Command, ScheduleCommand};
use crate::domain::schedule::{JobDraft, MissedRuns};

/// What Discord offers to choose from.
#[derive(Debug, Clone, Copy, poise::ChoiceParameter)]
enum Missed {
    #[name = "skip them"]
    Skip,
    #[name = "make up for the latest"]
    Once,
    #[name = "make up for all"]
    All,
}

/// What happens by the clock.
#[expect(clippy::unused_async, reason = "poise calls it so; Discord offers only the sub-commands")]
#[poise::command(slash_command, subcommands("list", "add", "pause", "resume", "remove", "run"), subcommand_required)]
pub(super) async fn schedule(_context: Context<'_>) -> Outcome {
    Ok(())
}

/// Which jobs there are, when they come next and how they went last.
#[poise::command(slash_command)]
async fn list(context: Context<'_>) -> Outcome {
    take(context, Command::Schedule(ScheduleCommand::List), Audience::Caller).await
}

/// Add a job.
#[poise::command(slash_command)]
async fn add(
    context: Context<'_>,
    #[description = "Its name: lower-case letters, digits, hyphens"]
    #[max_length = 40]
    name: String,
    #[description = "When, as cron has it: minute hour day month weekday, such as 0 9 * * 1-5"]
    #[max_length = 100]
    cron: String,
    #[description = "standup, settle-predictions, health, or post: and what I shall say"]
    #[max_length = 2000]
    action: String,
    #[description = "The time zone, such as Europe/Berlin; the team's by default"]
    #[max_length = 50]
    zone: Option<String>,
    #[description = "The channel by name; this one by default"]
    #[max_length = 100]
    channel: Option<String>,
    #[description = "What to do about runs that were missed; by default the latest is made up for"] missed: Option<Missed>,
) -> Outcome {
    let missed = missed.map(|missed| match missed {
        Missed::Skip => MissedRuns::Skip,
        Missed::Once => MissedRuns::Once,
        Missed::All => MissedRuns::All,
    });
    let draft = JobDraft { name, cron, zone, action, channel, missed, deadline: None };
    take(context, Command::Schedule(ScheduleCommand::Add(draft)), Audience::Everybody).await
}

/// Let a job rest until it is resumed.
#[poise::command(slash_command)]
async fn pause(
    context: Context<'_>,
    #[description = "Which job"]
    #[autocomplete = "job_names"]
    name: String,
) -> Outcome {
    take(context, Command::Schedule(ScheduleCommand::Pause { name }), Audience::Everybody).await
}

/// Let a paused job come again.
#[poise::command(slash_command)]
async fn resume(
    context: Context<'_>,
    #[description = "Which job"]
    #[autocomplete = "job_names"]
    name: String,
) -> Outcome {
    take(context, Command::Schedule(ScheduleCommand::Resume { name }), Audience::Everybody).await
}

/// Remove a job that was added here or at the terminal.
#[poise::command(slash_command)]
async fn remove(
    context: Context<'_>,
    #[description = "Which job"]
    #[autocomplete = "job_names"]
    name: String,
) -> Outcome {
    take(context, Command::Schedule(ScheduleCommand::Remove { name }), Audience::Everybody).await
}

/// Do a job now, whatever its times are.
#[poise::command(slash_command)]
async fn run(
    context: Context<'_>,
    #[description = "Which job"]
    #[autocomplete = "job_names"]
    name: String,
) -> Outcome {
    take(context, Command::Schedule(ScheduleCommand::Run { name }), Audience::Everybody).await
}

/// Names of jobs, for completion.
async fn job_names(context: Context<'_>, typed: &str) -> CreateAutocompleteResponse {
    choices(context.data().desk.complete_job(typed).await)
}
