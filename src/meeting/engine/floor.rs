//! One turn of a meeting: from the seat that is given the floor to the row that says what it said, or why not.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

        let spoken = match &seat.who {
            Participant::Persona(_) if seat.attempts > MOST_ATTEMPTS => Err("it was begun three times and never ended".to_owned()),
            Participant::Persona(persona) => match self.hear_persona(session, &seat, persona, agenda).await {
                Some(spoken) => spoken,
                None => return Ok(()),
            },
            // Waiting for somebody takes no process down, however often it was begun.
            Participant::Person { .. } => {
                parts.relay.wake(&meeting.channel.id);
                if !self.wait_for_person(&seat, agenda.turn_limit(&seat.who), meeting.deadline).await? {
                    return Ok(());
                }
                Err("no report came in time".to_owned())
            }
        };
        seat.ended_at = Some(parts.clock.now());
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
<<<<<<< HEAD
        let mut stopped = std::pin::pin!(self.watch_turn(seat, persona, &session.meeting.channel.id, limit, &cancel));
        let (why, result) = tokio::select! {
            result = &mut speaking => (None, result),
            // The turn is cancelled, never dropped: its call is settled.
            why = &mut stopped => (Some(why), speaking.await),
=======
        let mut stopped = std::pin::pin!(self.watch_turn(seat, &session.meeting.channel.id, limit, &cancel));
        let (mut why, result) = tokio::select! {
            result = &mut speaking => (None, result),
            // The turn is cancelled, never dropped: its call is settled.
            why = &mut stopped => {
                let result = speaking.await;
                (Some(why?), result)
            }
>>>>>>> t-crash
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
            // Nobody is passed over for a store that is away for a moment.
            (Err(TurnError::Store(error)), _) if error.is_retryable() => return Err(error),
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
<<<<<<< HEAD
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
=======
        channel: &ChannelId,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<Stopped, StoreError> {
        let parts = self.parts();
        let late = parts.clock.sleep(limit);
        let typing = async {
            let Participant::Persona(persona) = &seat.who else { return std::future::pending().await };
>>>>>>> t-crash
            loop {
                parts.platform.show_typing(persona, channel).await;
                parts.clock.sleep(TYPING_EVERY).await;
            }
        };
        let stopped = tokio::select! {
<<<<<<< HEAD
            () = parts.clock.sleep(limit) => Stopped::Late,
            stopped = watch => stopped,
            () = typing => Stopped::Ended,
=======
            () = late => Ok(Stopped::Late),
            stopped = self.wait_for_stop(seat) => stopped,
            stopped = typing => stopped,
>>>>>>> t-crash
        };
        cancel.cancel();
        stopped
    }

    /// Waits until a person has ended this turn. A store that is away is asked again.
    async fn wait_for_stop(&self, seat: &Seat) -> Result<Stopped, StoreError> {
        let mut looked = self.inner.looked.subscribe();
        loop {
            match self.find_stop(seat).await {
                Ok(Some(stopped)) => return Ok(stopped),
                Ok(None) => {}
                Err(error) if error.is_retryable() => {}
                Err(error) => return Err(error),
            }
            if looked.changed().await.is_err() {
                return Ok(Stopped::Ended);
            }
        }
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

    /// Waits for a person's report, which the conversation stores. True when none came in time. The time that was told to the person stands
    /// over a restart; it is slept through and not read off the clock, so that a clock that is set back does not prolong it.
    async fn wait_for_person(&self, seat: &Seat, limit: Duration) -> Result<bool, StoreError> {
        let parts = self.parts();
        let waited = seat.started_at.and_then(|asked_at| (parts.clock.now() - asked_at).to_std().ok()).unwrap_or_default();
        tokio::select! {
            () = parts.clock.sleep(limit.saturating_sub(waited)) => Ok(true),
            stopped = self.wait_for_stop(seat) => stopped.map(|_| false),
            () = parts.stop.cancelled() => Ok(false),
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
