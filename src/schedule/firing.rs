use chrono::{DateTime, Utc};

use super::Schedule;
use crate::domain::ids::ChannelId;
use crate::domain::meeting::{CalledBy, Meeting};
use crate::domain::message::{Channel, Place};
use crate::domain::outbound::{OutboundKind, OutboundMessage};
use crate::domain::schedule::{Job, JobAction};
use crate::store::{Fired, FiringEffect, NewFiring, StoreError};

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
        let name = job.channel.as_deref().unwrap_or_default();
        Ok(match (self.find_channel(name).await?, text) {
            (Some(channel), Some(text)) => Some(FiringEffect::Post(self.post(&channel, text))),
            (Some(channel), None) => Some(FiringEffect::CallStandup(Box::new(self.standup(job, channel, name).await?))),
            (None, _) if self.parts().platform.is_some() => Some(FiringEffect::Refuse(format!("there is no channel {name}"))),
            (None, _) => None,
        })
    }

    async fn standup(&self, job: &Job, channel: ChannelId, name: &str) -> Result<Meeting, StoreError> {
        let seen = self.parts().store.list_channels().await?;
        let known = seen.into_iter().map(|seen| seen.channel).find(|known| known.id == channel);
        // The name is for showing; of a channel in which nothing was heard it is what the job calls it.
        let channel = known.unwrap_or_else(|| Channel { id: channel, name: name.to_owned(), place: Place::Server });
        let by = CalledBy::Schedule { job: job.name.to_string() };
        Ok(self.parts().standup.call(channel, by, self.parts().clock.now()))
    }

    fn post(&self, channel: &ChannelId, text: &str) -> OutboundMessage {
        OutboundMessage::new(&self.parts().coordinator, channel, OutboundKind::Answer, text)
    }

    /// By id or name. Without a platform an id is taken as it is, and names are those of channels in which something was heard.
    async fn find_channel(&self, name: &str) -> Result<Option<ChannelId>, StoreError> {
        if let Some(platform) = &self.parts().platform {
            return Ok(platform.find_channel(name).await);
        }
        if !name.is_empty() && name.chars().all(|c| c.is_ascii_digit()) {
            return Ok(Some(name.into()));
        }
        let seen = self.parts().store.list_channels().await?;
        Ok(seen.into_iter().map(|seen| seen.channel).find(|channel| channel.name.eq_ignore_ascii_case(name)).map(|channel| channel.id))
    }
}
