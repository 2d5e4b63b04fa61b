//! Lists reminders, finds the one that somebody means, and snoozes or cancels it.

use chrono::{DateTime, TimeDelta, Utc};

use crate::features::reminders::button::RemindButton;
use crate::features::reminders::model::{Reminder, ReminderState};
use crate::features::reminders::render::{render_settled, what};
use crate::features::reminders::service::{Asker, Reminders, Result, refused};
use kernel::chat::medium::Medium;
use kernel::ids::{ChannelId, ReminderId};

/// The most reminders that a question to the person lists, and the most characters of the person's words in it.
const NAMED: usize = 5;
const ASKED: usize = 60;

/// How long a reminder that reached nobody is listed, and how many lost messages are looked at.
const LOST_FOR: TimeDelta = TimeDelta::days(7);
const LOST: u32 = 100;

impl Reminders {
    /// The waiting reminders of where somebody asks.
    pub(in crate::features::reminders) async fn list(&self, asker: &Asker) -> Result<Vec<Reminder>> {
        let mut open = self.list_open(&asker.here).await?;
        open.retain(|reminder| reminder.state == ReminderState::Waiting);
        Ok(open)
    }

    /// Reminders whose time came lately and that reached nobody, each with the reason.
    pub(in crate::features::reminders) async fn list_undelivered(&self, asker: &Asker) -> Result<Vec<(Reminder, String)>> {
        let lost = self.store().list_lost(self.now() - LOST_FOR, LOST).await?;
        let lost: Vec<(RemindButton, String)> = lost
            .into_iter()
            .filter_map(|lost| Some((lost.message.buttons.iter().find_map(|button| RemindButton::parse(&button.id))?, lost.why)))
            .collect();
        if lost.is_empty() {
            return Ok(Vec::new());
        }
        let open = self.list_open(&asker.here).await?;
        let why = |reminder: &Reminder| lost.iter().find(|(button, _)| is_of(button, reminder)).map(|(_, why)| why.clone());
        Ok(open.into_iter().filter_map(|reminder| why(&reminder).map(|why| (reminder, why))).collect())
    }

    /// The reminders that are not over. Private ones are shown only in their own conversation, so not at the command line.
    async fn list_open(&self, here: &[ChannelId]) -> Result<Vec<Reminder>> {
        let mut open = self.store().list_open_reminders(here).await?;
        open.retain(|reminder| !reminder.private || !here.is_empty());
        Ok(open)
    }

    /// Moves a reminder to `until`. A repeated one gets a copy for this time instead.
    pub(in crate::features::reminders) async fn snooze(&self, named: &str, until: DateTime<Utc>, asker: &Asker) -> Result<Reminder> {
        let reminder = self.get(named, asker).await?;
        if reminder.goes_on() {
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

    /// Finds the reminder that somebody means by the end of its id or by words of its text, in its channel, if they may change it.
    async fn get(&self, named: &str, asker: &Asker) -> Result<Reminder> {
        let wanted = named.trim().trim_start_matches('#').to_lowercase();
        let open = self.list_open(&asker.here).await?;
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

    /// Changes a reminder, and tries again if somebody else changed it meanwhile. Returns the current reminder as an error if it does not allow the
    /// change.
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

    /// Like [`Self::change`], but only in this round.
    pub(super) async fn change_round(
        &self,
        reminder: Reminder,
        round: i64,
        change: impl Fn(Reminder) -> Option<Reminder>,
    ) -> Result<Result<Reminder, Reminder>> {
        self.change(reminder, |reminder| if reminder.round == round { change(reminder) } else { None }).await
    }
}

/// Whether the button is of the last time at which the reminder was told. A repeated one waits for its next time already.
fn is_of(button: &RemindButton, reminder: &Reminder) -> bool {
    let told = if reminder.state == ReminderState::Told { reminder.round } else { reminder.round - 1 };
    button.reminder == reminder.id && button.round == told
}
