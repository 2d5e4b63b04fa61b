//! A standup that another process runs, read from the database.

use std::collections::HashSet;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;

use crate::app::shutdown;
use crate::cli::report;
use crate::cli::standup::transcript::Transcript;
use crate::cli::standup::{INTERRUPTED, judge, name_of};
use crate::features::meeting::model::{CalledBy, Meeting, MeetingState, Seat};
use crate::features::meeting::store::{Called, MEETINGS};
use crate::features::standup::commands::StandupCommands;
use crate::store::Store;
use kernel::ids::MeetingId;
use kernel::persona::roster::Roster;
use kernel::time::{Clock, SharedClock, SystemClock};

/// Calls a standup in its channel and prints it. Ctrl-C ends the watching, not the standup.
pub(super) async fn call_and_follow(standups: &StandupCommands, channel: Option<&str>) -> anyhow::Result<ExitCode> {
    let StandupCommands { store, roster, terms, .. } = standups;
    let channel = standups.get_channel(channel).await?;
    let meeting = terms.call(channel, CalledBy::CommandLine, SystemClock.now());
    let meeting = match store.call_meeting(&meeting).await? {
        Called::Opened => meeting,
        Called::AlreadyOpen(running) => {
            eprintln!(
                "a standup called by {} is running in #{}; this is what is said in it",
                running.called_by.describe(),
                running.channel.name
            );
            running
        }
    };
    let ended = tokio::select! {
        ended = follow(store, roster, &meeting.id) => ended?,
        () = shutdown::signalled() => {
            eprintln!("the standup goes on; `teamroom standup show` tells how it stands");
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    if ended.state == MeetingState::Done {
        let stored = store.find_report(&ended.channel.id, ended.day).await?.context("the Day Report is not in the database")?;
        println!("{}", report::render(&stored.report));
    }
    judge(&ended)
}

/// Prints messages until the meeting is over.
async fn follow(store: &Store, roster: &Roster, id: &MeetingId) -> anyhow::Result<Meeting> {
    let transcript = Transcript::new();
    let mut printed = HashSet::new();
    let clock: SharedClock = Arc::new(SystemClock);
    let mut changes = store.subscribe(MEETINGS, &clock);
    loop {
        // Reads the meeting before its seats, so that all messages from before its end are printed.
        let meeting = store.find_meeting(id).await?.context("the standup is gone from the database")?;
        for seat in store.list_seats(id).await? {
            if seat.state.is_over() && printed.insert((seat.round, seat.position)) {
                println!("{}", transcript.render(name_of(&seat.who, roster), &text_of(&seat)));
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
