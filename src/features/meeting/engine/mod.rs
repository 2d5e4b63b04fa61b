//! Runs a meeting step by step. Each step first reads the meeting's state, so any process can continue.

mod floor;

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tracing::{Instrument as _, info_span};

use crate::features::chat::store::{MESSAGES, TURNS};
use crate::features::meeting::agenda::{Agenda, Session, Standstill};
use crate::features::meeting::model::{Meeting, MeetingState, Participant, Paused, Seat};
use crate::features::meeting::store::{MEETINGS, MeetingRun};
use crate::features::meeting::{Deps, Meetings};
use kernel::agent::halts::{HALTS, HaltScope};
use kernel::db::StoreError;
use kernel::events::Subscription;
use kernel::ids::ChannelId;
use kernel::jobs::JobError;
use kernel::money::Money;
use kernel::text::flatten;

/// A result that was started this often and never stored cannot be created.
const MOST_CLOSINGS: u32 = 3;

/// A longer pause ends the meeting, because it blocks its channel for new ones.
const LONGEST_PAUSE: chrono::TimeDelta = chrono::TimeDelta::days(1);

/// How often a meeting past its deadline checks whether the team is still halted.
const HALTED: Duration = Duration::from_mins(1);

/// The limit for agendas that never end. Without it they would cost money for ever.
const MOST_ROUNDS: u32 = 100;

/// How often to check whether people have been answered. A process does not tell the others about each answer.
const LOOK: Duration = Duration::from_secs(2);

/// The longest delay of the next speaker while people talk to the coordinator.
const LONGEST_TALK: chrono::TimeDelta = chrono::TimeDelta::minutes(2);

/// How long a person may add to a report after each message, because people write one thought in several messages.
const ADDING: TimeDelta = TimeDelta::seconds(20);

/// What to do after a step.
enum Next {
    Now,
    /// Continue after this time, or earlier if the meeting was changed.
    Within(Duration),
    /// Like `Within`, or earlier when people have been answered.
    Answered(Duration),
    Over,
}

/// Wakes its owner after changes of meetings and halts, by this process or another one.
struct Changes {
    meetings: Subscription,
    halts: Subscription,
}

impl Changes {
    async fn next(&mut self) {
        tokio::select! {
            () = self.meetings.next() => {}
            () = self.halts.next() => {}
        }
    }
}

impl Meetings {
    /// Runs a meeting until it is over. Its state is in the database.
    ///
    /// # Errors
    /// The process stops, the job is lost, the database is unavailable, or a step failed.
    pub(super) async fn run(&self, run: &MeetingRun) -> Result<(), JobError> {
        let (Deps { store, clock, .. }, job) = (self.deps(), run.job());
        let mut changes = self.subscribe();
        let (mut answers, mut others_answers) = (store.subscribe(MESSAGES, clock), store.subscribe(TURNS, clock));
        loop {
            job.check()?;
            let looked_at = clock.now();
            // On the heap, because the future of a model call is large.
            let span = info_span!("meeting_step", meeting = %run.meeting());
            let next = Box::pin(self.step(run)).instrument(span).await.map_err(JobError::from).inspect_err(|error| {
                if matches!(error, JobError::Retry { .. } | JobError::Fail(_)) {
                    tracing::error!(meeting = %run.meeting(), %error, "a step of a meeting went wrong");
                    metrics::counter!("teamroom_errors_total", "where" => "meeting").increment(1);
                }
            })?;
            let (wait, talking) = match next {
                Next::Now => continue,
                Next::Within(wait) => (wait, false),
                Next::Answered(wait) => (wait, true),
                Next::Over => {
                    self.unsaved().retain(|(meeting, ..), _| meeting != run.meeting());
                    return Ok(());
                }
            };
            run.record_wait().await?;
            // The step itself took time, so the rest of the wait is shorter.
            let left = wait.saturating_sub((clock.now() - looked_at).to_std().unwrap_or_default());
            tokio::select! {
                () = clock.sleep(left) => {}
                () = changes.next() => {}
                () = answers.next(), if talking => {}
                () = others_answers.next(), if talking => {}
                () = job.stopping().cancelled() => {}
                () = job.cancelled().cancelled() => {}
            }
        }
    }

    fn subscribe(&self) -> Changes {
        let (store, clock) = (&self.deps().store, &self.deps().clock);
        Changes { meetings: store.subscribe(MEETINGS, clock), halts: store.subscribe(HALTS, clock) }
    }

