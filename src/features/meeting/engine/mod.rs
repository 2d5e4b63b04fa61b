//! Runs a meeting step by step. Each step first reads the meeting's state, so any process can continue.

mod floor;

use std::sync::Arc;
use std::time::Duration;

use crate::features::meeting::Meetings;
use crate::features::meeting::agenda::{Agenda, Session};
use crate::features::meeting::model::{Meeting, MeetingState, Participant, Paused, Seat};
use kernel::agent::halts::HaltScope;
use kernel::catch_panic::contain;
use kernel::db::StoreError;
use kernel::ids::MeetingId;
use kernel::money::Money;
use kernel::text::flatten;

/// A result that was started this often and never stored cannot be created.
const MOST_CLOSINGS: u32 = 3;

/// After this many failed steps in a row the meeting is given up. Database outages do not count.
const MOST_FAILURES: u32 = 3;

/// The pause after a failed step.
const RETRY: Duration = Duration::from_secs(1);

/// A longer pause ends the meeting, because it blocks its channel for new ones.
const LONGEST_PAUSE: chrono::TimeDelta = chrono::TimeDelta::days(1);

/// The limit for agendas that would never end, which would cost money for ever.
const MOST_ROUNDS: u32 = 100;

/// The longest delay of the next speaker while people talk to the coordinator.
const LONGEST_TALK: chrono::TimeDelta = chrono::TimeDelta::minutes(2);

/// What to do after a step.
enum Next {
    Now,
    /// Continue after this time, or earlier if the meeting was changed.
    Within(Duration),
    /// As `Within`, or earlier when people have been answered.
    Answered(Duration),
    Over,
}

impl Meetings {
    /// Runs a meeting until it is over or the process stops. Its state is in the database.
    pub(super) async fn run(self, id: MeetingId) {
        let parts = self.parts();
        let (mut woken, mut answered) = (parts.wakeup.subscribe(), parts.answered.subscribe());
        let mut failures = 0;
        while !parts.stop.is_cancelled() {
            // On the heap, because the future of a model call is large.
            match contain(Box::pin(self.step(&id))).await {
                Ok(Next::Now) => failures = 0,
                Ok(Next::Within(wait)) => tokio::select! {
                    () = self.rest(wait) => {}
                    () = woken.next() => {}
                },
                Ok(Next::Answered(wait)) => tokio::select! {
                    () = self.rest(wait) => {}
                    () = woken.next() => {}
                    () = answered.next() => {}
                },
                Ok(Next::Over) => break,
                Err(error) => {
                    tracing::error!(meeting = %id, error = format!("{error:#}"), "a step of a meeting went wrong");
                    metrics::counter!("teamroom_errors_total", "where" => "meeting").increment(1);
                    let away = error.downcast_ref::<StoreError>().is_some_and(StoreError::is_retryable);
                    failures += u32::from(!away);
                    if failures >= MOST_FAILURES {
                        self.give_up(&id, "it could not continue; see the log").await;
                    }
                    self.rest(RETRY).await;
                }
            }
        }
        self.running().remove(&id);
    }

    async fn step(&self, id: &MeetingId) -> anyhow::Result<Next> {
        let parts = self.parts();
        let open = parts.store.list_open_meetings().await?;
        let Some(open) = open.into_iter().find(|open| open.meeting.id == *id) else { return Ok(Next::Over) };
        let meeting = &open.meeting;
        let Some(agenda) = self.find_agenda(&meeting.kind).map(Arc::as_ref) else {
            let reason = format!("this team has no {} any more", meeting.kind);
            parts.store.end_meeting(id, MeetingState::Failed, &reason, &[], parts.clock.now()).await?;
            return Ok(Next::Over);
        };
        if let Some(by) = self.find_halt(meeting).await? {
            return self.keep_silent(meeting, &by).await;
        }
        if let Some(paused) = meeting.paused.as_ref().filter(|_| !meeting.wrap && meeting.state != MeetingState::Closing) {
            return self.keep_paused(meeting, paused).await;
        }
        let overdue = parts.clock.now() >= meeting.deadline;
        if overdue && open.material.is_none() {
            // No process ran in time. A report without participants is useless.
            self.give_up(id, "the team was offline until its time was over").await;
            return Ok(Next::Now);
        }
        if meeting.state == MeetingState::Called {
            return self.open(meeting, agenda).await;
        }
        let Some(material) = open.material else { return self.prepare(meeting, agenda).await };
        let seats = parts.store.list_seats(id).await?;
        let session = Session { meeting, material: &material, seats: &seats };
        if meeting.state == MeetingState::Closing {
            return self.close(&session, agenda).await;
        }
        let broke = self.spent_budget(meeting).await?;
        if let Some(budget) = broke.filter(|_| !meeting.wrap) {
            let notice = agenda.render_out_of_budget(meeting, budget);
            parts.store.end_budget(&meeting.id, &notice, parts.clock.now()).await?;
        }
        let reason = match broke {
            Some(_) => Some("the meeting's budget was used up"),
            None if meeting.wrap => Some("the meeting was wrapped up"),
            None if overdue => Some("the meeting was over time"),
            None => None,
        };
        if let Some(reason) = reason {
            self.pass_over(meeting, &seats, reason).await?;
            return self.close(&session, agenda).await;
        }
        let due = agenda.strategy(meeting).list_due(&seats);
        if due.is_empty() {
            return if self.open_next_round(&session, agenda).await? { Ok(Next::Now) } else { self.close(&session, agenda).await };
        }
        if let Some(next) = self.wait_before_turn(meeting, agenda, &seats).await? {
            return Ok(next);
        }
        let turns = due.into_iter().map(|seat| self.give_floor(&session, seat, agenda));
        // Waits for all of them, because a dropped turn would leave its model call unsettled.
        futures_util::future::join_all(turns).await.into_iter().collect::<anyhow::Result<()>>()?;
        Ok(Next::Now)
    }

