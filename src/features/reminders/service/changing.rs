//! Which reminders there are, which one somebody means, and how it is moved or cancelled.

use chrono::{DateTime, Utc};

use crate::features::reminders::model::{Reminder, ReminderState};
use crate::features::reminders::render::{render_settled, what};
use crate::features::reminders::service::{Asker, Reminders, Result, refused};
use kernel::chat::medium::Medium;
use kernel::ids::{ChannelId, ReminderId};

/// The most reminders that a question back lists, and the most characters of what was asked for.
const NAMED: usize = 5;
const ASKED: usize = 60;

impl Reminders {
    /// Those that wait in a channel, or in all of them.
    pub(in crate::features::reminders) async fn list(&self, channel: Option<&ChannelId>) -> Result<Vec<Reminder>> {
        let mut open = self.list_open(channel).await?;
        open.retain(|reminder| reminder.state == ReminderState::Waiting);
        Ok(open)
    }

    /// Those that are not over. Private ones are shown nowhere but where they belong, so not to the command line.
    async fn list_open(&self, channel: Option<&ChannelId>) -> Result<Vec<Reminder>> {
        let mut open = self.store().list_open_reminders(channel).await?;
        open.retain(|reminder| !reminder.private || channel.is_some());
        Ok(open)
    }

    /// Has a reminder told at `until` instead, or once more.
    pub(in crate::features::reminders) async fn snooze(&self, named: &str, until: DateTime<Utc>, asker: &Asker) -> Result<Reminder> {
        let reminder = self.get(named, asker).await?;
        if reminder.repeat.is_some() {
            let again = reminder.once_more(ReminderId::generate(), until);
            self.store().add_reminder(&again, self.now()).await?;
            return Ok(again);
        }
        self.change(reminder, |reminder| reminder.snoozed(until).ok()).await?.map_err(|over| refused(render_settled(&over, self.now())))
    }

    pub(in crate::features::reminders) async fn cancel(&self, named: &str, asker: &Asker) -> Result<Reminder> {
        let reminder = self.get(named, asker).await?;
        self.change(reminder, |reminder| reminder.cancelled().ok()).await?.map_err(|over| refused(render_settled(&over, self.now())))
    }

    /// The reminder that somebody means, by the end of its id or by words of it, where it belongs and if they may change it.
    async fn get(&self, named: &str, asker: &Asker) -> Result<Reminder> {
        let wanted = named.trim().trim_start_matches('#').to_lowercase();
        let open = self.list_open(asker.channel.as_ref()).await?;
        let find = |is_meant: &dyn Fn(&Reminder) -> bool| open.iter().filter(|reminder| is_meant(reminder)).cloned().collect::<Vec<_>>();
        let mut found = find(&|reminder| reminder.short_id() == wanted);
        if found.is_empty() && !wanted.is_empty() {
            found = find(&|reminder| reminder.what.to_lowercase().contains(&wanted));
        }
        match found.len() {
            0 => Err(refused(format!(
                "There is no open reminder \"{}\" here. `/remind list` shows those there are.",
                Medium::Chat.line_within(named, ASKED)
            ))),
            1 => {
                let reminder = found.remove(0);
                asker.check(&reminder)?;
                Ok(reminder)
            }
            _ => {
                let named: Vec<_> =
                    found.iter().take(NAMED).map(|reminder| format!("`{}` ({})", reminder.short_id(), what(reminder))).collect();
                Err(refused(format!("Several reminders match. Give the id of one: {}.", named.join(", "))))
            }
        }
    }

    /// Changes a reminder, again if somebody else changed it meanwhile. The reminder as it is where the change cannot be made (any more).
    pub(super) async fn change(
        &self,
        reminder: Reminder,
        change: impl Fn(Reminder) -> Option<Reminder>,
    ) -> Result<Result<Reminder, Reminder>> {
        let mut current = reminder;
        loop {
            let Some(changed) = change(current.clone()) else { return Ok(Err(current)) };
            if self.store().change_reminder(&current, &changed, self.now()).await? {
                return Ok(Ok(changed));
            }
            match self.store().find_reminder(&current.id).await? {
                Some(again) => current = again,
                None => return Err(refused("This reminder is not there any more.")),
            }
        }
    }

    /// The same for one round.
    pub(super) async fn change_round(
        &self,
        reminder: Reminder,
        round: i64,
        change: impl Fn(Reminder) -> Option<Reminder>,
    ) -> Result<Result<Reminder, Reminder>> {
        self.change(reminder, |reminder| if reminder.round == round { change(reminder) } else { None }).await
    }
}