    async fn step(&self, run: &MeetingRun) -> anyhow::Result<Next> {
        let deps = self.deps();
        let open = deps.store.list_open_meetings().await?;
        let Some(open) = open.into_iter().find(|open| open.meeting.id == *run.meeting()) else { return Ok(Next::Over) };
        let meeting = &open.meeting;
        let Some(agenda) = self.find_agenda(&meeting.kind).map(Arc::as_ref) else {
            return self.give_up(run, meeting, &format!("this team has no {} any more", meeting.kind)).await;
        };
        if let Some(by) = self.find_halt(meeting).await? {
            return self.keep_silent(run, meeting, agenda, &by).await;
        }
        let mut overdue = deps.clock.now() >= meeting.deadline;
        if let Some(paused) = meeting.paused.as_ref().filter(|_| !meeting.wrap && meeting.state != MeetingState::Closing) {
            if let Some(next) = self.keep_paused(run, meeting, agenda, paused).await? {
                return Ok(next);
            }
            overdue = true;
        }
        if overdue && open.material.is_none() {
            // No process ran in time. A report without participants is useless.
            return self.give_up(run, meeting, "the team was offline until its time was over").await;
        }
        if meeting.state == MeetingState::Called {
            return self.open(run, meeting, agenda).await;
        }
        let Some(material) = open.material else { return self.prepare(run, meeting, agenda).await };
        let seats = deps.store.list_seats(&meeting.id).await?;
        let session = Session { run, meeting, material: &material, seats: &seats };
        if meeting.state == MeetingState::Closing {
            return self.close(&session, agenda).await;
        }
        let broke = self.spent_budget(meeting).await?;
        if let Some(budget) = broke.filter(|_| !meeting.wrap) {
            run.end_budget(&agenda.render_out_of_budget(meeting, budget), deps.clock.now()).await?;
        }
        let reason = match broke {
            Some(_) => Some("the meeting's budget was used up"),
            None if meeting.wrap => Some("the meeting was wrapped up"),
            None if overdue => Some("the meeting was over time"),
            None => None,
        };
        if let Some(reason) = reason {
            run.skip_seats(&seats, reason, deps.clock.now()).await?;
            return self.close(&session, agenda).await;
        }
        if let Some(wait) = left_to_add(&seats, agenda, deps.clock.now()) {
            return Ok(Next::Within(wait));
        }
        let due = agenda.strategy(meeting).list_due(&seats);
        if due.is_empty() {
            return if self.open_next_round(&session, agenda).await? { Ok(Next::Now) } else { self.close(&session, agenda).await };
        }
        if let Some(next) = self.wait_before_turn(&session, agenda).await? {
            return Ok(next);
        }
        let turns = due.into_iter().map(|seat| self.give_floor(&session, seat, agenda));
        // Waits for all of them, because a dropped turn would leave its model call unsettled.
        futures_util::future::join_all(turns).await.into_iter().collect::<anyhow::Result<()>>()?;
        Ok(Next::Now)
    }

    async fn open(&self, run: &MeetingRun, meeting: &Meeting, agenda: &dyn Agenda) -> anyhow::Result<Next> {
        let deps = self.deps();
        let opening = agenda.open(meeting).await?;
        let seats = seats_of(meeting, 0, opening.participants);
        let now = deps.clock.now();
        run.open(&seats, &opening.outbox, now).await?;
        let waited = (now - meeting.called_at).to_std().unwrap_or_default();
        metrics::histogram!("teamroom_meeting_kickoff_seconds").record(waited.as_secs_f64());
        tracing::info!(meeting = %meeting.id, kind = meeting.kind.as_str(), by = meeting.called_by.describe(), seats = seats.len(), "meeting opened");
        Ok(Next::Now)
    }

    /// False if there is no further round.
    async fn open_next_round(&self, session: &Session<'_>, agenda: &dyn Agenda) -> anyhow::Result<bool> {
        let deps = self.deps();
        let meeting = session.meeting;
        let number = session.seats.last().map_or(0, |last| last.round + 1);
        if number >= MOST_ROUNDS {
            tracing::warn!(meeting = %meeting.id, "a meeting has had {MOST_ROUNDS} rounds and comes to its end");
            return Ok(false);
        }
        let Some(round) = agenda.next_round(session, session.run.job().cancelled()).await? else { return Ok(false) };
        let seats = seats_of(meeting, number, round.participants);
        if seats.is_empty() {
            return Ok(false);
        }
        session.run.open_round(&seats, round.payload.as_ref(), &round.outbox, deps.clock.now()).await?;
        tracing::info!(meeting = %meeting.id, round = number, seats = seats.len(), "round opened");
        // If it was not stored, somebody changed the meeting. The next step handles that.
        Ok(true)
    }

