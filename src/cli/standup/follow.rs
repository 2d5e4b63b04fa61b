//! A standup that another process holds, seen through the store.

use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;

use super::transcript::Transcript;
use super::{INTERRUPTED, judge, name_of};
use crate::app;
use crate::cli::report;
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::domain::ids::MeetingId;
use crate::domain::meeting::{CalledBy, Meeting, MeetingState, Seat};
use crate::domain::message::{Channel, Place};
use crate::domain::roster::Roster;
use crate::domain::schedule::JobAction;
use crate::schedule::find_channel;
use crate::shutdown;
use crate::store::{Called, Store};

/// How often the store is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// Calls a standup in its channel and prints it as it goes. Ctrl-C ends the watching, not the standup.
pub(super) async fn call_and_follow(config: &Config, roster: &Roster, store: &Store, channel: Option<&str>) -> anyhow::Result<ExitCode> {
    let channel = get_channel(config, store, channel).await?;
    let meeting = app::terms(config, roster).call(channel, CalledBy::CommandLine, SystemClock.now());
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

/// Prints what is said until the meeting is over.
async fn follow(store: &Store, roster: &Roster, id: &MeetingId) -> anyhow::Result<Meeting> {
    let transcript = Transcript::new();
    let mut printed = HashSet::new();
    loop {
        // The meeting before its seats: what was said before its end is there when the end is seen.
        let meeting = store.find_meeting(id).await?.context("the standup is gone from the database")?;
        for seat in store.list_seats(id).await? {
            if seat.state.is_over() && printed.insert((seat.round, seat.position)) {
                println!("{}", transcript.render(name_of(&seat.who, roster), &text_of(&seat)));
            }
        }
        if meeting.state.is_over() {
            return Ok(meeting);
        }
        SystemClock.sleep(LOOK).await;
    }
}

fn text_of(seat: &Seat) -> String {
    match &seat.contribution {
        Some(contribution) => contribution.text.clone(),
        None => format!("(skipped: {})", seat.reason.as_deref().unwrap_or("no reason is known")),
    }
}

/// The channel that was asked for, or the one of the scheduled standup.
async fn get_channel(config: &Config, store: &Store, asked: Option<&str>) -> anyhow::Result<Channel> {
    let scheduled = config.schedules.jobs.iter().find(|job| job.action == JobAction::Standup).and_then(|job| job.channel.as_deref());
    let name = asked.or(scheduled).context("no standup is scheduled, so its channel is not known; name one with --channel")?;
    let name = name.trim().trim_start_matches('#');
    if let Some(channel) = find_channel(store, None, name).await? {
        return Ok(channel);
    }
    let seen = store.list_channels().await?.into_iter().map(|seen| seen.channel);
    let known: Vec<_> = seen.filter(|channel| channel.place == Place::Server).map(|channel| format!("#{}", channel.name)).collect();
    anyhow::bail!(
        "there is no channel \"{name}\"; the team has seen {}",
        if known.is_empty() { "none yet".into() } else { known.join(", ") }
    )
}
