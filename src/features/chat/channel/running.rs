//! Runs the job of a turn, from its claim to the transaction that ends both.

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument as _, info_span};

use crate::features::chat::channel::ChannelQueue;
use crate::features::chat::channel::answering::{Ending, Performing};
use crate::features::chat::channel::progress::Activity;
use crate::features::chat::channel::turn_journal::TurnJournal;
use crate::features::chat::model::decision::{Block, Decision, Reason};
use crate::features::chat::retry::RETRY;
use crate::features::chat::store::{CancelScope, Finished, FollowUp, TURNS, fail_turn, finish_turn};
use crate::features::chat::{Conversation, Running};
use kernel::agent::turn::{Trigger, Turn, TurnState};
use kernel::catch_panic::catch_panic;
use kernel::chat::outbox::store::insert_outbound;
use kernel::chat::text::without_subtext;
use kernel::db::{StoreError, Transaction};
use kernel::ids::TurnId;
use kernel::jobs::{Failure, Job, JobContext, JobError, forget_steps};

/// The message to a person after an internal error.
const WENT_WRONG: &str = "Something went wrong inside me. It is in the log; please ask again.";

/// The message to a person about a turn that is no longer retried.
const GIVEN_UP: &str = "I had to give up on this: it stopped me three times. Please put it another way.";

/// One run of a turn's job.
struct Run<'a> {
    turn: &'a Turn,
    job: &'a JobContext,
    queue: &'a ChannelQueue,
    since: DateTime<Utc>,
}

impl Conversation {
    /// Runs a turn. Stores nothing before its end, so a run after a crash starts from the beginning.
    pub(crate) async fn run_turn(&self, turn: &Turn, job: &JobContext) -> Result<(), JobError> {
        let queue = self.with_queue(&turn.channel, |queue| queue.open_turns([&turn.id]));
        let run = Run { turn, job, queue: &queue, since: job.now() };
        let span = info_span!("turn", message = %turn.message, turn = %turn.id, persona = %turn.persona);
        let ended = self.run(&run).instrument(span).await;
        let goes_on = matches!(ended, Err(JobError::Stopping | JobError::Unavailable(_) | JobError::Retry { .. }));
        if !goes_on {
            queue.close_turns([&turn.id]);
        }
        ended
    }

    async fn run(&self, run: &Run<'_>) -> Result<(), JobError> {
        let Run { turn, job, queue, .. } = *run;
        let cancel = job.cancelled().child_token();
        // Registers first, so that no stop misses the turn.
        let _registered = self.register(turn, &cancel);
        let among_agents = matches!(turn.trigger, Trigger::Agent { .. });
        if among_agents && self.person_waits(turn, queue).await? {
            self.yield_to_person(turn).await?;
            return Err(JobError::LostLease);
        }
        if self.inner.halts.was_halted_since(&turn.channel, turn.queued_at) {
            return self.conclude(run, Ending::silent(TurnState::Cancelled), false).await;
        }
        tracing::info!(attempt = job.job().token, "turn begun");
        let activity = Activity::default();
        let showing = self.show_progress(turn, &activity, &cancel);
        let journal = TurnJournal::new(job);
        let performing = Performing { turn, journal: &journal, watch: &|doing| activity.set(doing), cancel: &cancel };
        // Boxed, because the future contains a model call and is large.
        let mut performed = Box::pin(catch_panic(async { Ok(self.perform(&performing).await) }));
        let mut person_speaks = false;
        let ended = tokio::select! {
            performed = &mut performed => performed,
            () = person_spoke(queue), if among_agents => {
                person_speaks = true;
                // Cancels instead of dropping, so that the model call is settled.
                cancel.cancel();
                performed.await
            }
        };
        drop(showing);
        let ending = ended.unwrap_or_else(|panic| {
            tracing::error!(turn = %turn.id, error = format!("{panic:#}"), "a turn broke off");
            Ending::failed("it panicked", WENT_WRONG)
        });
        if ending.reply.is_none() && (job.cancelled().is_cancelled() || self.deps().kill.is_cancelled()) {
            // The process is stopping, or another worker has the turn. Its end is unknown here.
            return Err(JobError::Stopping);
        }
        self.conclude(run, ending, journal.is_stored()).await?;
        if person_speaks {
            self.yield_to_person(turn).await?;
        }
        Ok(())
    }

    /// Whether somebody has written in the channel of a turn.
    async fn person_waits(&self, turn: &Turn, queue: &ChannelQueue) -> Result<bool, StoreError> {
        Ok(queue.has_message() || (!self.deps().serves && !self.deps().store.list_undecided(Some(&turn.channel)).await?.is_empty()))
    }

    /// Ends the talk of agents when a person speaks.
    async fn yield_to_person(&self, turn: &Turn) -> Result<(), StoreError> {
        if let Trigger::Agent { from, .. } = &turn.trigger {
            self.note_block(turn, from, &turn.persona, Block::PersonSpoke).await;
        }
        self.cancel_turns(CancelScope::AgentTalk(&turn.channel), "a person spoke").await
    }

