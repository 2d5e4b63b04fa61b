//! Runs one turn of a meeting and stores its result.

use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use crate::features::meeting::agenda::{Agenda, Session};
use crate::features::meeting::model::{Contribution, Participant, Seat, SeatState};
use crate::features::meeting::store::MeetingRun;
use crate::features::meeting::{Meetings, signal};
use kernel::agent::RunError;
use kernel::chat::Presence;
use kernel::chat::outbound::OutboundMessage;
use kernel::db::StoreError;
use kernel::ids::{ChannelId, PersonaSlug};
use kernel::jobs::{JobContext, JobError};

/// A turn that was started this often without an end has crashed the process.
const MOST_ATTEMPTS: u32 = 3;

/// The pause before a turn is stored again while the database is unavailable.
const RETRY: Duration = Duration::from_secs(1);

/// Discord's typing indicator lasts 10 s and is renewed before that.
const TYPING_EVERY: Duration = Duration::from_secs(8);

impl Meetings {
    /// Runs the turn of a seat and stores how it ended. A persona that hangs or fails is skipped with the reason.
    pub(super) async fn give_floor(&self, session: &Session<'_>, seat: &Seat, agenda: &dyn Agenda) -> anyhow::Result<()> {
        let deps = self.deps();
        let meeting = session.meeting;
        let invitation = agenda.invite(meeting, seat);
        let Some(mut seat) = session.run.begin_seat((seat.round, seat.position), &invitation, deps.clock.now()).await? else {
            return Ok(());
        };
        let key = (meeting.id.clone(), seat.round, seat.position);
        let unsaved = self.unsaved().get(&key).cloned();
        let spoken = match unsaved {
            // An earlier run could not store the contribution.
            Some(contribution) => Ok(contribution),
            // Waiting for a person cannot crash the process, so attempts do not count.
            None if seat.who.is_awaited() => {
                let is_late = self.wait_for_person(session.run.job(), &seat, agenda.turn_limit(&seat.who), meeting.deadline).await;
                // The person's report, a pause or the meeting's end may have come at the same moment.
                if !is_late || self.find_stop(&seat).await?.is_some() {
                    return Ok(());
                }
                Err("no report came in time".to_owned())
            }
            None if seat.attempts > MOST_ATTEMPTS => Err("it was interrupted three times".to_owned()),
            None => match self.hear(session, &seat, agenda).await? {
                Some(spoken) => spoken,
                None => return Ok(()),
            },
        };
        if let Ok(contribution) = &spoken {
            self.unsaved().insert(key.clone(), contribution.clone());
        }
        seat.ended_at = Some(deps.clock.now());
        let outbox = match spoken {
            Ok(contribution) => {
                for problem in &contribution.problems {
                    tracing::warn!(meeting = %meeting.id, who = seat.who.id(), problem, "a report was not as asked for");
                }
                let quiet = contribution.signals.is_empty() && signal::is_quiet(&contribution.text);
                seat.state = if quiet { SeatState::Quiet } else { SeatState::Spoke };
                let outbox = agenda.render(meeting, &seat, &contribution);
                seat.contribution = Some(contribution);
                outbox
            }
            Err(reason) => {
                seat.state = SeatState::Skipped;
                let outbox = agenda.render_skipped(meeting, &seat, &reason);
                seat.reason = Some(reason);
                outbox
            }
        };
        let stored = self.store_turn(session.run, &seat, &outbox).await;
        if !matches!(stored, Err(JobError::Unavailable(_))) {
            self.unsaved().remove(&key);
        }
        if stored? {
            metrics::counter!("teamroom_seats_total", "state" => seat.state.as_str()).increment(1);
            tracing::info!(meeting = %meeting.id, who = seat.who.id(), state = seat.state.as_str(), reason = seat.reason, "turn over");
        }
        Ok(())
    }

    /// Stores the end of a turn. Retries while the database is unavailable, because the model call is paid.
    async fn store_turn(&self, run: &MeetingRun, seat: &Seat, outbox: &[OutboundMessage]) -> Result<bool, JobError> {
        let (clock, cancelled) = (&self.deps().clock, run.job().cancelled());
        loop {
            match run.finish_seat(seat, outbox, clock.now()).await {
                Err(JobError::Unavailable(error)) if seat.contribution.is_some() && !cancelled.is_cancelled() => {
                    tracing::warn!(meeting = %seat.meeting, %error, "a turn waits for the store");
                    cancelled.run_until_cancelled(clock.sleep(RETRY)).await;
                }
                done => return done,
            }
        }
    }

