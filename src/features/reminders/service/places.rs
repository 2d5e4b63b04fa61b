//! Where a reminder goes if its own place is gone, or takes no messages of the team any more.

use chrono::{DateTime, Utc};

use crate::features::reminders::model::Reminder;
use crate::features::reminders::render::{render_detour, render_parked, render_returned};
use crate::features::reminders::service::Reminders;
use kernel::chat::medium::Medium;
use kernel::chat::message::{Channel, Place};
use kernel::chat::outbound::OutboundMessage;
use kernel::chat::store::{find_channel, find_channel_called};
use kernel::db::{StoreError, Transaction};
use kernel::ids::ChannelId;

/// Maximum length of the name of a channel or thread.
const NAME: usize = 50;

impl Reminders {
    /// The messages that are sent one after the other until one gets through: to the channel of the thread, to the person, to the one who asked for the
    /// reminder, to a channel in which the team posts by itself. Only people who could read the reminder in its place read its text.
    pub(in crate::features::reminders) async fn list_other_places(
        &self,
        transaction: &mut Transaction,
        reminder: &Reminder,
        now: DateTime<Utc>,
    ) -> Result<Vec<OutboundMessage>, StoreError> {
        let speaker = self.speaker_of(reminder);
        let place = find_channel(transaction, &reminder.channel).await?;
        let gone = name_place(reminder, place.as_ref());
        let mut others = Vec::new();
        if let Some(Channel { place: Place::Thread { parent, .. }, private: false, .. }) = &place {
            others.push(render_detour(reminder, speaker, Some(parent), &gone, now));
        }
        others.push(render_detour(reminder, speaker, None, &gone, now));
        if let Some(by) = reminder.by.as_ref().filter(|by| by.id != reminder.whom.id) {
            others.push(render_returned(reminder, speaker, by, &gone));
        }
        if let Some(channel) = self.find_default_channel(transaction, &reminder.channel).await? {
            others.push(render_parked(reminder, speaker, &channel, &gone));
        }
        Ok(others)
    }

    async fn find_default_channel(&self, transaction: &mut Transaction, other_than: &ChannelId) -> Result<Option<ChannelId>, StoreError> {
        for written in &self.deps.channels {
            if let Some(found) = find_channel_called(transaction, written).await?.filter(|found| found.id != *other_than) {
                return Ok(Some(found.id));
            }
        }
        Ok(None)
    }
}

/// "#plan", or in words if its name is not known.
fn name_place(reminder: &Reminder, place: Option<&Channel>) -> String {
    let line = |name: &str| Medium::Chat.line_within(name, NAME);
    match place {
        _ if reminder.private => "our direct conversation".to_owned(),
        Some(Channel { place: Place::Thread { parent_name, .. }, name, .. }) => {
            format!("the thread \"{}\" of #{}", line(name), line(parent_name))
        }
        Some(channel) if !channel.name.is_empty() => format!("#{}", line(&channel.name)),
        _ => "its channel".to_owned(),
    }
}
