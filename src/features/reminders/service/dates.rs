//! Asks once how a person writes dates in digits, and keeps the answer.

use crate::features::reminders::button::DateButton;
use crate::features::reminders::render::render_set;
use crate::features::reminders::request::{Request, parse_request};
use crate::features::reminders::service::{Asker, Reminders, Result, refused, reminder_id};
use kernel::commands::CommandReply;
use kernel::text::without_invisible;
use kernel::when;

impl Reminders {
    /// Keeps the answer and sets the reminder of the message that was asked about. The message is read again, because the button may be days old.
    pub(in crate::features::reminders) async fn answer_date(&self, button: &DateButton, asker: &Asker) -> Result<CommandReply> {
        let gone = || refused("That message is not there any more. Please ask again.");
        let set_already = || CommandReply::refused("This reminder is set already.").retiring_buttons();
        let message = self.store().find_message(&button.message).await?.ok_or_else(gone)?.message;
        if asker.id() != Some(&message.author.id) {
            return Err(refused("Only the person who asked for the reminder can answer this."));
        }
        let id = reminder_id(&message.id, "");
        if self.store().find_reminder(&id).await?.is_some() {
            return Ok(set_already());
        }
        let says = when::Asker { dates: Some(button.order), ..self.asker_of(Some(&message.author.id)).await? };
        let request: Request = parse_request(&without_invisible(&message.text), &says, &self.persona_names()).ok_or_else(gone)?;
        // The persona that was asked confirms and tells. The coordinator does so if that persona has left the team.
        let named = button.persona.as_ref().and_then(|persona| self.roster().find(persona));
        let persona = &named.unwrap_or_else(|| self.roster().coordinator()).slug;
        let (mut reminder, reading) = self.draft_request(request, says.zone, &message, persona).await?;
        reminder.id = id;
        // Somebody may have pressed twice.
        if !self.store().add_reminder_and_order(&reminder, (&message.author.id, button.order), self.now()).await? {
            return Ok(set_already());
        }
        let text = render_set(&reminder, &reading, asker.id(), self.now());
        Ok(CommandReply::public(text).retiring_buttons())
    }
}
