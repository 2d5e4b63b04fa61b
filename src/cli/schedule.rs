//! `teamroom schedule`: the jobs, beside a team that runs or without one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::setting;
use crate::chat::format::align_tables;
use crate::clock::{Clock, SystemClock};
use crate::domain::schedule::{Firing, Job, JobDraft, MissedRuns};
use crate::schedule::{JobStatus, Parts, Schedule, describe_firing, render_jobs};
use crate::store::Store;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Which jobs there are, when they come next and how they went last.
    List,
    /// Add a job.
    Add(Add),
    /// Let a job rest until it is resumed.
    Pause { name: String },
    /// Let a paused job come again.
    Resume { name: String },
    /// Remove a job that was added here or in the chat.
    Remove { name: String },
    /// Do a job now, whatever its times are.
    Run { name: String },
    /// When a job comes next.
    Next {
        name: String,
        /// How many times to show.
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
        count: u16,
    },
}

#[derive(Debug, clap::Args)]
struct Add {
    /// Lower-case letters, digits and hyphens.
    name: String,
    /// When: minute, hour, day, month, weekday, such as "0 9 * * 1-5".
    cron: String,
    /// What: standup, settle-predictions, health, or "post: some text".
    action: String,
    /// The time zone, such as Europe/Berlin; by default that of the team.
    #[arg(long)]
    zone: Option<String>,
    /// Where, by name or id.
    #[arg(long)]
    channel: Option<String>,
    /// What to do about runs that were missed; by default the latest is made up for.
    #[arg(long, value_enum)]
    missed: Option<Missed>,
    /// A run that was missed more minutes ago than this is not made up for; by default 120.
    #[arg(long, value_name = "MINUTES", value_parser = clap::value_parser!(u32).range(0..=43_200))]
    deadline: Option<u32>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Missed {
    Skip,
    Once,
    All,
}

/// Whom the list of jobs names when they were changed from here.
const BY: &str = "the terminal";

pub(super) async fn run(config: Option<PathBuf>, args: Args) -> anyhow::Result<()> {
    let config = setting::read_config(config)?;
    let roster = setting::read_roster(&config)?;
    let store = Store::open_shared(&config.database_url, SystemClock.now()).await?;
    let schedule = Schedule::new(Parts {
        standup: crate::app::terms(&config, &roster),
        settings: config.schedules,
        coordinator: roster.coordinator().slug.clone(),
        store: store.clone(),
        platform: None,
        clock: Arc::new(SystemClock),
        // A team that runs beside this sees the rows at its next look at the clock.
        wake: Arc::new(Notify::new()),
    });
    let told = carry(&schedule, args.command).await;
    store.close().await;
    let (text, value) = told?;
    if args.json {
        println!("{value}");
    } else {
        println!("{}", text.trim_end());
    }
    Ok(())
}

/// Does what was asked; what there is to say, and the same as JSON.
async fn carry(schedule: &Schedule, command: Command) -> anyhow::Result<(String, Value)> {
    Ok(match command {
        Command::List => {
            let jobs = schedule.list().await?;
            // Aligned for a chat, where a code block keeps the columns; a terminal does so by itself.
            let table = align_tables(&render_jobs(&jobs)).replace("```", "");
            (table.trim().to_owned(), jobs.iter().map(describe_job).collect())
        }
        Command::Add(add) => {
            let job = schedule.add(add.into_draft(), BY).await?;
            (format!("Added {}.", job.name), json!({"added": job.name.as_str()}))
        }
        Command::Pause { name } => {
            let name = schedule.pause(&name, BY).await?;
            (format!("Paused {name}."), json!({"paused": name.as_str()}))
        }
        Command::Resume { name } => {
            let job = schedule.resume(&name).await?;
            (format!("Resumed {}.", job.name), json!({"resumed": job.name.as_str()}))
        }
        Command::Remove { name } => {
            let name = schedule.remove(&name).await?;
            (format!("Removed {name}."), json!({"removed": name.as_str()}))
        }
        Command::Run { name } => {
            let firing = schedule.run(&name).await?;
            (
                format!("{}: {}. A team that runs takes it up within half a minute.", firing.job, describe_firing(&firing)),
                describe_run(&firing),
            )
        }
        Command::Next { name, count } => {
            let job = schedule.get_job(&name).await?;
            let times = list_next(&job, SystemClock.now(), count);
            let local = times.iter().map(|at| at.with_timezone(&job.timetable.zone()).to_rfc3339_opts(SecondsFormat::Secs, true));
            let local: Vec<_> = local.collect();
            (local.join("\n"), json!(local))
        }
    })
}

fn list_next(job: &Job, now: DateTime<Utc>, count: u16) -> Vec<DateTime<Utc>> {
    let mut times = Vec::new();
    while let Some(next) = job.timetable.next_after(times.last().copied().unwrap_or(now))
        && times.len() < usize::from(count)
    {
        times.push(next);
    }
    times
}

impl Add {
    fn into_draft(self) -> JobDraft {
        JobDraft {
            name: self.name,
            cron: self.cron,
            zone: self.zone,
            action: self.action,
            channel: self.channel,
            missed: self.missed.map(|missed| match missed {
                Missed::Skip => MissedRuns::Skip,
                Missed::Once => MissedRuns::Once,
                Missed::All => MissedRuns::All,
            }),
            deadline: self.deadline.map(|minutes| Duration::from_secs(u64::from(minutes) * 60)),
        }
    }
}

fn describe_job(status: &JobStatus) -> Value {
    let job = &status.job;
    json!({
        "name": job.name.as_str(), "action": job.action.to_string(), "cron": job.timetable.cron(), "zone": job.timetable.zone().name(),
        "channel": job.channel, "missed": job.missed, "deadline_s": job.deadline.as_secs(), "enabled": job.enabled,
        "origin": job.origin.as_str(), "paused_by": status.paused_by, "next": status.next, "last": status.last.as_ref().map(describe_run),
    })
}

fn describe_run(firing: &Firing) -> Value {
    json!({
        "job": firing.job.as_str(), "instant": firing.instant, "at": firing.at, "state": firing.state.as_str(), "note": firing.note,
        "passed_over": firing.passed_over,
    })
}
