//! The record of a meeting for those who look back at it.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::features::find_meeting_result;
use crate::features::meeting::model::{Meeting, Participant, Seat, SeatState};
use crate::features::overwatch::model::{LookBack, Subject};
use crate::store::Store;
use kernel::chat::outbox::store::Delivery;
use kernel::db::StoreError;
use kernel::ids::{MeetingId, PersonaSlug};
use kernel::memory::Scope;
use kernel::memory::retrieval::cut;
use kernel::persona::roster::Roster;
use kernel::text::one_line;

/// The most characters of the whole record, and of the meeting's result.
const DIGEST: usize = 12_000;
const RESULT: usize = 5000;
const REASON: usize = 200;

/// Reads the records of meetings.
#[derive(Clone)]
pub(super) struct Records {
    pub(super) store: Store,
    pub(super) roster: Arc<Roster>,
}

impl Records {
    /// The record, not redacted yet. None if the meeting is gone.
    pub(super) async fn read(&self, meeting: &MeetingId) -> Result<Option<LookBack>, StoreError> {
        let Some(meeting) = self.store.find_meeting(meeting).await? else { return Ok(None) };
        let Some(result) = find_meeting_result(&meeting, &self.store, &self.roster).await? else { return Ok(None) };
        let seats = self.store.list_seats(&meeting.id).await?;
        let (cost, _) = self.store.spent_on(meeting.id.as_str()).await?;
        let ended_at = meeting.ended_at.unwrap_or(meeting.called_at);
        let mut digest = format!("{} in #{} ({})\n", result.title, meeting.channel.name, meeting.state.as_str());
        let _ = writeln!(
            digest,
            "Called by {}. Over after {} minutes.",
            meeting.called_by.describe(),
            (ended_at - meeting.called_at).num_minutes()
        );
        let budget = meeting.budget.map_or_else(String::new, |budget| format!(", of at most {budget}"));
        let _ = writeln!(digest, "Cost: {cost}{budget}");
        if let Some(reason) = &meeting.reason {
            let _ = writeln!(digest, "It ended because {}", one_line(reason, REASON));
        }
        digest.push_str(&cut(&result.text, RESULT));
        // Each turn gets an equal share, so that the last turns fit too.
        let room = DIGEST.saturating_sub(digest.chars().count()) / seats.len().max(1);
        for seat in &seats {
            let _ = write!(digest, "\n{}", cut(&self.turn(seat), room));
        }
        // An old message may be deleted, and with it the thread.
        let opening = match result.opening {
            Some(opening) => match self.store.find_delivery(&opening).await? {
                Some(Delivery::Pending | Delivery::Sent(_)) => Some(opening),
                Some(Delivery::Failed { .. }) | None => None,
            },
            None => None,
        };
        Ok(Some(LookBack {
            subject: Subject::Meeting(meeting.id.clone()),
            kind: meeting.kind.to_string(),
            title: result.title,
            digest,
            personas: speakers(&seats),
            private_to: Scope::of(&meeting.channel).place().cloned(),
            channel: meeting.channel.id,
            opening,
            ended_at,
        }))
    }

    /// The name of a meeting for people.
    pub(super) async fn title_of(&self, meeting: &Meeting) -> Result<String, StoreError> {
        let result = find_meeting_result(meeting, &self.store, &self.roster).await?;
        Ok(result.map_or_else(|| meeting.describe(), |result| result.title))
    }

    fn turn(&self, seat: &Seat) -> String {
        let who = seat.who.name(&self.roster);
        let state = match seat.state {
            SeatState::Skipped => format!("no turn: {}", one_line(seat.reason.as_deref().unwrap_or("no reason is known"), REASON)),
            SeatState::Quiet => "nothing to report".to_owned(),
            _ if seat.contribution.as_ref().is_some_and(|said| said.partial) => "cut off by the time limit".to_owned(),
            state => state.as_str().to_owned(),
        };
        let said = seat.contribution.as_ref().map_or("", |said| said.text.trim());
        format!("Round {}, {who} ({state}): {said}", seat.round + 1)
    }
}

/// The personas that had a turn, in the order of their first one.
pub(super) fn speakers(seats: &[Seat]) -> Vec<PersonaSlug> {
    let mut speakers = Vec::new();
    for seat in seats.iter().filter(|seat| matches!(seat.state, SeatState::Spoke | SeatState::Quiet)) {
        if let Participant::Persona(slug) = &seat.who
            && !speakers.contains(slug)
        {
            speakers.push(slug.clone());
        }
    }
    speakers
}