    async fn open(&self, meeting: &Meeting, agenda: &dyn Agenda) -> anyhow::Result<Next> {
        let parts = self.parts();
        let opening = agenda.open(meeting).await?;
        let seats = seats_of(meeting, 0, opening.participants);
        let now = parts.clock.now();
        parts.store.open_meeting(&meeting.id, &seats, &opening.outbox, now).await?;
        let waited = (now - meeting.called_at).to_std().unwrap_or_default();
        metrics::histogram!("teamroom_meeting_kickoff_seconds").record(waited.as_secs_f64());
        tracing::info!(meeting = %meeting.id, kind = meeting.kind.as_str(), by = meeting.called_by.describe(), seats = seats.len(), "meeting opened");
        Ok(Next::Now)
    }

    /// False if there is no further round.
    async fn open_next_round(&self, session: &Session<'_>, agenda: &dyn Agenda) -> anyhow::Result<bool> {
        let parts = self.parts();
        let meeting = session.meeting;
        let number = session.seats.last().map_or(0, |last| last.round + 1);
        if number >= MOST_ROUNDS {
            tracing::warn!(meeting = %meeting.id, "a meeting has had {MOST_ROUNDS} rounds and comes to its end");
            return Ok(false);
        }
        let Some(round) = agenda.next_round(session, &parts.kill).await? else { return Ok(false) };
        let seats = seats_of(meeting, number, round.participants);
        if seats.is_empty() {
            return Ok(false);
        }
        parts.store.open_round(&meeting.id, &seats, round.payload.as_ref(), &round.outbox, parts.clock.now()).await?;
        tracing::info!(meeting = %meeting.id, round = number, seats = seats.len(), "round opened");
        // If it was not stored, somebody changed the meeting. The next step handles that.
        Ok(true)
    }

    async fn prepare(&self, meeting: &Meeting, agenda: &dyn Agenda) -> anyhow::Result<Next> {
        let parts = self.parts();
        let preparation = agenda.prepare(meeting, &parts.kill).await?;
        parts.store.record_material(&meeting.id, &preparation.material, &preparation.outbox, parts.clock.now()).await?;
        Ok(Next::Now)
    }

    /// Creates the result. If the process stops, it is created after the next start.
    async fn close(&self, session: &Session<'_>, agenda: &dyn Agenda) -> anyhow::Result<Next> {
        let parts = self.parts();
        let Some(meeting) = parts.store.begin_closing(&session.meeting.id, parts.clock.now()).await? else { return Ok(Next::Now) };
        if meeting.closings > MOST_CLOSINGS {
            self.give_up(&meeting.id, "its result was interrupted three times").await;
            return Ok(Next::Now);
        }
        let seats = parts.store.list_seats(&meeting.id).await?;
        let session = Session { meeting: &meeting, material: session.material, seats: &seats };
        let cancel = parts.kill.child_token();
        let mut closing = std::pin::pin!(agenda.close(&session, &cancel));
        tokio::select! {
            closed = &mut closing => closed?,
            () = self.wait_for_silence(&meeting) => {
                cancel.cancel();
                // The model calls are settled. The result is created again after the halt.
                if closing.await.is_ok() {
                    return Ok(Next::Now);
                }
                parts.store.release_closing(&meeting).await?;
                return Ok(Next::Now);
            }
        }
        Ok(Next::Now)
    }

    /// Waits until the team is halted or the meeting is ended.
    async fn wait_for_silence(&self, meeting: &Meeting) {
        let mut woken = self.parts().wakeup.subscribe();
        loop {
            woken.next().await;
            let silenced = async {
                let ended = self.parts().store.find_meeting(&meeting.id).await?.is_none_or(|meeting| meeting.state.is_over());
                Ok::<bool, StoreError>(ended || self.find_halt(meeting).await?.is_some())
            };
            match silenced.await {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => tracing::warn!(meeting = %meeting.id, %error, "cannot see whether a meeting was ended"),
            }
        }
    }

