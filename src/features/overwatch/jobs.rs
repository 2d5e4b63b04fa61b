//! The job that asks all personas at once, and posts what they noticed.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use crate::features::overwatch::model::{Given, Insight, InsightKind, LookBack, Subject, read_given};
use crate::features::overwatch::record::Records;
use crate::features::overwatch::store::insert_insights;
use crate::features::overwatch::{playing, prompts, render};
use crate::features::voice::Plays;
use crate::store::Store;
use kernel::agent::halts::HaltScope;
use kernel::agent::prompt::PromptKind;
use kernel::agent::{Agents, Run, RunError};
use kernel::chat::outbox::store::insert_outbound_once;
use kernel::db::{StoreError, Transaction};
use kernel::ids::{MeetingId, PersonaSlug};
use kernel::jobs::{Failure, Job, JobContext, JobError, JobHandler, KindSettings};
use kernel::money::Purpose;
use kernel::persona::Tier;
use kernel::persona::roster::Roster;

pub(super) const KIND: &str = "overwatch";

/// The time limit for all personas together (OVER-2).
const LIMIT: Duration = Duration::from_secs(30);
const TOKENS: u32 = 1024;

/// How long the job waits while the team is halted.
const HALTED: TimeDelta = TimeDelta::minutes(5);

/// How many recent looks are judged, how many are needed for that, how long ratings count, and the healthy share in percent of looks without tension
/// (OVER-7).
const LOOKS: u32 = 60;
const FEWEST_LOOKS: usize = 10;
const RATED: TimeDelta = TimeDelta::days(30);
const HEALTHY: std::ops::RangeInclusive<usize> = 30..=50;

/// The answer of a persona. None: it came too late or cannot be read.
#[derive(Debug, Serialize, Deserialize)]
struct Look {
    by: PersonaSlug,
    given: Option<Given>,
}

/// The payload of a job. A mission stores its record in the job when it ends. The record of a meeting is read when the job runs.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Payload {
    Run(LookBack),
    Meeting(MeetingAsked),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MeetingAsked {
    pub(super) meeting: MeetingId,
}

pub(super) struct LooksBack {
    pub(super) store: Store,
    pub(super) records: Records,
    pub(super) roster: Arc<Roster>,
    pub(super) agents: Arc<Agents>,
    pub(super) plays: Plays,
    pub(super) enabled: bool,
}

#[async_trait]
impl JobHandler for LooksBack {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn settings(&self) -> KindSettings {
        KindSettings { max_attempts: 3, time_limit: Duration::from_mins(5), ..KindSettings::default() }
    }

    async fn run(&self, job: &JobContext) -> Result<(), JobError> {
        let Some(run) = self.find_run(job.payload()?).await? else { return job.begin_final().await?.finish().await };
        if self.agents.is_offline() {
            return self.tell_nothing(job, &run, "no model is connected").await;
        }
        let halts = self.store.list_halts().await?;
        let is_halted = |scope: HaltScope| halts.iter().any(|halt| halt.scope == scope);
        if is_halted(HaltScope::All) || is_halted(HaltScope::Channel(run.channel.clone())) {
            return Err(JobError::Sleep(job.now() + HALTED));
        }
        let awake = run.personas.iter().filter(|slug| !is_halted(HaltScope::Persona((*slug).clone()))).cloned().collect();
        let run = LookBack { personas: awake, ..run };
        let note = self.note_for_rates(job).await?;
        let looks: Vec<Look> = job.step("looks", || async { self.ask_all(&run, &note, job).await }).await?;
        let now = job.now();
        let redact = |text: String| self.agents.runner.redact(text, &run.subject.to_string());
        let read = |look: Look| -> Vec<Insight> {
            let Some(mut given) = look.given else { return Vec::new() };
            for insight in &mut given.insights {
                insight.message = redact(std::mem::take(&mut insight.message));
            }
            read_given(&given, &look.by, &run, &self.roster, now)
        };
        let insights: Vec<Insight> = looks.into_iter().flat_map(read).collect();
        if insights.is_empty() {
            return self.tell_nothing(job, &run, "nobody gave an answer in time that can be used").await;
        }
        let mut transaction = job.begin_final().await?;
        insert_insights(&mut transaction, &insights).await?;
        let mut messages = render::insights(&run, &insights, &self.roster);
        if let Some(last) = messages.last_mut() {
            last.buttons.extend(self.plays.button(playing::KIND, &run.key()));
        }
        for message in messages {
            insert_outbound_once(&mut transaction, &message, None, now).await?;
        }
        transaction.finish().await
    }