    /// The contribution of a persona or guest, or why there is none. None if the seat must be read again: it was skipped, the team was
    /// halted, or the process is stopping.
    async fn hear(
        &self,
        session: &Session<'_>,
        seat: &Seat,
        agenda: &dyn Agenda,
    ) -> Result<Option<Result<Contribution, String>>, JobError> {
        let (deps, job) = (self.deps(), session.run.job());
        // A guest has no account, so the facilitator shows as typing.
        let (persona, own) = match &seat.who {
            Participant::Persona(persona) => (persona, true),
            _ => (&session.meeting.facilitator, false),
        };
        let limit = agenda.turn_limit(&seat.who);
        let cancel = job.cancelled().child_token();
        if own {
            deps.platform.set_presence(persona, Presence::InMeeting).await;
        }
        let place = self.find_place(session.meeting).await?;
        let mut speaking = std::pin::pin!(agenda.speak(session, seat, &cancel));
        let mut stopped = std::pin::pin!(self.watch_turn(seat, persona, &place, limit, &cancel));
        let (why, result) = tokio::select! {
            result = &mut speaking => (None, result),
            // The turn is cancelled and awaited, so that its model call is settled.
            why = &mut stopped => (Some(why), speaking.await),
        };
        if own {
            deps.platform.set_presence(persona, presence_after(&result)).await;
        }
        if job.cancelled().is_cancelled() || matches!(why, Some(Stopped::Halted)) {
            session.run.release_seat(seat).await?;
            return Ok(None);
        }
        if matches!(why, Some(Stopped::Over)) {
            return Ok(None);
        }
        match (result, why) {
            (Ok(contribution), _) => Ok(Some(Ok(contribution))),
            (Err(RunError::Cancelled), Some(Stopped::Late)) => Ok(Some(Err(format!("no answer within {} s", limit.as_secs())))),
            // The meeting is closing. The next step handles it.
            (Err(RunError::Cancelled), _) => Ok(None),
            // A short database outage skips nobody.
            (Err(RunError::Store(error)), _) if error.is_retryable() => Err(error.into()),
            // It is said where people read it, and nothing went wrong.
            (Err(error @ RunError::Nothing), _) => Ok(Some(Err(error.in_short()))),
            (Err(error), _) => {
                tracing::warn!(meeting = %seat.meeting, who = seat.who.id(), %error, "a turn of a meeting failed");
                Ok(Some(Err(error.in_short())))
            }
        }
    }

    /// Shows a persona as typing. Cancels its turn at the time limit or if a person ends it.
    async fn watch_turn(
        &self,
        seat: &Seat,
        persona: &PersonaSlug,
        channel: &ChannelId,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Stopped {
        let deps = self.deps();
        let typing = async {
            loop {
                deps.platform.show_typing(persona, channel).await;
                deps.clock.sleep(TYPING_EVERY).await;
            }
        };
        let stopped = tokio::select! {
            () = deps.clock.sleep(limit) => Stopped::Late,
            stopped = self.wait_for_stop(seat) => stopped,
            stopped = typing => stopped,
        };
        cancel.cancel();
        stopped
    }

    /// Waits until a person ends this turn. Retries while the database is unavailable.
    async fn wait_for_stop(&self, seat: &Seat) -> Stopped {
        let mut changes = self.subscribe();
        loop {
            match self.find_stop(seat).await {
                Ok(Some(stopped)) => return stopped,
                Ok(None) => {}
                Err(error) => tracing::warn!(meeting = %seat.meeting, %error, "cannot see whether a turn was ended"),
            }
            changes.next().await;
        }
    }

    /// Whether a person has ended this turn.
    async fn find_stop(&self, seat: &Seat) -> Result<Option<Stopped>, StoreError> {
        let store = &self.deps().store;
        let Some(meeting) = store.find_meeting(&seat.meeting).await? else { return Ok(Some(Stopped::Over)) };
        let seats = store.list_seats(&seat.meeting).await?;
        let own = seats.iter().find(|other| (other.round, other.position) == (seat.round, seat.position));
        // After a pause a person's time starts again.
        if meeting.state.is_over() || own.is_none_or(|own| own.state.is_over() || own.started_at != seat.started_at) {
            return Ok(Some(Stopped::Over));
        }
        // During a pause or halt, personas finish their turn, but nobody waits for people.
        if self.find_halt(&meeting).await?.is_some() || (meeting.paused.is_some() && !meeting.wrap && seat.who.is_awaited()) {
            return Ok(Some(Stopped::Halted));
        }
        Ok(meeting.wrap.then_some(Stopped::Wrapped))
    }

    /// Waits for a person's report, which the chat feature stores. True if none came in time. The announced deadline survives a restart.
    /// Elapsed time is counted, so a clock that is set back does not extend it.
    async fn wait_for_person(&self, job: &JobContext, seat: &Seat, limit: Duration, deadline: DateTime<Utc>) -> bool {
        let deps = self.deps();
        let now = deps.clock.now();
        let waited = seat.started_at.and_then(|asked_at| (now - asked_at).to_std().ok()).unwrap_or_default();
        // The meeting's deadline may come first.
        let left = limit.saturating_sub(waited).min((deadline - now).to_std().unwrap_or_default());
        tokio::select! {
            () = deps.clock.sleep(left) => true,
            _ = self.wait_for_stop(seat) => false,
            () = job.stopping().cancelled() => false,
            () = job.cancelled().cancelled() => false,
        }
    }
}

/// The presence after a turn.
fn presence_after(result: &Result<Contribution, RunError>) -> Presence {
    match result {
        Err(RunError::Paused) => Presence::Paused,
        Err(RunError::OutOfBudget(_)) => Presence::OutOfBudget,
        _ => Presence::Listening,
    }
}

/// Why a turn was ended from outside.
enum Stopped {
    /// Its time is over.
    Late,
    /// The meeting is closing. Whole sentences written so far are kept.
    Wrapped,
    /// The team was halted. Nothing is kept, and the seat is unchanged.
    Halted,
    /// The seat was skipped, or the meeting is over.
    Over,
}
