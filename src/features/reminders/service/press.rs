//! Carries out a pressed button.

use chrono::TimeDelta;

use crate::features::reminders::button::{Choice, RemindButton};
use crate::features::reminders::render::{name, render_cancelled, render_done, render_settled, render_snoozed};
use crate::features::reminders::service::{Asker, Reminders, Result};
use kernel::commands::CommandReply;
use kernel::ids::ReminderId;

impl Reminders {
    /// Reads everything again, because the button may be days old or already pressed by somebody else.
    pub(in crate::features::reminders) async fn press(&self, button: &RemindButton, asker: &Asker) -> Result<CommandReply> {
        let Some(reminder) = self.store().find_reminder(&button.reminder).await? else {
            return Ok(CommandReply::refused("This reminder is not there any more.").retiring_buttons());
        };
        asker.check(&reminder)?;
        let (now, is_over, round) = (self.now(), reminder.state.is_over(), reminder.round);
        let until = match button.choice {
            Choice::Hour => now + TimeDelta::hours(1),
            _ => Self::parse_instant("tomorrow", &self.asker_of(asker.id()).await?)?,
        };
        let changed = match button.choice {
            Choice::Cancel => self.change(reminder, |reminder| reminder.cancelled().ok()).await?,
            _ if is_over => Err(reminder),
            // The other times of a repeated reminder stay as they are.
            Choice::Done if reminder.goes_on() => Ok(reminder),
            Choice::Hour | Choice::Tomorrow if reminder.goes_on() => {
                let again = reminder.once_more(ReminderId::generate(), until);
                let added = self.store().add_reminder_again(&again, &format!("{}:{}", reminder.id, button.round), now).await?;
                if !added {
                    return Ok(CommandReply::refused("This reminder was snoozed already.").retiring_buttons());
                }
                Ok(again)
            }
            _ if round != button.round => Err(reminder),
            Choice::Done => self.change_round(reminder, button.round, |reminder| reminder.done().ok()).await?,
            Choice::Hour | Choice::Tomorrow => self.change_round(reminder, button.round, |reminder| reminder.snoozed(until).ok()).await?,
        };
        let reader = asker.id();
        Ok(match changed {
            Ok(reminder) => {
                let told = match button.choice {
                    Choice::Done => render_done(&reminder, now),
                    Choice::Cancel => render_cancelled(&reminder, reader),
                    Choice::Hour | Choice::Tomorrow => render_snoozed(&reminder, reader, now),
                };
                match &asker.person {
                    // The person whom it is for sees what became of it.
                    Some(person) if person.id != reminder.whom.id => {
                        CommandReply::public(format!("{} pressed the button. {told}", name(person)))
                    }
                    _ => CommandReply::private(told),
                }
            }
            Err(reminder) => CommandReply::refused(render_settled(&reminder, now)),
        }
        .retiring_buttons())
    }
}
