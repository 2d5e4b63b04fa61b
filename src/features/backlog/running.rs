//! Runs an item, from the claim of its job to the transaction that ends both.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, info_span};

use crate::features::backlog::Work;
use crate::features::backlog::artefacts;
use crate::features::backlog::executor::{Assignment, Outcome};
use crate::features::backlog::learning::{ItemEnd, learn, memory_of};
use crate::features::backlog::model::{
    Artefact, Blocker, Critique, Evidence, Execution, JournalEntry, Judge, Product, Wait, WorkItem, WorkKind, name_of_helper,
};
use crate::features::backlog::render::Announcer;
use crate::features::backlog::store::{Claimed, End, RunEnd};
use crate::features::backlog::verifier::{Submitted, Verdict, verify};
use crate::features::memory::offer_lesson;
use kernel::catch_panic::catch_panic;
use kernel::chat::outbound::OutboundMessage;
use kernel::db::StoreError;
use kernel::ids::PersonaSlug;
use kernel::jobs::{JobContext, JobError};
use kernel::persona::Tier;

/// The pause before checking again for something that is still in progress, such as a message on its way.
const SOON: TimeDelta = TimeDelta::seconds(5);

/// The pause after the first failed attempt. It doubles with each further one.
const PAUSE: TimeDelta = TimeDelta::seconds(20);

/// How long a run may take to end after its time limit.
const GRACE: Duration = Duration::from_secs(5);

/// The pause before storing the end of a run again while the database is unavailable.
const RETRY: Duration = Duration::from_secs(2);

/// The end of a run, with its messages.
struct Close {
    end: End,
    artefacts: Vec<Artefact>,
    outbox: Vec<OutboundMessage>,
}

impl From<End> for Close {
    fn from(end: End) -> Self {
        Self { end, artefacts: Vec::new(), outbox: Vec::new() }
    }
}

impl Work {
    /// Works on the item of a job until its run has ended, and stores the result.
    pub(super) async fn run_item(&self, job: &JobContext) -> Result<(), JobError> {
        let Some(claimed) = self.deps().store.start_run(job, job.now()).await? else { return Ok(()) };
        let claimed = self.choose_repository(claimed).await?;
        let persona = claimed.item.persona.as_ref().map(PersonaSlug::as_str);
        let span = info_span!("item_run", item = %claimed.item.id, persona);
        self.run_claimed(&claimed).instrument(span).await
    }

    async fn run_claimed(&self, claimed: &Claimed) -> Result<(), JobError> {
        let Claimed { item, job, .. } = claimed;
        tracing::info!(token = job.job().token, "a work item was claimed");
        metrics::counter!("teamroom_work_claims_total").increment(1);
        let close = match self.run_in_time(claimed, job.cancelled()).await {
            // The result must not be stored after a cancellation. If the job is still held, the item is released.
            _ if job.cancelled().is_cancelled() => End::Released.into(),
            Ok(close) => close,
            Err(error) => self.went_wrong(item, error).await?,
        };
        self.store_end(claimed, close).await
    }

    /// Limits the time of a run. It is asked to end first, so that calls in progress are settled, and aborted if it does not.
    async fn run_in_time(&self, claimed: &Claimed, cancel: &CancellationToken) -> anyhow::Result<Close> {
        let (clock, limit) = (&self.deps().clock, self.deps().settings.run_timeout);
        let own = cancel.child_token();
        // On the heap, because the future of a model call is large.
        let mut run = std::pin::pin!(catch_panic(Box::pin(self.run(claimed, &own))));
        tokio::select! {
            close = &mut run => return close,
            () = clock.sleep(limit) => own.cancel(),
        }
        tokio::select! {
            _ = &mut run => {}
            () = clock.sleep(GRACE) => {}
        }
        self.again(&claimed.item, Blocker::NoProgress, format!("it took longer than {} s", limit.as_secs())).await
    }

