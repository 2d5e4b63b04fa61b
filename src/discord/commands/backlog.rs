use poise::serenity_prelude as serenity;
use serenity::{AutocompleteChoice, CreateAutocompleteResponse};

use super::{Audience, Context, Outcome, persona_names, take};
use crate::chat::command::{BacklogCommand, Command};
use crate::domain::work::{ExecutionKind, ItemChanges, ItemDraft, Urgency};

/// What Discord offers to choose from.
#[derive(Debug, Clone, Copy, poise::ChoiceParameter)]
enum When {
    #[name = "now"]
    Now,
    #[name = "today"]
    Today,
    #[name = "this week"]
    ThisWeek,
    #[name = "some time"]
    Backlog,
}

impl From<When> for Urgency {
    fn from(when: When) -> Self {
        match when {
            When::Now => Self::Now,
            When::Today => Self::Today,
            When::ThisWeek => Self::ThisWeek,
            When::Backlog => Self::Backlog,
        }
    }
}

/// How it may be carried out. To watch takes terms that no option holds.
#[derive(Debug, Clone, Copy, poise::ChoiceParameter)]
enum Kind {
    #[name = "remind the owner"]
    Remind,
    #[name = "research"]
    Research,
    #[name = "write a document"]
    Write,
    #[name = "build files"]
    Build,
    #[name = "ask"]
    Ask,
}

impl From<Kind> for ExecutionKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Remind => Self::Remind,
            Kind::Research => Self::Research,
            Kind::Write => Self::Write,
            Kind::Build => Self::Build,
            Kind::Ask => Self::Ask,
        }
    }
}

#[derive(Debug, Clone, Copy, poise::ChoiceParameter)]
enum Status {
    #[name = "open"]
    Open,
    #[name = "new"]
    New,
    #[name = "ready"]
    Ready,
    #[name = "blocked"]
    Blocked,
    #[name = "in progress"]
    InProgress,
    #[name = "in review"]
    InReview,
    #[name = "waiting"]
    Waiting,
    #[name = "done"]
    Done,
    #[name = "failed"]
    Failed,
    #[name = "cancelled"]
    Cancelled,
    #[name = "all"]
    All,
}

/// What there is to be done, and what became of it.
#[expect(clippy::unused_async, reason = "poise calls it so; Discord offers only the sub-commands")]
#[poise::command(slash_command, subcommands("list", "show", "add", "run", "retry", "cancel", "edit"), subcommand_required)]
pub(super) async fn backlog(_context: Context<'_>) -> Outcome {
    Ok(())
}

/// The items of the backlog, the most urgent first.
#[poise::command(slash_command)]
async fn list(
    context: Context<'_>,
    #[description = "Only those that stand like this; the open ones by default"] status: Option<Status>,
    #[description = "Only those of a persona or a person"]
    #[autocomplete = "persona_names"]
    #[max_length = 100]
    owner: Option<String>,
) -> Outcome {
    use poise::ChoiceParameter as _;
    let status = status.map(|status| status.name().to_owned());
    take(context, Command::Backlog(BacklogCommand::List { status, owner }), Audience::Caller).await
}

/// Everything there is to know of an item.
#[poise::command(slash_command)]
async fn show(
    context: Context<'_>,
    #[description = "Which item: the last characters of its id"]
    #[autocomplete = "items"]
    #[max_length = 40]
    id: String,
) -> Outcome {
    take(context, Command::Backlog(BacklogCommand::Show { id }), Audience::Caller).await
}

/// Put something into the backlog.
#[poise::command(slash_command)]
async fn add(
    context: Context<'_>,
    #[description = "What is to be done; begin with a verb"]
    #[max_length = 160]
    what: String,
    #[description = "Who does it: a persona, a person of the team, or me; the coordinator by default"]
    #[autocomplete = "persona_names"]
    #[max_length = 100]
    owner: Option<String>,
    #[description = "How soon; some time by default"] urgency: Option<When>,
    #[description = "How to go about it"]
    #[max_length = 2000]
    how: Option<String>,
    #[description = "How it is carried out; by default that is found out"] kind: Option<Kind>,
) -> Outcome {
    let draft = ItemDraft {
        what,
        owner,
        how: how.unwrap_or_default(),
        urgency: urgency.map(Urgency::from),
        kind: kind.map(ExecutionKind::from),
        ..ItemDraft::default()
    };
    take(context, Command::Backlog(BacklogCommand::Add(draft)), Audience::Everybody).await
}

/// Do an item next.
#[poise::command(slash_command)]
async fn run(
    context: Context<'_>,
    #[description = "Which item: the last characters of its id"]
    #[autocomplete = "items"]
    #[max_length = 40]
    id: String,
) -> Outcome {
    take(context, Command::Backlog(BacklogCommand::Run { id }), Audience::Everybody).await
}

/// Try an item once more that failed, was cancelled or waits.
#[poise::command(slash_command)]
async fn retry(
    context: Context<'_>,
    #[description = "Which item: the last characters of its id"]
    #[autocomplete = "items"]
    #[max_length = 40]
    id: String,
) -> Outcome {
    take(context, Command::Backlog(BacklogCommand::Retry { id }), Audience::Everybody).await
}

/// End an item without a result; what needs it fails with it.
#[poise::command(slash_command)]
async fn cancel(
    context: Context<'_>,
    #[description = "Which item: the last characters of its id"]
    #[autocomplete = "items"]
    #[max_length = 40]
    id: String,
) -> Outcome {
    take(context, Command::Backlog(BacklogCommand::Cancel { id }), Audience::Everybody).await
}

/// Change what an item says.
#[poise::command(slash_command)]
async fn edit(
    context: Context<'_>,
    #[description = "Which item: the last characters of its id"]
    #[autocomplete = "items"]
    #[max_length = 40]
    id: String,
    #[description = "What is to be done; begin with a verb"]
    #[max_length = 160]
    what: Option<String>,
    #[description = "How to go about it"]
    #[max_length = 2000]
    how: Option<String>,
    #[description = "Why it is worth doing"]
    #[max_length = 2000]
    why: Option<String>,
    #[description = "Who does it: a persona, a person of the team, or me"]
    #[autocomplete = "persona_names"]
    #[max_length = 100]
    owner: Option<String>,
    #[description = "How soon"] urgency: Option<When>,
) -> Outcome {
    let changes = ItemChanges { what, how, why, owner, urgency: urgency.map(Urgency::from), criteria: None };
    take(context, Command::Backlog(BacklogCommand::Edit { id, changes }), Audience::Everybody).await
}

/// Items, for completion.
async fn items(context: Context<'_>, typed: &str) -> CreateAutocompleteResponse {
    let choices = context.data().desk.complete_item(typed).await.into_iter();
    CreateAutocompleteResponse::new().set_choices(choices.map(|choice| AutocompleteChoice::new(choice.label, choice.value)).collect())
}
