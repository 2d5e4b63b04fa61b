//! The scheduled actions of standups.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::features::meeting::model::CalledBy;
use crate::features::meeting::store::MeetingChange;
use crate::features::schedule::action::{Action, ActionOutcome};
use crate::features::schedule::model::{ActionKind, BuiltIn, Job};
use crate::features::standup::checkins::ask_people;
use crate::features::standup::{Standup, StandupTerms};
use crate::store::Store;
use kernel::chat::message::Channel;
use kernel::commands::Late;
use kernel::db::{Effect, StoreError};

const CALL: ActionKind = ActionKind {
    name: "standup",
    noun: "a standup",
    needs_channel: true,
    may_be_below_a_minute: false,
    built_in: Some(BuiltIn { cron: "0 9 * * 1-5", channel: Some("daily-standup"), deadline: Job::DEADLINE }),
};
const SETTLE: ActionKind = ActionKind {
    name: "settle-predictions",
    noun: "settling predictions",
    needs_channel: false,
    may_be_below_a_minute: true,
    built_in: Some(BuiltIn { cron: "*/5 * * * *", channel: None, deadline: Job::DEADLINE }),
};
const HEALTH: ActionKind = ActionKind {
    name: "health",
    noun: "the chart of the standup's health",
    needs_channel: false,
    may_be_below_a_minute: true,
    // A laptop that is opened on Monday evening still posts the week's chart.
    built_in: Some(BuiltIn { cron: "0 10 * * 1", channel: None, deadline: Duration::from_hours(24) }),
};

/// The actions of standups that jobs can have.
pub(super) const ACTIONS: [ActionKind; 3] = [CALL, SETTLE, HEALTH];

/// The actions for a process. A process that only fires jobs and does not carry them out never has the `standup`.
pub(super) fn actions(terms: StandupTerms, store: &Store, standup: &Late<Standup>) -> Vec<Arc<dyn Action>> {
    vec![
        Arc::new(CallStandup { terms, store: store.clone() }),
        Arc::new(SettlePredictions { store: store.clone(), standup: standup.clone() }),
        Arc::new(PostHealth { standup: standup.clone() }),
    ]
}

struct CallStandup {
    terms: StandupTerms,
    store: Store,
}

#[async_trait]
impl Action for CallStandup {
    fn kind(&self) -> ActionKind {
        CALL
    }

    fn effect(&self, job: &Job, channel: Option<Channel>, now: DateTime<Utc>) -> Option<Arc<dyn Effect>> {
        let meeting = self.terms.call(channel?, CalledBy::Schedule { job: job.name.to_string() }, now);
        Some(Arc::new(MeetingChange::Call(Box::new(meeting))))
    }

    fn lead(&self) -> Option<Duration> {
        Some(self.terms.checkin_lead).filter(|lead| !lead.is_zero())
    }

    async fn prepare(&self, channel: &Channel, instant: DateTime<Utc>, now: DateTime<Utc>) -> Result<(), StoreError> {
        ask_people(&self.store, &self.terms, channel, instant, now).await
    }
}

struct SettlePredictions {
    store: Store,
    standup: Late<Standup>,
}

#[async_trait]
impl Action for SettlePredictions {
    fn kind(&self) -> ActionKind {
        SETTLE
    }

    async fn is_idle(&self, now: DateTime<Utc>) -> Result<bool, StoreError> {
        Ok(self.store.list_due_predictions(now).await?.is_empty())
    }

    async fn run(&self) -> anyhow::Result<ActionOutcome> {
        self.standup.get()?.settle_predictions().await?;
        Ok(ActionOutcome::Done(Vec::new()))
    }
}

struct PostHealth {
    standup: Late<Standup>,
}

#[async_trait]
impl Action for PostHealth {
    fn kind(&self) -> ActionKind {
        HEALTH
    }

    async fn run(&self) -> anyhow::Result<ActionOutcome> {
        self.standup.get()?.chart_health().await
    }
}

impl Standup {
    /// The weekly chart, in the channel of the last standup.
    async fn chart_health(&self) -> anyhow::Result<ActionOutcome> {
        let last = self.deps.store.list_reports(1).await?.pop().map(|last| last.report.channel);
        let drawn = match last {
            Some(channel) => self.draw_health(&channel).await?,
            None => None,
        };
        Ok(drawn.map_or_else(|| ActionOutcome::Refused("there was no standup yet".into()), |chart| ActionOutcome::Done(vec![chart])))
    }
}

#[cfg(test)]
mod tests {
    use chrono_tz::Tz;

    use super::*;
    use crate::features::schedule::model::Actions;

    #[test]
    fn every_team_holds_standups_settles_calls_and_draws_its_week() {
        let jobs = Actions::of(ACTIONS).built_in(Tz::Europe__Berlin);
        let listed: Vec<_> = jobs.iter().map(|job| (job.name.as_str(), job.timetable.key())).collect();
        let expected = [
            ("standup", "0 9 * * 1-5 Europe/Berlin"),
            ("settle-predictions", "*/5 * * * * Europe/Berlin"),
            ("health", "0 10 * * 1 Europe/Berlin"),
        ];
        assert_eq!(listed, expected.map(|(name, key)| (name, key.to_owned())));
        assert_eq!(jobs[0].channel.as_deref(), Some("daily-standup"));
    }
}
