//! `teamroom standup run`, and `run` for each other kind of meeting: holds a meeting in the running team or in this process, and prints it. The
//! meeting engine contains the rules.

mod follow;
mod here;
mod transcript;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use serde_json::json;

use crate::cli::meeting::transcript::Transcript;
use crate::cli::{Globals, INTERRUPTED, generated, setting};
use crate::config::{Config, PLATFORM};
use crate::features::meeting::model::{Meeting, MeetingKind, MeetingState};
use crate::features::{FEATURES, Feature};
use crate::store::Store;
use kernel::commands::CommandReply;
use kernel::db::StoreError;
use kernel::ids::{ChannelId, complete};
use kernel::time::{Clock, SystemClock};

/// Adds `run` to the commands of each kind of meeting, and `show` as another name of `status`.
pub(super) fn extend(command: Command) -> Command {
    kinds().fold(command, |command, (_, kind)| command.mut_subcommand(kind.to_string(), |group| extend_group(group, &kind)))
}

fn extend_group(group: Command, kind: &MeetingKind) -> Command {
    let channel = Arg::new("channel").long("channel").value_name("NAME");
    let run = Command::new("run")
        .about(format!("Hold a {kind} and watch it: in its channel when a team is running, here in the terminal when none is"))
        .arg(channel.help(format!("In which channel, by name or id; by default that of the scheduled {kind}")));
    group.subcommand(run).mut_subcommand("status", |status| status.visible_alias("show"))
}

fn kinds() -> impl Iterator<Item = (&'static dyn Feature, MeetingKind)> {
    FEATURES.iter().filter_map(|feature| Some((*feature, feature.meeting_kind()?)))
}

/// The meeting to hold, if the command line asks for one.
pub(super) struct Run {
    feature: &'static dyn Feature,
    kind: MeetingKind,
    channel: Option<String>,
    as_json: bool,
}

/// A meeting that has ended, and its result. None after Ctrl-C.
type Ended = Option<(Meeting, CommandReply)>;

pub(super) fn find(given: &ArgMatches) -> Option<Run> {
    let (name, group) = given.subcommand()?;
    let ("run", matches) = group.subcommand()? else { return None };
    let (feature, kind) = kinds().find(|(_, kind)| kind.as_str() == name)?;
    let channel = matches.get_one::<String>("channel").map(|channel| complete(PLATFORM, channel).into_owned());
    Some(Run { feature, kind, channel, as_json: group.get_flag("json") })
}

impl Run {
    pub(super) async fn hold(self, globals: &Globals) -> anyhow::Result<ExitCode> {
        let config = setting::read_config(globals)?;
        match self.hold_on(&config).await {
            Ok(None) => Ok(ExitCode::from(INTERRUPTED)),
            Ok(Some((meeting, result))) => generated::answer(self.judge(&meeting, result), self.as_json),
            Err(error) => generated::answer(Err(error), self.as_json),
        }
    }

    /// Holds the meeting in the process that holds the database: the running team, or this one.
    async fn hold_on(&self, config: &Config) -> anyhow::Result<Ended> {
        match Store::open(&config.database_url, SystemClock.now()).await {
            Ok(store) => {
                if let Some(channel) = &self.channel {
                    let channel = ChannelId::new(channel.trim_start_matches('#'));
                    eprintln!("no team is running, so the {} is held here and not in #{}", self.kind, channel.bare());
                }
                let ended = here::hold(self, config, &store).await;
                store.close().await;
                ended
            }
            Err(StoreError::Locked { .. }) => {
                let beside = generated::open(config).await?;
                let roster = Arc::new(setting::read_roster(config)?);
                let ended = follow::call_and_follow(self, &beside, &roster).await;
                beside.store.close().await;
                ended
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Messages are printed, unless the result is for a program.
    fn transcript(&self) -> Option<Transcript> {
        (!self.as_json).then(Transcript::new)
    }

    /// What to show of a meeting that is over.
    fn judge(&self, meeting: &Meeting, result: CommandReply) -> anyhow::Result<CommandReply> {
        let (kind, reason) = (&self.kind, meeting.reason.as_deref().unwrap_or("no reason is known"));
        match meeting.state {
            MeetingState::Cancelled => anyhow::bail!("the {kind} was cancelled: {reason}"),
            MeetingState::Failed => anyhow::bail!("the {kind} failed: {reason}"),
            MeetingState::Called | MeetingState::Running | MeetingState::Closing | MeetingState::Done => {
                let data = json!({ "meeting": meeting, "result": result.data });
                Ok(result.with_data(data))
            }
        }
    }
}
