//! The events of meetings. Those who read the channel may see them. Contributions are not repeated.

use chrono::{DateTime, Utc};

use crate::features::meeting::model::{CalledBy, Meeting, Participant, Seat, SeatState};
use crate::features::meeting::store::seats::{key_of, name_of};
use kernel::actor::Actor;
use kernel::db::{Result, Transaction, Who, plain};
use kernel::events::{Event, Topic, record};
use kernel::ids::{ChannelId, MeetingId};

pub const MEETINGS: Topic = Topic::new("meeting");

pub(super) fn event(meeting: &MeetingId, channel: &ChannelId, kind: &'static str, at: DateTime<Utc>) -> Event {
    Event::new(MEETINGS, meeting.as_str(), kind, at).seen_in(channel)
}

/// Records a step that needs no details.
pub(super) async fn record_step(transaction: &mut Transaction, meeting: &Meeting, kind: &'static str, at: DateTime<Utc>) -> Result<()> {
    record(transaction, &event(&meeting.id, &meeting.channel.id, kind, at)).await
}

pub(super) async fn record_call(transaction: &mut Transaction, meeting: &Meeting) -> Result<()> {
    let event = event(&meeting.id, &meeting.channel.id, "called", meeting.called_at).with("kind", meeting.kind.as_str());
    let event = match &meeting.called_by {
        CalledBy::Person { id, name, message } => {
            let event = event.by(&Actor::Person { id: id.clone(), name: name.clone() });
            event.with("message", message.as_ref().map(kernel::ids::MessageId::as_str))
        }
        CalledBy::Schedule { job } => event.with("job", job.as_str()),
        CalledBy::CommandLine => event,
    };
    record(transaction, &event).await
}

/// Records that a meeting was cancelled or failed.
pub(super) async fn record_end(transaction: &mut Transaction, meeting: &Meeting, reason: &str, at: DateTime<Utc>) -> Result<()> {
    let event = event(&meeting.id, &meeting.channel.id, meeting.state.as_str(), at);
    record(transaction, &event.with("reason", plain(reason))).await
}

pub(super) async fn record_turn_begin(transaction: &mut Transaction, meeting: &Meeting, seat: &Seat, at: DateTime<Utc>) -> Result<()> {
    record(transaction, &of_seat(meeting, "turn_began", seat.round, &seat.who, at)).await
}

pub(super) async fn record_turn_end(
    transaction: &mut Transaction,
    meeting: &Meeting,
    (round, who): (Option<u32>, &Participant),
    (state, reason): (SeatState, Option<&str>),
    at: DateTime<Utc>,
) -> Result<()> {
    let event = match round {
        Some(round) => of_seat(meeting, "turn_ended", round, who, at),
        None => event(&meeting.id, &meeting.channel.id, "turn_ended", at).by_key(who_of(who)),
    };
    record(transaction, &event.with("state", state.as_str()).with("reason", reason.map(plain))).await
}

fn of_seat(meeting: &Meeting, kind: &'static str, round: u32, who: &Participant, at: DateTime<Utc>) -> Event {
    event(&meeting.id, &meeting.channel.id, kind, at).by_key(who_of(who)).with("round", round)
}

fn who_of(who: &Participant) -> Who {
    Who { key: key_of(who), name: name_of(who) }
}
