//! A meeting that another process runs, read from the database.

use std::collections::HashSet;
use std::sync::Arc;

use anyhow::Context;

use crate::app::{Beside, shutdown};
use crate::cli::meeting::transcript::Transcript;
use crate::cli::meeting::{Ended, Run};
use crate::features::meeting::model::{Meeting, MeetingState, Seat};
use crate::features::meeting::store::MEETINGS;
use crate::store::Store;
use kernel::commands::{Caller, CommandReply, CommandRequest, Invoked, Refused};
use kernel::ids::MeetingId;
use kernel::persona::roster::Roster;
use kernel::print_line;
use kernel::time::{SharedClock, SystemClock};

/// Calls a meeting in its channel and prints it. Ctrl-C ends the watching, not the meeting.
pub(super) async fn call_and_follow(run: &Run, beside: &Beside, roster: &Roster) -> anyhow::Result<Ended> {
    let meeting = call(run, beside).await?;
    let ended = tokio::select! {
        ended = follow(&beside.store, roster, &meeting.id, run.transcript()) => ended?,
        () = shutdown::signalled() => {
            eprintln!("the {0} goes on; `teamroom {0} show` tells how it stands", run.kind);
            return Ok(None);
        }
    };
    let result = match ended.state {
        MeetingState::Done => run.feature.show_result(&ended, &beside.services).await?,
        _ => CommandReply::private(""),
    };
    Ok(Some((ended, result)))
}

/// Starts the meeting, or finds the one that is running in the channel.
async fn call(run: &Run, beside: &Beside) -> anyhow::Result<Meeting> {
    let given = run.channel.iter().map(|channel| ("channel".to_owned(), channel.clone())).collect();
    let invoked = Invoked::Command { path: format!("{} start", run.kind), given };
    let reply = beside.registry.try_run(CommandRequest { invoked, caller: Caller::CommandLine, channel: None }).await?;
    let Some(meeting) = reply.data.map(|mut data| data["meeting"].take()) else { return Err(Refused::new(reply.text).into()) };
    let meeting: Meeting = serde_json::from_value(meeting).context("the meeting cannot be read")?;
    if reply.error {
        let (kind, by, channel) = (&meeting.kind, meeting.called_by.describe(), &meeting.channel.name);
        eprintln!("a {kind} called by {by} is running in #{channel}; this is what is said in it");
    }
    Ok(meeting)
}

/// Prints messages until the meeting is over.
async fn follow(store: &Store, roster: &Roster, id: &MeetingId, transcript: Option<Transcript>) -> anyhow::Result<Meeting> {
    let mut printed = HashSet::new();
    let clock: SharedClock = Arc::new(SystemClock);
    let mut changes = store.subscribe(MEETINGS, &clock);
    loop {
        // Reads the meeting before its seats, so that all messages from before its end are printed.
        let meeting = store.find_meeting(id).await?.context("the meeting is gone from the database")?;
        for seat in store.list_seats(id).await? {
            if seat.state.is_over()
                && printed.insert((seat.round, seat.position))
                && let Some(transcript) = transcript
            {
                print_line!("{}", transcript.render(seat.who.name(roster), &text_of(&seat)));
            }
        }
        if meeting.state.is_over() {
            return Ok(meeting);
        }
        changes.next().await;
    }
}

fn text_of(seat: &Seat) -> String {
    match &seat.contribution {
        Some(contribution) => contribution.text.clone(),
        None => format!("(skipped: {})", seat.reason.as_deref().unwrap_or("no reason is known")),
    }
}
