use super::{Audience, Context, Outcome, persona_names, take};
use crate::chat::command::Command;

/// Ask one persona and get its answer here.
#[poise::command(slash_command)]
pub(super) async fn ask(
    context: Context<'_>,
    #[description = "Whom to ask"]
    #[autocomplete = "persona_names"]
    #[max_length = 100]
    persona: String,
    #[description = "What to ask"]
    #[max_length = 4000]
    question: String,
) -> Outcome {
    take(context, Command::Ask { persona, question }, Audience::Everybody).await
}
