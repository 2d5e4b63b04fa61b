//! Steering a standup that another process holds: rows of the store, which its engine sees at its next look.

use super::name_of;
use crate::clock::{Clock, SystemClock};
use crate::domain::meeting::{Meeting, MeetingState, Participant, Seat, SeatState};
use crate::domain::outbound::{OutboundKind, OutboundMessage};
use crate::domain::roster::Roster;
use crate::domain::text::fold_name;
use crate::store::Store;

pub(super) async fn skip(store: &Store, roster: &Roster, who: &str) -> anyhow::Result<String> {
    let meeting = get_open(store).await?;
    let seats = store.list_seats(&meeting.id).await?;
    anyhow::ensure!(!seats.is_empty(), "the standup is just beginning; try again in a moment");
    let persona = roster.find_named(who).map(|persona| Participant::Persona(persona.slug.clone()));
    let is_meant = |seat: &&Seat| Some(&seat.who) == persona.as_ref() || fold_name(name_of(&seat.who, roster)) == fold_name(who);
    let Some(seat) = seats.iter().find(is_meant) else {
        let names: Vec<_> = seats.iter().map(|seat| name_of(&seat.who, roster)).collect();
        anyhow::bail!("nobody called \"{}\" takes part; there are {}", who.trim(), names.join(", "));
    };
    let name = name_of(&seat.who, roster);
    if store.skip_seat(&meeting.id, &seat.who, "the command line skipped it", SystemClock.now()).await? {
        return Ok(format!("{name} is skipped."));
    }
    let already = if seat.state == SeatState::Skipped { "is skipped" } else { "has spoken" };
    anyhow::bail!("{name} {already} already")
}

pub(super) async fn wrap(store: &Store) -> anyhow::Result<String> {
    let meeting = get_open(store).await?;
    anyhow::ensure!(store.ask_wrap(&meeting.id, SystemClock.now()).await?, "the standup is coming to its end already");
    Ok("The standup comes to its end; the Day Report is next.".into())
}

pub(super) async fn cancel(store: &Store) -> anyhow::Result<String> {
    let meeting = get_open(store).await?;
    let text = "The standup was cancelled at the command line. There is no report of it.";
    let said = [OutboundMessage::new(&meeting.facilitator, &meeting.channel.id, OutboundKind::Notice, text)];
    let (state, reason) = (MeetingState::Cancelled, "the command line cancelled it");
    let ended = store.end_meeting(&meeting.id, state, reason, &said, SystemClock.now()).await?;
    anyhow::ensure!(ended, "the standup is over already");
    Ok("The standup is cancelled.".into())
}

/// The standup that is running; of several the one called last.
async fn get_open(store: &Store) -> anyhow::Result<Meeting> {
    let open = store.list_open_meetings().await?.pop();
    Ok(open.ok_or_else(|| anyhow::anyhow!("no standup is running in {}; `teamroom standup run` begins one", store.place()))?.meeting)
}