    /// Executes and verifies the item.
    async fn run(&self, claimed: &Claimed, cancel: &CancellationToken) -> anyhow::Result<Close> {
        let (item, job) = (&claimed.item, &claimed.job);
        let product = match &claimed.product {
            // The product was stored before a crash or a pause.
            Some(product) => product.clone(),
            None => match self.execute(item, job, cancel).await? {
                Outcome::Made(product) => {
                    let is_stored = self.deps().store.record_product(job, &product, self.deps().clock.now()).await?;
                    anyhow::ensure!(is_stored, JobError::LostLease);
                    product
                }
                Outcome::Later { at, why } => return Ok(End::Later { at, why }.into()),
                Outcome::Waits(wait) => {
                    let outbox = self.ask_for_money(item, &wait).await?;
                    return Ok(Close { outbox, ..End::Waits { wait, evidence: Vec::new() }.into() });
                }
                Outcome::Told { wait, message } => {
                    return Ok(Close { outbox: vec![*message], ..End::Waits { wait, evidence: Vec::new() }.into() });
                }
                Outcome::Unanswered(reply) => return Ok(self.hand_on(item, reply).await?.into()),
                Outcome::Failed { blocker, why } => return self.again(item, blocker, why).await,
                Outcome::Impossible { blocker, why } => return self.fail(item, blocker, why).await,
            },
        };
        self.close(item, product, cancel).await
    }

    async fn execute(&self, item: &WorkItem, job: &JobContext, cancel: &CancellationToken) -> anyhow::Result<Outcome> {
        let (Some(execution), Some(slug)) = (&item.execution, &item.persona) else { anyhow::bail!("it was never planned") };
        let Some(persona) = self.deps().roster.find(slug) else {
            return Ok(Outcome::Failed { blocker: Blocker::NeedsInput, why: format!("{slug} is no longer on the team") });
        };
        let assignment = Assignment { item, job, persona, cancel };
        match execution {
            Execution::Remind { .. } => self.remind(&assignment).await,
            Execution::Ask { whom, question, .. } => self.ask(&assignment, whom, question).await,
            Execution::Watch(terms) => self.watch(&assignment, terms).await,
            Execution::Research | Execution::Write | Execution::Build => self.run_agent(&assignment).await,
        }
    }

    /// Verifies the product and decides how the run ends.
    async fn close(&self, item: &WorkItem, product: Product, cancel: &CancellationToken) -> anyhow::Result<Close> {
        let now = self.deps().clock.now();
        let journal = self.read_journal(item).await?;
        let earlier = self.deps().store.list_earlier_journals(item).await?;
        let submitted = Submitted { item, product: &product, journal: &journal, earlier: &earlier, now };
        let verdict = verify(&self.inner.verifier, &submitted, cancel).await?;
        self.tell_red_base(item, verdict.evidence()).await?;
        Ok(match verdict {
            Verdict::Proven(evidence) if item.reviewer.is_some() && product.blocked.is_none() => {
                let artefacts = self.collect(item, &evidence).await?;
                Close { artefacts, ..End::Review { evidence, note: "a reviewer is named".to_owned() }.into() }
            }
            Verdict::Proven(evidence) => match &product.blocked {
                Some(why) => {
                    let artefacts = self.collect(item, &evidence).await?;
                    Close { artefacts, ..End::Waits { wait: Wait::blocked(why), evidence }.into() }
                }
                None => self.done(item, &product, evidence, &journal).await?,
            },
            Verdict::Told(evidence) => {
                let of = name_of_helper(item.find_awaited()).to_owned();
                End::Waits { wait: Wait::Answer { of }, evidence }.into()
            }
            Verdict::ForReview { mut evidence, .. } if self.needs_no_review(item, &product).await? => {
                evidence.extend(shown_by_author(item, &product, now));
                self.done(item, &product, evidence, &journal).await?
            }
            Verdict::ForReview { evidence, why } => {
                let artefacts = self.collect(item, &evidence).await?;
                Close { artefacts, ..End::Review { evidence, note: why }.into() }
            }
            Verdict::NotYet { why } => End::Later { at: now + SOON, why }.into(),
            Verdict::Unproven { reasons, .. } => self.again(item, Blocker::MissingEvidence, reasons.join("; ")).await?,
        })
    }

