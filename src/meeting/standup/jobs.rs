//! What the schedule asks of the standup. A firing stays open until its result is stored, so that a crash leaves it to the next start.

use chrono::TimeDelta;

use super::Standup;
use crate::domain::schedule::{Firing, FiringState, JobAction};

/// How long it is kept what fired and how it went.
const KEEP_FIRINGS: TimeDelta = TimeDelta::days(90);

impl Standup {
    /// Carries out what has fired.
    pub(in crate::meeting) async fn take_up_jobs(&self) {
        let firings = match self.parts.store.list_open_firings().await {
            Ok(firings) => firings,
            Err(error) => return tracing::warn!(%error, "cannot look for what has fired"),
        };
        for firing in firings {
            let done = match firing.action {
                JobAction::SettlePredictions => self.settle_for(&firing).await,
                JobAction::Health => self.post_health(&firing).await,
                // Their effect was stored with the firing.
                JobAction::Standup | JobAction::Post { .. } => continue,
            };
            if let Err(error) = done {
                tracing::warn!(job = %firing.job, error = format!("{error:#}"), "a job could not be done; it is tried again at the next look");
            }
        }
    }

    async fn settle_for(&self, firing: &Firing) -> anyhow::Result<()> {
        self.settle_predictions().await?;
        self.parts.store.end_firing(&firing.job, firing.instant, FiringState::Done, None, &[], self.parts.clock.now()).await?;
        Ok(())
    }

    /// The weekly chart, in the channel of the last standup.
    async fn post_health(&self, firing: &Firing) -> anyhow::Result<()> {
        let (store, now) = (&self.parts.store, self.parts.clock.now());
        let last = store.list_reports(1).await?.pop().map(|last| last.report.channel);
        let drawn = match last {
            Some(channel) => self.draw_health(&channel).await?,
            None => None,
        };
        let (state, note) =
            if drawn.is_some() { (FiringState::Done, None) } else { (FiringState::Refused, Some("there was no standup yet")) };
        let outbox: Vec<_> = drawn.into_iter().collect();
        if store.end_firing(&firing.job, firing.instant, state, note, &outbox, now).await? {
            for message in &outbox {
                self.parts.relay.wake(&message.channel);
            }
        }
        store.delete_samples_before(now - TimeDelta::days(i64::from(self.parts.standup.keep_samples_days))).await?;
        store.delete_firings_before(now - KEEP_FIRINGS).await?;
        Ok(())
    }
}
