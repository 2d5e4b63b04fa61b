use super::{Audience, Context, Outcome, take};
use crate::chat::command::{Command, CostSpan};

/// What Discord offers to choose from.
#[derive(Debug, Clone, Copy, poise::ChoiceParameter)]
enum Since {
    #[name = "today"]
    Today,
    #[name = "this week"]
    Week,
    #[name = "this month"]
    Month,
}

/// What the models have cost.
#[poise::command(slash_command)]
pub(super) async fn costs(
    context: Context<'_>,
    #[description = "How far back; today by default"] since: Option<Since>,
    #[description = "Raise today's budget by dollars"]
    #[min = 0.01]
    #[max = 1000]
    raise: Option<f64>,
) -> Outcome {
    if let Some(dollars) = raise {
        return take(context, Command::Raise { dollars }, Audience::Everybody).await;
    }
    let span = match since.unwrap_or(Since::Today) {
        Since::Today => CostSpan::Today,
        Since::Week => CostSpan::Week,
        Since::Month => CostSpan::Month,
    };
    take(context, Command::Costs { span }, Audience::Caller).await
}