    async fn prepare(&self, run: &MeetingRun, meeting: &Meeting, agenda: &dyn Agenda) -> anyhow::Result<Next> {
        let deps = self.deps();
        let preparation = agenda.prepare(meeting, run.job().cancelled()).await?;
        run.record_material(&preparation.material, &preparation.outbox, deps.clock.now()).await?;
        Ok(Next::Now)
    }

    /// Creates the result. If the process stops, it is created after the next start.
    async fn close(&self, session: &Session<'_>, agenda: &dyn Agenda) -> anyhow::Result<Next> {
        let (deps, run) = (self.deps(), session.run);
        let Some(meeting) = run.begin_closing(deps.clock.now()).await? else { return Ok(Next::Now) };
        if meeting.closings > MOST_CLOSINGS {
            return self.give_up(run, &meeting, "its result was interrupted three times").await;
        }
        let seats = deps.store.list_seats(&meeting.id).await?;
        let session = Session { meeting: &meeting, seats: &seats, ..*session };
        let cancel = run.job().cancelled().child_token();
        let mut closing = std::pin::pin!(agenda.close(&session, &cancel));
        let (closed, silenced) = tokio::select! {
            closed = &mut closing => (closed, false),
            () = self.wait_for_silence(&meeting) => {
                cancel.cancel();
                // Waits for the end, so that the model calls are settled.
                (closing.await, true)
            }
        };
        match closed {
            // The result is created again, after the halt or by the next run.
            Err(_) if silenced || run.job().cancelled().is_cancelled() => run.release_closing(&meeting).await?,
            closed => closed?,
        }
        Ok(Next::Now)
    }