    /// Whether the author's own critique replaces a review (WORK-18): only for a step on which others build, without a named reviewer and by a persona
    /// that is no expert, if the scores reach the configured limit and code has found a passage for each criterion.
    async fn needs_no_review(&self, item: &WorkItem, product: &Product) -> Result<bool, StoreError> {
        let deps = self.deps();
        let is_good = |critique: &&Critique| critique.faults.is_empty() && !critique.shown.is_empty();
        let Some(critique) = product.critique.as_ref().filter(is_good).filter(|_| product.blocked.is_none()) else { return Ok(false) };
        let is_expert = item.persona.as_ref().and_then(|slug| deps.roster.find(slug)).is_none_or(|persona| persona.tier == Tier::T3);
        // A change of a repository is always read by somebody else.
        if item.kind != WorkKind::Step
            || item.reviewer.is_some()
            || item.repository.is_some()
            || is_expert
            || critique.mean() < deps.settings.review_below
        {
            return Ok(false);
        }
        let Some(mission) = &item.parent else { return Ok(false) };
        Ok(deps.store.list_parts(mission).await?.iter().any(|other| other.depends_on.contains(&item.id)))
    }

    /// The message that asks for a higher budget. Other waits have their own questions, and a mission asks for its own.
    pub(super) async fn ask_for_money(&self, item: &WorkItem, wait: &Wait) -> Result<Vec<OutboundMessage>, StoreError> {
        let Wait::Budget { refused, day } = wait else { return Ok(Vec::new()) };
        if refused.limit.mission().is_some() {
            return Ok(Vec::new());
        }
        let step = self.deps().budgets.step(&refused.limit);
        self.say(item, |announcer| announcer.ask_budget(item, refused, *day, step)).await
    }

