//! `teamroom standup run`: runs a standup in the running team or in this process, and prints it. The meeting engine contains the rules.

mod follow;
mod terminal;
mod transcript;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};

use crate::cli::{Globals, generated, setting};
use crate::config::{Config, PLATFORM};
use crate::features::meeting::model::{Meeting, MeetingState, Participant};
use crate::features::standup::commands::StandupCommands;
use crate::store::Store;
use kernel::db::StoreError;
use kernel::ids::{ChannelId, complete};
use kernel::persona::roster::Roster;
use kernel::time::{Clock, SystemClock};

/// Adds `run`, and `show` as another name of `status`.
pub(super) fn extend(command: Command) -> Command {
    let channel = Arg::new("channel").long("channel").value_name("NAME");
    let run = Command::new("run")
        .about("Hold a standup and watch it: in its channel when a team is running, here in the terminal when none is")
        .arg(channel.help("In which channel, by name or id; by default that of the scheduled standup"));
    command.subcommand(run).mut_subcommand("status", |status| status.visible_alias("show"))
}

/// The exit code that a shell reports after Ctrl-C: 128 plus the number of the signal.
const INTERRUPTED: u8 = 130;

pub(super) async fn run(globals: &Globals, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let config = setting::read_config(globals)?;
    let roster = Arc::new(setting::read_roster(&config)?);
    let channel = matches.get_one::<String>("channel").map(|channel| complete(PLATFORM, channel));
    hold(&config, &roster, channel.as_deref()).await
}

/// Runs the standup in the process that holds the database: the running team, or this one.
async fn hold(config: &Config, roster: &Arc<Roster>, channel: Option<&str>) -> anyhow::Result<ExitCode> {
    match Store::open(&config.database_url, SystemClock.now()).await {
        Ok(store) => {
            if let Some(channel) = channel {
                eprintln!(
                    "no team is running, so the standup is held here and not in #{}",
                    ChannelId::new(channel.trim_start_matches('#')).bare()
                );
            }
            let ended = terminal::hold(config, roster, &store).await;
            store.close().await;
            ended
        }
        Err(StoreError::Locked { .. }) => {
            let beside = generated::open(config).await?;
            let standups = beside.services.late::<StandupCommands>().get()?;
            let ended = follow::call_and_follow(&standups, channel).await;
            beside.store.close().await;
            ended
        }
        Err(error) => Err(error.into()),
    }
}

fn name_of<'a>(who: &'a Participant, roster: &'a Roster) -> &'a str {
    who.name(roster)
}

/// The exit code for a standup that is over.
fn judge(meeting: &Meeting) -> anyhow::Result<ExitCode> {
    let reason = meeting.reason.as_deref().unwrap_or("no reason is known");
    match meeting.state {
        MeetingState::Cancelled => anyhow::bail!("the standup was cancelled: {reason}"),
        MeetingState::Failed => anyhow::bail!("the standup failed: {reason}"),
        MeetingState::Called | MeetingState::Running | MeetingState::Closing | MeetingState::Done => Ok(ExitCode::SUCCESS),
    }
}
