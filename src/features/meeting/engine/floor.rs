//! One turn of a meeting: from the seat that is given the floor to the row that says what it said, or why not.

use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio_util::sync::CancellationToken;

use crate::features::meeting::agenda::{Agenda, Session};
use crate::features::meeting::engine::RETRY;
use crate::features::meeting::model::{Contribution, Participant, Seat, SeatState};
use crate::features::meeting::{Meetings, signal};
use kernel::agent::RunError;
use kernel::chat::Presence;
use kernel::chat::outbound::OutboundMessage;
use kernel::db::StoreError;
use kernel::ids::{ChannelId, PersonaSlug};

/// A turn that was begun this often and never ended has taken the process down with it.
const MOST_ATTEMPTS: u32 = 3;

/// Typing fades after 10 s on Discord; it is shown anew before that.
const TYPING_EVERY: Duration = Duration::from_secs(8);

impl Meetings {
    /// Lets a seat speak and stores how that ended. A persona that hangs or fails is passed over with the reason.
    pub(super) async fn give_floor(&self, session: &Session<'_>, seat: &Seat, agenda: &dyn Agenda) -> anyhow::Result<()> {
        let parts = self.parts();
        let meeting = session.meeting;
        let invitation = agenda.invite(meeting, seat);
        let Some(mut seat) = parts.store.begin_seat(&meeting.id, seat.round, seat.position, &invitation, parts.clock.now()).await? else {
            return Ok(());
        };
        let spoken = match &seat.who {
            // Waiting for somebody takes no process down, however often it was begun.
            who if who.is_awaited() => {
                parts.relay.wake(&meeting.channel.id);
                let is_late = self.wait_for_person(&seat, agenda.turn_limit(&seat.who), meeting.deadline).await;
                // The report, a pause or its end may have come in the same moment.
                if !is_late || self.find_stop(&seat).await?.is_some() {
                    return Ok(());
                }
                Err("no report came in time".to_owned())
            }
            _ if seat.attempts > MOST_ATTEMPTS => Err("it was begun three times and never ended".to_owned()),
            _ => match self.hear(session, &seat, agenda).await? {
                Some(spoken) => spoken,
                None => return Ok(()),
            },
        };
        seat.ended_at = Some(parts.clock.now());
        let outbox = match spoken {
            Ok(contribution) => {
                for problem in &contribution.problems {
                    tracing::warn!(meeting = %meeting.id, who = ?seat.who, problem, "a report was not as asked for");
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
        if self.store_turn(&seat, &outbox).await? {
            parts.relay.wake(&meeting.channel.id);
            metrics::counter!("teamroom_seats_total", "state" => seat.state.as_str()).increment(1);
            tracing::info!(meeting = %meeting.id, who = ?seat.who, state = seat.state.as_str(), reason = seat.reason, "turn over");
        }
        Ok(())
    }

    /// Stores how a turn ended. What a persona wrote was paid for, so a store that is away is waited for as long as the process runs.
    async fn store_turn(&self, seat: &Seat, outbox: &[OutboundMessage]) -> Result<bool, StoreError> {
        let parts = self.parts();
        loop {
            match parts.store.finish_seat(seat, outbox, parts.clock.now()).await {
                Err(error) if error.is_retryable() && seat.contribution.is_some() && !parts.stop.is_cancelled() => {
                    tracing::warn!(meeting = %seat.meeting, %error, "a turn waits for the store");
                    parts.clock.sleep(RETRY).await;
                }
                done => return done,
            }
        }
    }

    /// What a persona or a guest says, or why it says nothing. None when the seat is to be looked at anew: it was passed over meanwhile, the team was
    /// halted, or the process ends.
    async fn hear(
        &self,
        session: &Session<'_>,
        seat: &Seat,
        agenda: &dyn Agenda,
    ) -> Result<Option<Result<Contribution, String>>, StoreError> {
        let parts = self.parts();
        // A guest has no account: the facilitator is seen typing for it.
        let (persona, own) = match &seat.who {
            Participant::Persona(persona) => (persona, true),
            _ => (&session.meeting.facilitator, false),
        };
        let limit = agenda.turn_limit(&seat.who);
        let cancel = parts.kill.child_token();
        if own {
            parts.platform.set_presence(persona, Presence::InMeeting).await;
        }
        let mut speaking = std::pin::pin!(agenda.speak(session, seat, &cancel));
        let mut stopped = std::pin::pin!(self.watch_turn(seat, persona, &session.meeting.channel.id, limit, &cancel));
        let (why, result) = tokio::select! {
            result = &mut speaking => (None, result),
            // The turn is cancelled, never dropped: its call is settled.
            why = &mut stopped => (Some(why), speaking.await),
        };
        if own {
            parts.platform.set_presence(persona, presence_after(&result)).await;
        }
        if parts.kill.is_cancelled() || matches!(why, Some(Stopped::Halted)) {
            parts.store.release_seat(seat).await?;
            return Ok(None);
        }
        if matches!(why, Some(Stopped::Over)) {
            return Ok(None);
        }
        match (result, why) {
            (Ok(contribution), _) => Ok(Some(Ok(contribution))),
            (Err(RunError::Cancelled), Some(Stopped::Late)) => Ok(Some(Err(format!("no answer within {} s", limit.as_secs())))),
            // Wrapped up; the next step sees to it.
            (Err(RunError::Cancelled), _) => Ok(None),
            // Nobody is passed over for a store that is away for a moment.
            (Err(RunError::Store(error)), _) if error.is_retryable() => Err(error),
            (Err(error), _) => {
                tracing::warn!(meeting = %seat.meeting, who = ?seat.who, %error, "a turn of a meeting failed");
                Ok(Some(Err(error.in_short())))
            }
        }
    }

    /// Shows that a persona is at it, and cancels its turn when its time is over or a person ends it.
    async fn watch_turn(
        &self,
        seat: &Seat,
        persona: &PersonaSlug,
        channel: &ChannelId,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Stopped {
        let parts = self.parts();
        let typing = async {
            loop {
                parts.platform.show_typing(persona, channel).await;
                parts.clock.sleep(TYPING_EVERY).await;
            }
        };
        let stopped = tokio::select! {
            () = parts.clock.sleep(limit) => Stopped::Late,
            stopped = self.wait_for_stop(seat) => stopped,
            stopped = typing => stopped,
        };
        cancel.cancel();
        stopped
    }

    /// Waits until a person has ended this turn. A store that is away is asked again.
    async fn wait_for_stop(&self, seat: &Seat) -> Stopped {
        let mut woken = self.parts().wakeup.subscribe();
        loop {
            match self.find_stop(seat).await {
                Ok(Some(stopped)) => return stopped,
                Ok(None) => {}
                Err(error) => tracing::warn!(meeting = %seat.meeting, %error, "cannot see whether a turn was ended"),
            }
            woken.next().await;
        }
    }

    /// Whether a person has ended this turn.
    async fn find_stop(&self, seat: &Seat) -> Result<Option<Stopped>, StoreError> {
        let store = &self.parts().store;
        let Some(meeting) = store.find_meeting(&seat.meeting).await? else { return Ok(Some(Stopped::Over)) };
        let seats = store.list_seats(&seat.meeting).await?;
        let own = seats.iter().find(|other| (other.round, other.position) == (seat.round, seat.position));
        // After a pause a person's time begins anew.
        if meeting.state.is_over() || own.is_none_or(|own| own.state.is_over() || own.started_at != seat.started_at) {
            return Ok(Some(Stopped::Over));
        }
        // A pause lets whoever speaks finish, but waits for nobody.
        if self.find_halt(&meeting).await?.is_some() || (meeting.paused.is_some() && !meeting.wrap && seat.who.is_awaited()) {
            return Ok(Some(Stopped::Halted));
        }
        Ok(meeting.wrap.then_some(Stopped::Wrapped))
    }

    /// Waits for a person's report, which the conversation stores. True when none came in time. The time that was told to the person stands
    /// over a restart; it is slept through and not read off the clock, so that a clock that is set back does not prolong it.
    async fn wait_for_person(&self, seat: &Seat, limit: Duration, deadline: DateTime<Utc>) -> bool {
        let parts = self.parts();
        let now = parts.clock.now();
        let waited = seat.started_at.and_then(|asked_at| (now - asked_at).to_std().ok()).unwrap_or_default();
        // The meeting's own time may be over before.
        let left = limit.saturating_sub(waited).min((deadline - now).to_std().unwrap_or_default());
        tokio::select! {
            () = parts.clock.sleep(left) => true,
            _ = self.wait_for_stop(seat) => false,
            () = parts.stop.cancelled() => false,
        }
    }
}

/// What a persona is seen doing after its turn.
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
    /// The meeting comes to its end; whole sentences that were written by then are kept.
    Wrapped,
    /// Silence was asked for: nothing is kept, and the seat stands as it is.
    Halted,
    /// The seat was passed over, or the meeting is over.
    Over,
}
