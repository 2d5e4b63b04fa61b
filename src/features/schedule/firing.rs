use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::features::schedule::action::Action;
use crate::features::schedule::model::{Job, JobAction};
use crate::features::schedule::store::{Fired, FiringEffect, NewFiring};
use crate::features::schedule::{Deps, Schedule};
use crate::store::Store;
use kernel::chat::message::{Channel, Place};
use kernel::chat::outbound::{OutboundKind, OutboundMessage};
use kernel::chat::outbox::store::insert_outbound;
use kernel::chat::{ChatPlatform, IdentityState, IdentityStatus};
use kernel::commands::{CommandCall, refuse};
use kernel::db::{Applied, Effect, StoreError, Transaction};
use kernel::ids::{ChannelId, MessageId, PersonaSlug};

/// A text that the coordinator posts.
#[derive(Debug)]
struct Post(OutboundMessage);

#[async_trait]
impl Effect for Post {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> kernel::db::Result<Applied> {
        insert_outbound(transaction, std::slice::from_ref(&self.0), None, at).await?;
        Ok(Applied::Done)
    }
}

impl Schedule {
    /// Fires one instant of a job. None if the channel cannot be resolved here, because this process is not connected, or not yet.
    pub(super) async fn fire(
        &self,
        job: &Job,
        instant: DateTime<Utc>,
        passed_over: u64,
        now: DateTime<Utc>,
    ) -> Result<Option<Fired>, StoreError> {
        let Some(effect) = self.effect_of(job, now).await? else { return Ok(None) };
        let firing = NewFiring { job: job.name.clone(), instant, action: job.action.clone(), passed_over };
        let fired = self.deps().store.fire(&firing, &effect, now).await?;
        match &fired {
            Fired::Now => {
                tracing::info!(job = %job.name, %instant, late_s = (now - instant).num_seconds(), passed_over, "a job fired");
            }
            Fired::Refused(reason) => tracing::warn!(job = %job.name, %instant, reason, "a job fired and could not be done"),
            Fired::Before => tracing::debug!(job = %job.name, %instant, "another has fired this"),
        }
        Ok(Some(fired))
    }

    async fn effect_of(&self, job: &Job, now: DateTime<Utc>) -> Result<Option<FiringEffect>, StoreError> {
        let Deps { store, platform, coordinator, .. } = self.deps();
        let Some(kind) = self.inner.kinds.find(&job.action) else {
            return Ok(Some(FiringEffect::Refuse(format!("nothing here does \"{}\"", job.action.name()))));
        };
        let mut channel = None;
        if kind.needs_channel {
            let name = job.channel.as_deref().unwrap_or_default();
            channel = find_channel(store, platform.as_deref(), name).await?;
            if channel.is_none() {
                let is_gone = platform.as_deref().is_some_and(|platform| has_told_channels(platform, coordinator));
                return Ok(is_gone.then(|| FiringEffect::Refuse(format!("there is no channel {name}"))));
            }
        }
        let effect = match (self.find_action(&job.action), job.action.text(), &channel) {
            (Some(action), ..) => action.effect(job, channel, now),
            (None, Some(text), Some(channel)) => {
                let said = OutboundMessage::new(coordinator, &channel.id, OutboundKind::Answer, text);
                Some(Arc::new(Post(said)) as Arc<dyn Effect>)
            }
            (None, ..) => None,
        };
        Ok(Some(effect.map_or(FiringEffect::Later, FiringEffect::Apply)))
    }

    /// The action of a job. None for a post, or if the feature does not exist in this version.
    pub(super) fn find_action(&self, action: &JobAction) -> Option<&Arc<dyn Action>> {
        self.deps().actions.iter().find(|known| known.kind().name == action.name())
    }
}

/// A channel by its id or name. Without a connection an id is accepted unchecked, and names are looked up among the channels that the team has seen.
///
/// # Errors
/// The database does not answer.
pub async fn find_channel(store: &Store, platform: Option<&dyn ChatPlatform>, name: &str) -> Result<Option<Channel>, StoreError> {
    let is_meant = |channel: &Channel| channel.is_called(name);
    let seen = store.list_channels().await?;
    let mut seen = seen.into_iter().map(|seen| seen.channel);
    let Some(platform) = platform else {
        // The name is for display. A channel without any message is shown as the person wrote it.
        let id = name.contains(':').then(|| ChannelId::new(name));
        let unseen = || id.map(|id| Channel { name: id.bare().to_owned(), id, place: Place::Server, private: true, shared: false });
        return Ok(seen.find(is_meant).or_else(unseen));
    };
    let mut told = platform.list_channels().into_iter().map(|(channel, _)| channel);
    // A platform need not report direct conversations and archived threads at login. A server channel that it does not report was deleted.
    let untold = |channel: &Channel| channel.id.as_str() == name && channel.place != Place::Server;
    Ok(told.find(is_meant).or_else(|| seen.find(untold)))
}

/// The channel of the call, or at the command line the channel in `--channel`.
///
/// # Errors
/// The channel is missing or unknown.
pub async fn find_place(store: &Store, call: &CommandCall) -> anyhow::Result<Channel> {
    if let Some(channel) = &call.channel {
        return Ok(channel.clone());
    }
    let Some(name) = call.arguments.find_text("channel") else { return Ok(refuse("in which channel? Add --channel with its name")?) };
    get_channel(store, name).await
}

/// Finds a channel that the team has seen, by its name or id.
///
/// # Errors
/// No such channel is known. The error lists the known channels.
pub async fn get_channel(store: &Store, name: &str) -> anyhow::Result<Channel> {
    let name = name.trim().trim_start_matches('#');
    if let Some(channel) = find_channel(store, None, name).await? {
        return Ok(channel);
    }
    let seen = store.list_channels().await?.into_iter().map(|seen| seen.channel);
    let known: Vec<_> = seen.filter(|channel| channel.place == Place::Server).map(|channel| format!("#{}", channel.name)).collect();
    let known = if known.is_empty() { "none yet".into() } else { known.join(", ") };
    Ok(refuse(format!("there is no channel \"{name}\". Known channels: {known}"))?)
}

/// Whether each platform has reported its channels, so that a channel it did not report does not exist. The reports arrive shortly after the login.
fn has_told_channels(platform: &dyn ChatPlatform, coordinator: &PersonaSlug) -> bool {
    let channels = platform.list_channels();
    let has_told = |status: &IdentityStatus| {
        let is_there = |(channel, _): &(Channel, MessageId)| channel.id.platform() == Some(status.platform);
        status.state == IdentityState::Ready && channels.iter().any(is_there)
    };
    // An identity that was given up reports no channels any more.
    let counts = |status: &&IdentityStatus| status.persona == *coordinator && status.state != IdentityState::Down;
    platform.identities().iter().filter(counts).all(has_told) && !channels.is_empty()
}