    /// Waits until the team is halted or the meeting is ended.
    async fn wait_for_silence(&self, meeting: &Meeting) {
        let mut changes = self.subscribe();
        loop {
            let silenced = async {
                let ended = self.deps().store.find_meeting(&meeting.id).await?.is_none_or(|meeting| meeting.state.is_over());
                Ok::<bool, StoreError>(ended || self.find_halt(meeting).await?.is_some())
            };
            match silenced.await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => tracing::warn!(meeting = %meeting.id, %error, "cannot see whether a meeting was ended"),
            }
            changes.next().await;
        }
    }

    /// The wait before the next turn: the pause between turns, and people who must be answered first. None: no wait.
    async fn wait_before_turn(&self, session: &Session<'_>, agenda: &dyn Agenda) -> anyhow::Result<Option<Next>> {
        let (deps, meeting, seats) = (self.deps(), session.meeting, session.seats);
        if seats.iter().all(|seat| seat.started_at.is_none()) {
            if let Some(revision) = agenda.revise(session, session.run.job().cancelled()).await? {
                session.run.revise(&revision, deps.clock.now()).await?;
                return Ok(Some(Next::Now));
            }
            let begins = agenda.begins_at(session.material).filter(|_| !meeting.wrap);
            let wait = begins.and_then(|begins| (begins - deps.clock.now()).to_std().ok());
            return Ok(wait.map(Next::Within));
        }
        // After a crash the interrupted turn starts again without a wait.
        let Some(since) = seats.iter().filter_map(|seat| seat.ended_at).max() else { return Ok(None) };
        // Skips the wait if the clock was set back, or is behind that of an earlier process.
        let Ok(quiet) = (deps.clock.now() - since).to_std() else { return Ok(None) };
        let pause = agenda.pause().saturating_sub(quiet);
        if !pause.is_zero() {
            return Ok(Some(Next::Within(pause)));
        }
        let patience = (LONGEST_TALK - (deps.clock.now() - since)).to_std().unwrap_or_default();
        let talking = !patience.is_zero() && deps.store.has_open_talk(&self.find_place(meeting).await?).await?;
        Ok(talking.then_some(Next::Answered(patience.min(LOOK))))
    }

    /// The place of the meeting: its thread, or its channel.
    async fn find_place(&self, meeting: &Meeting) -> Result<ChannelId, StoreError> {
        let thread = match self.find_agenda(&meeting.kind) {
            Some(agenda) => agenda.find_thread(meeting).await?,
            None => None,
        };
        Ok(thread.unwrap_or_else(|| meeting.channel.id.clone()))
    }

    /// Who halted the meeting's channel, its thread or the team. None: it is not halted.
    async fn find_halt(&self, meeting: &Meeting) -> Result<Option<String>, StoreError> {
        let halts = self.deps().store.list_halts().await?;
        if halts.is_empty() {
            return Ok(None);
        }
        let place = self.find_place(meeting).await?;
        let concerns = |scope: &HaltScope| match scope {
            HaltScope::All => true,
            HaltScope::Channel(channel) => *channel == meeting.channel.id || *channel == place,
            HaltScope::Persona(_) => false,
        };
        Ok(halts.into_iter().find(|halt| concerns(&halt.scope)).map(|halt| halt.by))
    }

    /// The budget, if it is used up. The cost of a turn is known only afterwards, so the last turn may exceed it.
    async fn spent_budget(&self, meeting: &Meeting) -> Result<Option<Money>, StoreError> {
        let Some(budget) = meeting.budget else { return Ok(None) };
        let (spent, _) = self.deps().store.spent_on(meeting.id.as_str()).await?;
        Ok((spent >= budget).then_some(budget))
    }

    /// Waits while the meeting is paused. After the longest pause, returns None so that the meeting closes, or ends it with a message.
    async fn keep_paused(&self, run: &MeetingRun, meeting: &Meeting, agenda: &dyn Agenda, paused: &Paused) -> anyhow::Result<Option<Next>> {
        let left = (LONGEST_PAUSE - (self.deps().clock.now() - paused.at)).to_std().unwrap_or_default();
        if !left.is_zero() {
            return Ok(Some(Next::Within(left)));
        }
        if agenda.outlasts(run, meeting, &Standstill::Paused { by: paused.by.clone() }).await? {
            return Ok(None);
        }
        self.give_up(run, meeting, &format!("{} paused it, and nobody resumed it", flatten(&paused.by, 40))).await.map(Some)
    }

    /// Waits while the meeting is halted. After the deadline, waits for the end of the halt to close the meeting, or cancels it without a message.
    async fn keep_silent(&self, run: &MeetingRun, meeting: &Meeting, agenda: &dyn Agenda, by: &str) -> anyhow::Result<Next> {
        let clock = &self.deps().clock;
        if let Ok(left) = (meeting.deadline - clock.now()).to_std()
            && !left.is_zero()
        {
            return Ok(Next::Within(left));
        }
        if agenda.outlasts(run, meeting, &Standstill::Halted { by: by.to_owned() }).await? {
            // A run may not last as long as a halt.
            return Err(JobError::Sleep(clock.now() + HALTED).into());
        }
        let reason = format!("{by} had paused the team until its time was over");
        run.end(MeetingState::Cancelled, &reason, &[], clock.now()).await?;
        Ok(Next::Over)
    }

    /// Ends a meeting without a result, and tells its channel why.
    async fn give_up(&self, run: &MeetingRun, meeting: &Meeting, reason: &str) -> anyhow::Result<Next> {
        let deps = self.deps();
        run.end(MeetingState::Failed, reason, &self.render_failure(meeting, reason), deps.clock.now()).await?;
        Ok(Next::Over)
    }
}

/// How much longer the person who reported last may add to the report. None if nobody may, or the time is over.
fn left_to_add(seats: &[Seat], agenda: &dyn Agenda, now: DateTime<Utc>) -> Option<Duration> {
    let last = seats.iter().rfind(|seat| seat.started_at.is_some())?;
    let ended = last.ended_at.filter(|_| last.who.is_awaited() && last.contribution.is_some())?;
    let limit = TimeDelta::from_std(agenda.turn_limit(&last.who)).ok()?;
    let until = (ended + ADDING).min(last.started_at? + limit);
    // Without a wait if the clock was set back.
    (ended <= now).then(|| (until - now).to_std().ok()).flatten().filter(|left| !left.is_zero())
}

fn seats_of(meeting: &Meeting, round: u32, participants: Vec<Participant>) -> Vec<Seat> {
    (0..).zip(participants).map(|(position, who)| Seat::waiting(&meeting.id, round, position, who)).collect()
}
