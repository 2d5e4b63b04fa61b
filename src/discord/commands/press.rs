use std::sync::Arc;

use poise::serenity_prelude as serenity;
use serenity::{ComponentInteraction, ComponentInteractionDataKind};

use super::answer::Question;
use super::{Counter, caller, kind_of};
use crate::chat::command::Command;

/// Acknowledges a press and has it carried out. Nothing is known of the button but its id, so that buttons of earlier runs work too.
///
/// The acknowledgement promises a change of the message and shows nothing. The other kind, a "thinking" that only the presser sees, would be
/// the message that the interaction may change, in place of the one that bears the button.
pub(crate) async fn press(counter: &Arc<Counter>, context: &serenity::Context, pressed: &ComponentInteraction) {
    // Nothing of the team's bears a select.
    let ComponentInteractionDataKind::Button = pressed.data.kind else { return };
    let question = Question::of_press(pressed);
    if let Err(error) = pressed.defer(&context.http).await {
        // Not the error itself: it shows the token of the interaction.
        tracing::warn!(button = pressed.data.custom_id, kind = kind_of(&error), "a press could not be acknowledged");
    }
    let command = Command::Press { button: pressed.data.custom_id.clone() };
    let caller = caller(&pressed.user, pressed.member.as_ref());
    Arc::clone(counter).hand_over(question, command, caller, pressed.guild_id, pressed.channel_id);
}
