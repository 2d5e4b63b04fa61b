//! Understands what people say in a mission's thread. If a model takes longer than a person waits, a persona answers, and a job that is stored with
//! the decision on the message asks again. What it then understands is carried out like any other wish, unless the persona has done so meanwhile.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::changing::Wish;
use super::prompts;
use super::service::Missions;
use crate::features::chat::classify::classify;
use kernel::agent::RunError;
use kernel::db::{Applied, Effect, StoreError, Transaction};
use kernel::jobs::{self, JobContext, JobError, JobHandler, KindSettings, NewJob};

const KIND: &str = "mission.hear";

/// Below this a wish counts as talk, and a project as a simple task (WORK-10).
pub(super) const SURE: f64 = 0.7;

/// The pause before it is looked again whether a persona still answers the message.
const UNTIL_ANSWERED: TimeDelta = TimeDelta::seconds(5);

/// What a message in a mission's thread wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum WishKind {
    Change,
    Question,
    Other,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct Heard {
    kind: WishKind,
    /// From 0 to 1.
    pub(super) confidence: f64,
    /// In a few words.
    #[serde(default)]
    pub(super) why: String,
}

impl Heard {
    pub(super) fn wants_change(&self) -> bool {
        self.kind == WishKind::Change && self.confidence >= SURE
    }
}

/// A message that may be a wish. Written with the decision that a persona answers it.
#[derive(Debug)]
pub(super) struct Unheard(pub(super) Wish);

#[async_trait]
impl Effect for Unheard {
    async fn apply(&self, transaction: &mut Transaction, at: DateTime<Utc>) -> Result<Applied, StoreError> {
        jobs::enqueue(transaction, &NewJob::new(KIND, &self.0), at).await?;
        Ok(Applied::Done)
    }
}

/// Finds out later what a message wants.
pub(super) struct Hearer {
    pub(super) missions: Arc<Missions>,
}

#[async_trait]
impl JobHandler for Hearer {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn subject(&self) -> Option<&'static str> {
        Some("mission")
    }

    fn settings(&self) -> KindSettings {
        KindSettings { max_attempts: 10, time_limit: Duration::from_mins(10), ..KindSettings::default() }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        let wish: Wish = job.payload()?;
        let store = self.missions.store();
        let Some(message) = &wish.message else { return Ok(()) };
        // Nobody wants what a deleted message asked for.
        if store.find_message(message).await?.is_none_or(|row| row.deleted_at.is_some()) {
            return Ok(());
        }
        if !job.step("heard", || self.wants_change(&wish, job)).await? {
            return Ok(());
        }
        if store.is_being_answered(message).await? {
            return Err(JobError::Sleep(job.now() + UNTIL_ANSWERED));
        }
        let since = store.list_wishes_since(job.job().id).await?;
        let is_by_command = |other: &Wish| other.message.is_none() && other.colleague.is_none() && !other.is_told;
        if since.iter().any(|other| other.mission == wish.mission && is_by_command(other)) {
            tracing::info!(mission = %wish.mission, %message, "the persona that answered has asked for the change");
            return Ok(());
        }
        let mut transaction = store.db().begin().await?;
        wish.apply(&mut transaction, job.now()).await?;
        if job.finish_with(transaction).await? { Ok(()) } else { Err(JobError::LostLease) }
    }
}

impl Hearer {
    async fn wants_change(&self, wish: &Wish, job: &JobContext) -> Result<bool, JobError> {
        let missions = &self.missions;
        let (Some(agents), Some(message)) = (missions.agents(), &wish.message) else { return Ok(false) };
        let Some(mission) = missions.store().find_mission(&wish.mission).await? else { return Ok(false) };
        let prompt = prompts::wish(&wish.text, &missions.describe(&mission).await?);
        match classify::<Heard>(agents, message, prompt, job.cancelled()).await {
            Ok(heard) => Ok(heard.wants_change()),
            Err(RunError::Cancelled) => Err(JobError::Stopping),
            Err(RunError::Store(error)) => Err(error.into()),
            Err(error @ (RunError::Unusable { .. } | RunError::Nothing)) => {
                tracing::warn!(%message, %error, "whether a message wants a mission changed is not known");
                Ok(false)
            }
            Err(error) => Err(JobError::retry_later(error.in_short())),
        }
    }
}