    /// Tells the person who asked for a look at a meeting. After a mission there is no message, because it is already delivered.
    async fn give_up(&self, transaction: &mut Transaction, job: &Job, why: &Failure) -> Result<(), StoreError> {
        tracing::warn!(job = %job.id, %why, "a run is not looked back at");
        if let Ok(Payload::Meeting(asked)) = job.read_payload()
            && let Some(run) = self.records.read(&asked.meeting).await?
        {
            let message = render::nothing(&run, &job.id.to_string(), "it failed several times", &self.roster);
            insert_outbound_once(transaction, &message, None, self.agents.runner.clock.now()).await?;
        }
        Ok(())
    }
}

impl LooksBack {
    /// Finds the run to look back at. None if overwatch is turned off, the mission was forgotten meanwhile, or an earlier job already looked back at
    /// the meeting.
    async fn find_run(&self, payload: Payload) -> Result<Option<LookBack>, StoreError> {
        match payload {
            Payload::Run(run) => {
                let Subject::Mission(item) = &run.subject else { return Ok(None) };
                Ok(if self.enabled && self.store.find_item(item).await?.is_some() { Some(run) } else { None })
            }
            Payload::Meeting(asked) => {
                let Some(run) = self.records.read(&asked.meeting).await? else { return Ok(None) };
                let is_known = !self.store.list_insights_of(&run.subject).await?.is_empty();
                let digest = self.agents.runner.redact(run.digest, asked.meeting.as_str());
                Ok((!is_known).then_some(LookBack { digest, ..run }))
            }
        }
    }

    /// Ends the job without insights. Tells the person who asked for it why.
    async fn tell_nothing(&self, job: &JobContext, run: &LookBack, why: &str) -> Result<(), JobError> {
        let mut transaction = job.begin_final().await?;
        if matches!(run.subject, Subject::Meeting(_)) {
            let message = render::nothing(run, &job.job().id.to_string(), why, &self.roster);
            insert_outbound_once(&mut transaction, &message, None, job.now()).await?;
        }
        transaction.finish().await
    }

    /// Asks all personas at once. Leaves out those that do not answer in time.
    async fn ask_all(&self, run: &LookBack, note: &str, job: &JobContext) -> Result<Vec<Look>, JobError> {
        let cancel = job.cancelled().child_token();
        // Costs are not booked on the mission: its budget may be used up, and its cost was already told.
        let subject = format!("overwatch-{}", run.subject);
        let subject = subject.as_str();
        let ask = async |slug: &PersonaSlug| {
            let persona = self.roster.find(slug)?;
            let prompt = prompts::look(self.agents.system_prompt(persona, PromptKind::Judgement), &persona.role, run, note);
            let asked = Run { tier: Tier::T1, ..Run::new(persona, (Purpose::Overwatch, subject), prompt, TOKENS, &cancel) };
            let given = match self.agents.run_structured::<Given>(asked).await {
                Ok(given) => Some(given.value),
                Err(RunError::Cancelled) => None,
                Err(error) => {
                    tracing::warn!(subject = %run.subject, persona = %slug, %error, "a look back cannot be used");
                    None
                }
            };
            Some(Look { by: slug.clone(), given })
        };
        let asked = futures_util::future::join_all(run.personas.iter().map(ask));
        let mut asked = std::pin::pin!(asked);
        let looks = tokio::select! {
            looks = &mut asked => looks,
            () = self.agents.runner.clock.sleep(LIMIT) => {
                // Cancelled instead of dropped, so that the calls are settled.
                cancel.cancel();
                asked.await
            }
        };
        job.check()?;
        Ok(looks.into_iter().flatten().collect())
    }

    /// The addition to the prompt if one of the rates is not healthy.
    async fn note_for_rates(&self, job: &JobContext) -> Result<String, StoreError> {
        let last = self.store.list_insights(LOOKS).await?;
        let quiet = last.iter().filter(|insight| insight.kind == InsightKind::None).count();
        let (rated, useful) = self.store.count_insight_ratings(job.now() - RATED).await?;
        Ok(note_for((last.len(), quiet), (rated, useful)).to_owned())
    }
}

fn note_for((looks, quiet): (usize, usize), (rated, useful): (u64, u64)) -> &'static str {
    if rated >= 5 && useful * 2 < rated {
        return "People found most of the last insights not useful: give only what somebody would thank you for.";
    }
    if looks < FEWEST_LOOKS {
        return "";
    }
    let share = quiet * 100 / looks;
    if share < *HEALTHY.start() {
        "Lately nearly every look found a tension: give one only if it mattered to the result."
    } else if share > *HEALTHY.end() {
        "Lately most looks found nothing: look once more at what was rejected or done twice."
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_says_so_while_a_rate_is_off() {
        assert_eq!(note_for((5, 0), (0, 0)), "");
        assert_eq!(note_for((20, 8), (9, 6)), "");
        assert!(note_for((20, 2), (0, 0)).contains("nearly every"));
        assert!(note_for((20, 15), (0, 0)).contains("found nothing"));
        assert!(note_for((20, 8), (9, 2)).contains("not useful"));
    }
}
