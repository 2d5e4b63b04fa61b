//! One turn of a meeting: from the seat that is given the floor to the row that says what it said, or why not.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::chat::Presence;
use crate::domain::ids::{ChannelId, PersonaSlug};
use crate::domain::meeting::{Contribution, Participant, Seat, SeatState};
use crate::domain::signal;
use crate::meeting::Meetings;
use crate::meeting::agenda::{Agenda, Session};
use crate::persona::turn::TurnError;
use crate::store::StoreError;

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
        let spoken = if seat.attempts > MOST_ATTEMPTS {
            Err("it was begun three times and never ended".to_owned())
        } else {
            match &seat.who {
                Participant::Persona(persona) => match self.hear_persona(session, &seat, persona, agenda).await {
                    Some(spoken) => spoken,
                    None => return Ok(()),
                },
                Participant::Person { .. } => {
                    parts.relay.wake(&meeting.channel.id);
                    if !self.wait_for_person(&seat, agenda.turn_limit(&seat.who)).await? {
                        return Ok(());
                    }
                    Err(format!("no report within {} min", agenda.turn_limit(&seat.who).as_secs() / 60))
                }
            }
        };
        let now = parts.clock.now();
        seat.ended_at = Some(now);
        let outbox = match spoken {
            Ok(contribution) => {
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
        if parts.store.finish_seat(&seat, &outbox, now).await? {
            parts.relay.wake(&meeting.channel.id);
            metrics::counter!("teamroom_seats_total", "state" => seat.state.as_str()).increment(1);
            tracing::info!(meeting = %meeting.id, who = ?seat.who, state = seat.state.as_str(), reason = seat.reason, "turn over");
        }
        Ok(())
    }

    /// What a persona says, or why it says nothing. None when it was passed over meanwhile, or the process ends and its turn is begun again.
    async fn hear_persona(
        &self,
        session: &Session<'_>,
        seat: &Seat,
        persona: &PersonaSlug,
        agenda: &dyn Agenda,
    ) -> Option<Result<Contribution, String>> {
        let parts = self.parts();
        let limit = agenda.turn_limit(&seat.who);
        let cancel = parts.kill.child_token();
        parts.platform.set_presence(persona, Presence::InMeeting).await;
        let mut speaking = std::pin::pin!(agenda.speak(session, seat, &cancel));
        let mut stopped = std::pin::pin!(self.watch_turn(seat, persona, &session.meeting.channel.id, limit, &cancel));
        let (why, result) = tokio::select! {
            result = &mut speaking => (None, result),
            // The turn is cancelled, never dropped: its call is settled.
            why = &mut stopped => (Some(why), speaking.await),
        };
        parts.platform.set_presence(persona, presence_after(&result)).await;
        if parts.kill.is_cancelled() || matches!(why, Some(Stopped::Over)) {
            return None;
        }
        match (result, why) {
            (Ok(contribution), _) => Some(Ok(contribution)),
            (Err(TurnError::Cancelled), Some(Stopped::Late)) => Some(Err(format!("no answer within {} s", limit.as_secs()))),
            // Wrapped up or halted; the next step sees to it.
            (Err(TurnError::Cancelled), _) => None,
            (Err(error), _) => {
                tracing::warn!(meeting = %seat.meeting, who = ?seat.who, %error, "a turn of a meeting failed");
                Some(Err(error.in_short()))
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
        let watch = async {
            let mut looked = self.inner.looked.subscribe();
            while looked.changed().await.is_ok() {
                match self.find_stop(seat).await {
                    Ok(Some(stopped)) => return stopped,
                    Ok(None) => {}
                    // A store that is away is no reason to throw away what is being said.
                    Err(error) => tracing::warn!(meeting = %seat.meeting, %error, "cannot see whether a turn was ended"),
                }
            }
            Stopped::Ended
        };
        let typing = async {
            loop {
                parts.platform.show_typing(persona, channel).await;
                parts.clock.sleep(TYPING_EVERY).await;
            }
        };
        let stopped = tokio::select! {
            () = parts.clock.sleep(limit) => Stopped::Late,
            stopped = watch => stopped,
            () = typing => Stopped::Ended,
        };
        cancel.cancel();
        stopped
    }

    /// Whether a person has ended this turn.
    async fn find_stop(&self, seat: &Seat) -> Result<Option<Stopped>, StoreError> {
        let store = &self.parts().store;
        let Some(meeting) = store.find_meeting(&seat.meeting).await? else { return Ok(Some(Stopped::Over)) };
        let seats = store.list_seats(&seat.meeting).await?;
        let own = seats.iter().find(|other| (other.round, other.position) == (seat.round, seat.position));
        if meeting.state.is_over() || own.is_none_or(|own| own.state.is_over()) {
            return Ok(Some(Stopped::Over));
        }
        let ended = meeting.wrap || self.find_halt(&meeting).await?.is_some();
        Ok(ended.then_some(Stopped::Ended))
    }

    /// Waits for a person's report, which the conversation stores. True when none came in time.
    async fn wait_for_person(&self, seat: &Seat, limit: Duration) -> Result<bool, StoreError> {
        let parts = self.parts();
        let asked_at = seat.started_at.unwrap_or_else(|| parts.clock.now());
        loop {
            if parts.stop.is_cancelled() || self.find_stop(seat).await?.is_some() {
                return Ok(false);
            }
            let waited = (parts.clock.now() - asked_at).to_std().unwrap_or_default();
            if waited >= limit {
                return Ok(true);
            }
            self.rest(limit.saturating_sub(waited)).await;
        }
    }
}

/// What a persona is seen doing after its turn.
fn presence_after(result: &Result<Contribution, TurnError>) -> Presence {
    match result {
        Err(TurnError::Paused) => Presence::Paused,
        Err(TurnError::OutOfBudget(_)) => Presence::OutOfBudget,
        _ => Presence::Listening,
    }
}

/// Why a turn was ended from outside.
enum Stopped {
    /// Its time is over.
    Late,
    /// The meeting was wrapped up or halted; the seat stands as it is.
    Ended,
    /// The seat was passed over, or the meeting is over.
    Over,
}