    /// Stores the end of a turn together with its messages, the next speakers, and the end of the job. `has_steps`: the job has steps, whose prompts may
    /// hold what is deleted later.
    async fn conclude(&self, run: &Run<'_>, ending: Ending, has_steps: bool) -> Result<(), JobError> {
        let Run { turn, job, queue, since } = *run;
        let deps = self.deps();
        // In a busy channel the answer is posted as a reply to its message. So is that of a turn that rested, because others went first.
        let is_busy = self.person_waits(turn, queue).await.unwrap_or_default() || job.job().crashes > 1;
        let reply_to = is_busy.then(|| turn.message.clone());
        let mut outbox = Vec::new();
        let mut follow_ups = Vec::new();
        if let Some(reply) = &ending.reply {
            outbox.extend(self.render(turn, &reply.text, reply_to.as_ref()));
            // A relayed answer contains another persona's words, so it addresses nobody.
            if !matches!(turn.trigger, Trigger::Ask { .. }) {
                follow_ups = self.hand_over(turn, &without_subtext(&reply.text)).await;
            }
        }
        let proposed = ending.reply.as_ref().map_or(&[][..], |reply| reply.proposed.as_slice());
        let (approvals, questions) = self.ask_approvals(turn, proposed).await?;
        outbox.extend(questions);
        outbox.extend(ending.notice.as_deref().map(|text| Self::notice(&turn.persona, &turn.channel, text)));
        let next = (!follow_ups.is_empty())
            .then(|| Decision::by(follow_ups.iter().map(|turn| turn.persona.clone()).collect(), Reason::AgentMention));
        let finished = Finished {
            turn,
            state: ending.state,
            attempts: u32::try_from(job.job().token).unwrap_or(u32::MAX),
            started_at: since,
            reply: ending.reply.as_ref().map(|reply| reply.text.as_str()),
            model: ending.reply.as_ref().and_then(|reply| reply.model.as_deref()),
            error: ending.error.as_deref(),
            prompt_chars: ending.reply.as_ref().map_or(0, |reply| reply.prompt_chars as u64),
            outbox: &outbox,
            noticed: ending.noticed.as_deref(),
            approvals: &approvals,
            next: next.as_ref().map(|decision| FollowUp { decision, turns: &follow_ups }),
            usage: ending.reply.as_ref().map(|reply| reply.usage).unwrap_or_default(),
            at: deps.clock.now(),
        };
        queue.open_turns(follow_ups.iter().map(|turn| &turn.id));
        let stored = self.store_end(job, &finished, has_steps).await;
        if !matches!(stored, Ok(true)) {
            queue.close_turns(follow_ups.iter().map(|turn| &turn.id));
        }
        if !stored? {
            tracing::info!("the turn was over already; its answer is dropped");
            return Ok(());
        }
        count_turn(turn, ending.state, ending.error.as_deref());
        Ok(())
    }

    /// False when the turn was already over, or belongs to another worker. Retries while the database is unavailable, because the answer exists only
    /// here.
    async fn store_end(&self, job: &JobContext, finished: &Finished<'_>, has_steps: bool) -> Result<bool, JobError> {
        let deps = self.deps();
        loop {
            match self.try_to_store(job, finished, has_steps).await {
                Err(JobError::Unavailable(error)) if !job.cancelled().is_cancelled() => {
                    tracing::warn!(%error, "waiting for the store to take an answer");
                    job.cancelled().run_until_cancelled(deps.clock.sleep(RETRY)).await;
                }
                Err(JobError::LostLease) => {
                    // An attempt whose connection was lost may have stored it.
                    let row = deps.store.find_turn(&finished.turn.id).await?;
                    return Ok(row.is_some_and(|row| row.turn.state == finished.state));
                }
                ended => return ended,
            }
        }
    }

    async fn try_to_store(&self, job: &JobContext, finished: &Finished<'_>, has_steps: bool) -> Result<bool, JobError> {
        let mut last = job.begin_final().await?;
        let stored = finish_turn(&mut last, finished).await?;
        if has_steps {
            forget_steps(&mut last, job.job().id).await?;
        }
        if !self.deps().serves {
            last.announce(TURNS);
        }
        last.finish().await?;
        Ok(stored)
    }

    /// Ends the turn of a job that is no longer retried, and notifies those who wait for its answer.
    pub(crate) async fn give_up_turn(&self, transaction: &mut Transaction, job: &Job, why: &Failure) -> Result<(), StoreError> {
        let now = self.deps().clock.now();
        let error = why.to_string();
        let Some(turn) = fail_turn(transaction, job, &error, now).await? else { return Ok(()) };
        let text = match why {
            Failure::Crashed(_) => GIVEN_UP,
            Failure::Failed(_) => WENT_WRONG,
        };
        insert_outbound(transaction, &[Self::notice(&turn.persona, &turn.channel, text)], Some(&turn.message), now).await?;
        let conversation = self.clone();
        transaction.after_commit(move || {
            conversation.close_turns(std::slice::from_ref(&turn.id));
            count_turn(&turn, TurnState::Failed, Some(&error));
        });
        Ok(())
    }

    fn register(&self, turn: &Turn, cancel: &CancellationToken) -> Registered<'_> {
        let running = Running { channel: turn.channel.clone(), message: turn.message.clone(), cancel: cancel.clone() };
        self.running().insert(turn.id.clone(), running);
        Registered { conversation: self, turn: turn.id.clone() }
    }
}

async fn person_spoke(queue: &ChannelQueue) {
    while !queue.has_message() {
        queue.arrived().await;
    }
}

fn count_turn(turn: &Turn, state: TurnState, error: Option<&str>) {
    metrics::counter!("teamroom_turns_total", "persona" => turn.persona.to_string(), "state" => state.as_str()).increment(1);
    tracing::info!(
        turn = %turn.id,
        persona = %turn.persona,
        state = state.as_str(),
        error,
        "turn over"
    );
}

/// Removes a turn from the list of running turns on drop.
struct Registered<'a> {
    conversation: &'a Conversation,
    turn: TurnId,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.conversation.running().remove(&self.turn);
    }
}