    async fn done(&self, item: &WorkItem, product: &Product, evidence: Vec<Evidence>, journal: &[JournalEntry]) -> anyhow::Result<Close> {
        let deps = self.deps();
        let memories = learn(&deps.store, item, Some(product), &evidence, journal, deps.clock.now()).await?;
        let outcome = product.summary.clone();
        let done = WorkItem { outcome: Some(outcome.clone()), evidence: evidence.clone(), ..item.clone() };
        let artefacts = self.collect(item, &evidence).await?;
        let lesson = memories.first().filter(|_| product.lesson.is_some());
        let announce = |announcer: Announcer<'_>| {
            let mut message = announcer.announce_result(&done, &artefacts);
            offer_lesson(&mut message, lesson);
            message
        };
        let outbox = self.say(item, announce).await?;
        Ok(Close { end: End::Done { outcome, evidence, memories }, artefacts, outbox })
    }

    /// Tells once which tests of a repository fail before any change, so that somebody mends them.
    async fn tell_red_base(&self, item: &WorkItem, evidence: &[Evidence]) -> Result<(), StoreError> {
        let failing = evidence.iter().find_map(|found| match found {
            Evidence::NotHeld { tests, on_base: true } => Some(tests),
            _ => None,
        });
        let (Some(tests), Some(repository)) = (failing, &item.repository) else { return Ok(()) };
        for message in self.say(item, |announcer| announcer.tell_red_base(repository, tests)).await? {
            self.deps().store.enqueue_once(&message, self.deps().clock.now()).await?;
        }
        Ok(())
    }

    async fn collect(&self, item: &WorkItem, evidence: &[Evidence]) -> anyhow::Result<Vec<Artefact>> {
        artefacts::collect(&self.deps().agents.runner, &self.deps().workspaces, item, evidence).await
    }

    async fn fail(&self, item: &WorkItem, blocker: Blocker, why: String) -> anyhow::Result<Close> {
        if item.kind == WorkKind::Step {
            return Ok(End::Waits { wait: Wait::Replan { blocker, why }, evidence: Vec::new() }.into());
        }
        let journal = self.read_journal(item).await?;
        let memory = Some(memory_of(item, &ItemEnd::Failed { why: &why }, &journal, self.deps().clock.now()));
        let failed = WorkItem { outcome: Some(why.clone()), ..item.clone() };
        let helper = self.find_person(item).await?;
        let outbox = self.say(item, |announcer| announcer.ask_after_failure(&failed, helper.as_ref())).await?;
        Ok(Close { outbox, ..End::Failed { why, memory }.into() })
    }

    /// Tries again with the reason for the failure. Fails after the last attempt. A step that failed twice for the same reason makes no progress
    /// (WORK-21), so its mission looks for another way at once.
    async fn again(&self, item: &WorkItem, blocker: Blocker, why: String) -> anyhow::Result<Close> {
        if item.kind == WorkKind::Step && self.find_rejection(item).await?.is_some_and(|before| before.why == why) {
            return self.fail(item, blocker, format!("failed twice in the same way: {why}")).await;
        }
        let tries = item.attempts + 1;
        if tries >= self.deps().settings.attempts {
            return self.fail(item, blocker, format!("failed {tries} times, most recently because {why}")).await;
        }
        let at = self.deps().clock.now() + PAUSE * 2_i32.pow(item.attempts.min(8));
        Ok(End::Again { at, why }.into())
    }

    /// # Errors
    /// The database is unavailable: the same run continues, without another attempt. Or the job is lost.
    async fn went_wrong(&self, item: &WorkItem, error: anyhow::Error) -> Result<Close, JobError> {
        let text = format!("{error:#}");
        match JobError::from(error) {
            JobError::Retry { .. } | JobError::Fail(_) => {}
            error => {
                tracing::warn!(item = %item.id, error = text, "a run was broken off");
                return Err(error);
            }
        }
        tracing::error!(item = %item.id, error = text, "a run went wrong");
        metrics::counter!("teamroom_errors_total", "where" => "work").increment(1);
        Ok(self.again(item, Blocker::FailingTool, "something went wrong; see the log".into()).await?)
    }

    /// A message where the item is discussed. None if it has no place.
    pub(crate) async fn say(
        &self,
        item: &WorkItem,
        message: impl FnOnce(Announcer<'_>) -> OutboundMessage,
    ) -> Result<Vec<OutboundMessage>, StoreError> {
        let spot = self.find_spot(item).await?;
        let announcer = |spot| Announcer { persona: self.speaker_of(item), spot, roster: &self.deps().roster };
        Ok(spot.as_ref().map(|spot| message(announcer(spot))).into_iter().collect())
    }

    /// Stores the end of a run. Retries while the database is unavailable. Nothing is stored if the job is lost.
    async fn store_end(&self, claimed: &Claimed, close: Close) -> Result<(), JobError> {
        let deps = self.deps();
        let (item, job) = (&claimed.item.id, &claimed.job);
        let Close { end, artefacts, outbox } = close;
        let mut run = RunEnd { job, end, artefacts: &artefacts, outbox: &outbox, at: deps.clock.now() };
        let name = run.end.name();
        loop {
            match deps.store.end_run(&run).await {
                Ok(Some(_)) => {
                    tracing::info!(%item, end = name, "a run ended");
                    metrics::counter!("teamroom_work_runs_total", "end" => name).increment(1);
                    return Ok(());
                }
                // Already stored together with the approval.
                Ok(None) if matches!(run.end, End::Waits { wait: Wait::Approval { .. }, .. }) => return Ok(()),
                Ok(None) => {
                    let token = job.job().token;
                    tracing::warn!(%item, token, end = name, "this worker no longer holds the item; nothing of it was stored");
                    metrics::counter!("teamroom_work_stale_ends_total").increment(1);
                    return Err(JobError::LostLease);
                }
                Err(error) if error.is_retryable() && !job.cancelled().is_cancelled() => {
                    tracing::warn!(%item, %error, "the end of a run cannot be stored yet");
                    job.cancelled().run_until_cancelled(deps.clock.sleep(RETRY)).await;
                    run.at = deps.clock.now();
                }
                Err(error) => {
                    tracing::error!(%item, %error, "the end of a run could not be stored; its job runs again");
                    return Err(error.into());
                }
            }
        }
    }
}

/// How the author has shown each criterion.
fn shown_by_author(item: &WorkItem, product: &Product, at: DateTime<Utc>) -> Vec<Evidence> {
    let (Some(author), Some(critique)) = (&item.persona, &product.critique) else { return Vec::new() };
    let criterion = |(criterion, shown): &(String, String)| Evidence::Criterion {
        criterion: criterion.clone(),
        shown: shown.clone(),
        by: Judge::Persona(author.clone()),
        at,
    };
    critique.shown.iter().map(criterion).collect()
}
