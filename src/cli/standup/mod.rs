//! `teamroom standup`: holds one where the team runs or right here, tells how it stands and steers it. What a standup is, the meeting
//! engine decides; nothing of that is here.

mod follow;
mod steer;
mod terminal;
mod transcript;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Subcommand;
use serde_json::json;

use super::setting;
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::domain::meeting::{Meeting, MeetingState, Participant};
use crate::domain::roster::Roster;
use crate::meeting::standup::render::render_standup_status;
use crate::store::{Store, StoreError};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Hold a standup and watch it: in its channel when a team is running, here in the terminal when none is.
    Run {
        /// In which channel, by name or id; by default that of the standup's schedule.
        #[arg(long, value_name = "NAME")]
        channel: Option<String>,
    },
    /// The standup that is running, or the last one: who spoke, who comes, who was passed over.
    Show {
        /// Print JSON: the meeting and its seats.
        #[arg(long)]
        json: bool,
    },
    /// Pass over a persona or a person who has not spoken yet.
    Skip { who: String },
    /// Come to the end: pass over everybody left and write the Day Report.
    Wrap,
    /// Stop the standup without a Day Report.
    Cancel,
}

/// What a shell tells of a program that Ctrl-C ended: 128 and the number of the signal.
const INTERRUPTED: u8 = 130;

pub(super) async fn run(file: Option<PathBuf>, args: Args) -> anyhow::Result<ExitCode> {
    let config = setting::read_config(file)?;
    let roster = Arc::new(setting::read_roster(&config)?);
    match args.command {
        Command::Run { channel } => hold(&config, &roster, channel.as_deref()).await,
        Command::Show { json } => beside(&config, async |store| show(store, &roster, json).await).await,
        Command::Skip { who } => beside(&config, async |store| steer::skip(store, &roster, &who).await).await,
        Command::Wrap => beside(&config, async |store| steer::wrap(store).await).await,
        Command::Cancel => beside(&config, async |store| steer::cancel(store).await).await,
    }
}

/// Does something in the store, whoever serves from it, and prints what came of it.
async fn beside(config: &Config, work: impl AsyncFnOnce(&Store) -> anyhow::Result<String>) -> anyhow::Result<ExitCode> {
    let store = Store::open_shared(&config.database_url, SystemClock.now()).await?;
    let told = work(&store).await;
    store.close().await;
    println!("{}", told?);
    Ok(ExitCode::SUCCESS)
}

/// Where the team runs, or here: whoever has the database holds it.
async fn hold(config: &Config, roster: &Arc<Roster>, channel: Option<&str>) -> anyhow::Result<ExitCode> {
    match Store::open(&config.database_url, SystemClock.now()).await {
        Ok(store) => {
            if let Some(channel) = channel {
                eprintln!("no team is running, so the standup is held here and not in #{}", channel.trim_start_matches('#'));
            }
            let ended = terminal::hold(config, roster, &store).await;
            store.close().await;
            ended
        }
        Err(StoreError::Locked { .. }) => {
            let store = Store::open_shared(&config.database_url, SystemClock.now()).await?;
            let ended = follow::call_and_follow(config, roster, &store, channel).await;
            store.close().await;
            ended
        }
        Err(error) => Err(error.into()),
    }
}

async fn show(store: &Store, roster: &Roster, json: bool) -> anyhow::Result<String> {
    let open = store.list_open_meetings().await?.pop().map(|open| open.meeting);
    let last = match open {
        Some(open) => Some(open),
        None => store.list_meetings(1).await?.pop(),
    };
    let Some(meeting) = last else {
        anyhow::bail!("no standup was held yet in {}; `teamroom standup run` begins one", store.place());
    };
    let seats = store.list_seats(&meeting.id).await?;
    Ok(if json { json!({"meeting": meeting, "seats": seats}).to_string() } else { render_standup_status(&meeting, &seats, roster) })
}

fn name_of<'a>(who: &'a Participant, roster: &'a Roster) -> &'a str {
    match who {
        Participant::Persona(slug) => roster.name_of(slug),
        Participant::Person { name, .. } => name,
    }
}

/// How a standup that is over counts for whoever waited for it.
fn judge(meeting: &Meeting) -> anyhow::Result<ExitCode> {
    let reason = meeting.reason.as_deref().unwrap_or("no reason is known");
    match meeting.state {
        MeetingState::Cancelled => anyhow::bail!("the standup was cancelled: {reason}"),
        MeetingState::Failed => anyhow::bail!("the standup failed: {reason}"),
        MeetingState::Called | MeetingState::Running | MeetingState::Closing | MeetingState::Done => Ok(ExitCode::SUCCESS),
    }
}
