use chrono::{DateTime, Utc};

use super::{Parts, Schedule};
use crate::chat::{ChatPlatform, IdentityState, IdentityStatus};
use crate::domain::ids::{ChannelId, PersonaSlug};
use crate::domain::meeting::{CalledBy, Meeting};
use crate::domain::message::{Channel, Place};
use crate::domain::outbound::{OutboundKind, OutboundMessage};
use crate::domain::schedule::{Job, JobAction};
use crate::store::{Fired, FiringEffect, NewFiring, Store, StoreError};

impl Schedule {
    /// Fires one instant of a job. None: only a process that is connected can tell which channel is meant, and this one is not, or not yet.
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
        let Parts { store, platform, coordinator, .. } = self.parts();
        let name = job.channel.as_deref().unwrap_or_default();
        Ok(match (find_channel(store, platform.as_deref(), name).await?, text) {
            (Some(channel), Some(text)) => Some(FiringEffect::Post(Box::new(self.post(&channel.id, text)))),
            (Some(channel), None) => Some(FiringEffect::CallStandup(Box::new(self.standup(job, channel)))),
            (None, _) if platform.as_deref().is_some_and(|platform| has_told_channels(platform, coordinator)) => {
                Some(FiringEffect::Refuse(format!("there is no channel {name}")))
            }
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
    let has_name = |channel: &Channel| channel.place == Place::Server && channel.name.eq_ignore_ascii_case(name);
    let is_meant = |channel: &Channel| channel.id.as_str() == name || has_name(channel);
    let seen = store.list_channels().await?;
    let mut seen = seen.into_iter().map(|seen| seen.channel);
    let Some(platform) = platform else {
        // The name is for showing; of a channel in which nothing was heard it is what it was asked for by.
        let is_id = !name.is_empty() && name.chars().all(|c| c.is_ascii_digit());
        let unseen = || is_id.then(|| Channel { id: name.into(), name: name.to_owned(), place: Place::Server });
        return Ok(seen.find(is_meant).or_else(unseen));
    };
    let mut told = platform.list_channels().into_iter().map(|(channel, _)| channel);
    // Of direct conversations and archived threads the platform does not tell at a login; a channel of the server that it did not tell of is gone.
    let untold = |channel: &Channel| channel.id.as_str() == name && channel.place != Place::Server;
    Ok(told.find(is_meant).or_else(|| seen.find(untold)))
}

/// Whether a channel that the platform has not told of is not there. What there is comes a moment after the login.
fn has_told_channels(platform: &dyn ChatPlatform, coordinator: &PersonaSlug) -> bool {
    let is_ready = |status: &IdentityStatus| status.persona == *coordinator && status.state == IdentityState::Ready;
    platform.identities().iter().any(is_ready) && !platform.list_channels().is_empty()
}
