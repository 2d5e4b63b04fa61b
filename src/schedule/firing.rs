use chrono::{DateTime, Utc};

use super::{Parts, Schedule};
use crate::chat::ChatPlatform;
use crate::domain::ids::ChannelId;
use crate::domain::meeting::{CalledBy, Meeting};
use crate::domain::message::{Channel, Place};
use crate::domain::outbound::{OutboundKind, OutboundMessage};
use crate::domain::schedule::{Job, JobAction};
use crate::store::{Fired, FiringEffect, NewFiring, Store, StoreError};

impl Schedule {
    /// Fires one instant of a job. None: only a process that is connected can tell which channel is meant, and this one is not.
    pub(super) async fn fire(
        &self,
        job: &Job,
        instant: DateTime<Utc>,
        passed_over: u64,
        now: DateTime<Utc>,
    ) -> Result<Option<Fired>, StoreError> {
        let Some(effect) = self.effect_of(job).await? else { return Ok(None) };
        let firing = NewFiring { job: job.name.clone(), instant, action: job.action.clone(), passed_over };
        let fired = self.parts().store.fire(&firing, &effect, now).await?;
        match &fired {
            Fired::Now => {
                tracing::info!(job = %job.name, %instant, late_s = (now - instant).num_seconds(), passed_over, "a job fired");
                self.parts().wake.notify_one();
            }
            Fired::Refused(reason) => tracing::warn!(job = %job.name, %instant, reason, "a job fired and could not be done"),
            Fired::Before => tracing::debug!(job = %job.name, %instant, "another has fired this"),
        }
        Ok(Some(fired))
    }

    async fn effect_of(&self, job: &Job) -> Result<Option<FiringEffect>, StoreError> {
        let text = match &job.action {
            JobAction::SettlePredictions | JobAction::Health => return Ok(Some(FiringEffect::Wake)),
            JobAction::Standup => None,
            JobAction::Post { text } => Some(text),
        };
        let Parts { store, platform, .. } = self.parts();
        let name = job.channel.as_deref().unwrap_or_default();
        Ok(match (find_channel(store, platform.as_deref(), name).await?, text) {
            (Some(channel), Some(text)) => Some(FiringEffect::Post(Box::new(self.post(&channel.id, text)))),
            (Some(channel), None) => Some(FiringEffect::CallStandup(Box::new(self.standup(job, channel)))),
            (None, _) if platform.is_some() => Some(FiringEffect::Refuse(format!("there is no channel {name}"))),
            (None, _) => None,
        })
    }

    fn standup(&self, job: &Job, channel: Channel) -> Meeting {
        let by = CalledBy::Schedule { job: job.name.to_string() };
        self.parts().standup.call(channel, by, self.parts().clock.now())
    }

    fn post(&self, channel: &ChannelId, text: &str) -> OutboundMessage {
        OutboundMessage::new(&self.parts().coordinator, channel, OutboundKind::Answer, text)
    }
}

/// A channel by its id or name. Without a platform an id is taken as it is, and names are those of channels that the team has seen.
///
/// # Errors
/// The store does not answer.
pub async fn find_channel(store: &Store, platform: Option<&dyn ChatPlatform>, name: &str) -> Result<Option<Channel>, StoreError> {
    let seen = store.list_channels().await?;
    let mut known = seen.into_iter().map(|seen| seen.channel);
    let is_id = !name.is_empty() && name.chars().all(|c| c.is_ascii_digit());
    let id = match platform {
        Some(platform) => platform.find_channel(name).await,
        None if is_id => Some(name.into()),
        None => return Ok(known.find(|channel| channel.name.eq_ignore_ascii_case(name))),
    };
    let Some(id) = id else { return Ok(None) };
    // The name is for showing; of a channel in which nothing was heard it is what it was asked for by.
    let found = known.find(|channel| channel.id == id);
    Ok(Some(found.unwrap_or_else(|| Channel { id, name: name.to_owned(), place: Place::Server })))
}