    /// The wait before the next turn: the pause between turns, and people who must be answered first. None: no wait.
    async fn wait_before_turn(&self, meeting: &Meeting, agenda: &dyn Agenda, seats: &[Seat]) -> Result<Option<Next>, StoreError> {
        let parts = self.parts();
        // After a crash the interrupted turn starts again without a wait.
        let Some(since) = seats.iter().filter_map(|seat| seat.ended_at).max() else { return Ok(None) };
        // Skips the wait if the clock was set back, or is behind that of an earlier process.
        let Ok(quiet) = (parts.clock.now() - since).to_std() else { return Ok(None) };
        let pause = agenda.pause().saturating_sub(quiet);
        if !pause.is_zero() {
            return Ok(Some(Next::Within(pause)));
        }
        let patience = (LONGEST_TALK - (parts.clock.now() - since)).to_std().unwrap_or_default();
        let talking = !patience.is_zero() && parts.store.has_open_talk(&meeting.channel.id).await?;
        Ok(talking.then_some(Next::Answered(patience)))
    }

    /// Skips all who have not spoken.
    async fn pass_over(&self, meeting: &Meeting, seats: &[Seat], reason: &str) -> Result<(), StoreError> {
        for seat in seats.iter().filter(|seat| !seat.state.is_over()) {
            self.parts().store.skip_seat(&meeting.id, &seat.who, reason, self.parts().clock.now()).await?;
        }
        Ok(())
    }

    /// Who halted the meeting's channel or the team. None: it is not halted.
    async fn find_halt(&self, meeting: &Meeting) -> Result<Option<String>, StoreError> {
        let concerns = |scope: &HaltScope| match scope {
            HaltScope::All => true,
            HaltScope::Channel(channel) => *channel == meeting.channel.id,
            HaltScope::Persona(_) => false,
        };
        let halts = self.parts().store.list_halts().await?;
        Ok(halts.into_iter().find(|halt| concerns(&halt.scope)).map(|halt| halt.by))
    }

    /// The budget, if it is used up. The cost of a turn is known only afterwards, so the last turn may exceed it.
    async fn spent_budget(&self, meeting: &Meeting) -> Result<Option<Money>, StoreError> {
        let Some(budget) = meeting.budget else { return Ok(None) };
        let (spent, _) = self.parts().store.spent_on(meeting.id.as_str()).await?;
        Ok((spent >= budget).then_some(budget))
    }

    /// Paused. Ended with a message once the pause has lasted too long.
    async fn keep_paused(&self, meeting: &Meeting, paused: &Paused) -> anyhow::Result<Next> {
        let left = (LONGEST_PAUSE - (self.parts().clock.now() - paused.at)).to_std().unwrap_or_default();
        if left.is_zero() {
            self.give_up(&meeting.id, &format!("{} paused it, and nobody resumed it", flatten(&paused.by, 40))).await;
            return Ok(Next::Now);
        }
        Ok(Next::Within(left))
    }

    /// Halted. Cancelled without a message once its deadline passes.
    async fn keep_silent(&self, meeting: &Meeting, by: &str) -> anyhow::Result<Next> {
        let parts = self.parts();
        if let Ok(left) = (meeting.deadline - parts.clock.now()).to_std()
            && !left.is_zero()
        {
            return Ok(Next::Within(left));
        }
        let reason = format!("{by} had paused the team until its time was over");
        parts.store.end_meeting(&meeting.id, MeetingState::Cancelled, &reason, &[], parts.clock.now()).await?;
        Ok(Next::Over)
    }

    async fn give_up(&self, id: &MeetingId, reason: &str) {
        let parts = self.parts();
        let ended = async {
            let Some(meeting) = parts.store.find_meeting(id).await? else { return Ok(()) };
            let outbox = self.find_agenda(&meeting.kind).map_or_else(Vec::new, |agenda| agenda.render_failure(&meeting, reason));
            parts.store.end_meeting(id, MeetingState::Failed, reason, &outbox, parts.clock.now()).await?;
            Ok::<(), StoreError>(())
        };
        if let Err(error) = ended.await {
            tracing::warn!(meeting = %id, %error, "a meeting could not be given up");
        }
    }

    async fn rest(&self, wait: Duration) {
        let parts = self.parts();
        tokio::select! {
            () = parts.clock.sleep(wait) => {}
            () = parts.stop.cancelled() => {}
        }
    }
}

fn seats_of(meeting: &Meeting, round: u32, participants: Vec<Participant>) -> Vec<Seat> {
    (0..).zip(participants).map(|(position, who)| Seat::waiting(&meeting.id, round, position, who)).collect()
}
