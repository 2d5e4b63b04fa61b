//! The commands, one file each. They read arguments, call what does the work and print for people; they decide nothing themselves.

mod ask;
mod backlog;
mod db;
mod doctor;
pub mod init;
mod predictions;
mod report;
mod run;
mod sandbox;
mod schedule;
mod setting;
mod standup;
mod trace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A team of AI personas in a chat server: one process, one account each.
#[derive(Debug, Parser)]
#[command(name = "teamroom", version, about)]
pub struct Cli {
    /// The configuration file; by default `teamroom.toml` here, if there is one.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the team in a local chat server, with nothing to configure.
    Sandbox(sandbox::Args),
    /// Run the team on Discord.
    Run,
    /// Write a commented configuration, `.env` and the personas into this directory; what is there stays.
    Init {
        /// Where to; by default here.
        #[arg(default_value = ".")]
        dir: PathBuf,
    },
    /// Check configuration, personas, store, feeds, models, tokens and clock; each finding comes with its remedy.
    Doctor(doctor::Args),
    /// Ask a persona here in the terminal, without a chat server.
    Ask(ask::Args),
    /// Hold a standup and watch it, see how it stands, or steer it.
    Standup(standup::Args),
    /// Show the Day Report of today or of another day.
    Report(report::Args),
    /// Show the calls made in standups and how they turned out.
    Predictions(predictions::Args),
    /// Show everything that was decided and done about a message.
    Trace(trace::Args),
    /// Show and change what there is to be done, and watch it being done.
    Backlog(backlog::Args),
    /// Show and change what happens by the clock.
    Schedule(schedule::Args),
    /// Show what is in the database and whether it is sound.
    Db(db::Args),
}

impl Cli {
    /// Runs the command; what the process is to exit with.
    ///
    /// # Errors
    /// What kept it from being done, for the person at the terminal.
    pub async fn run(self) -> anyhow::Result<ExitCode> {
        let config = self.config;
        match self.command {
            Command::Sandbox(args) => sandbox::run(config, args).await,
            // On the heap: the start of the whole team is large.
            Command::Run => Box::pin(run::run(config)).await,
            Command::Init { dir } => init::run(&dir),
            Command::Doctor(args) => doctor::run(config, args).await,
            Command::Ask(args) => ask::run(config, args).await,
            // Who waits for a standup is told how it ended.
            Command::Standup(args) => return standup::run(config, args).await,
            Command::Backlog(args) => return backlog::run(config, args).await,
            Command::Report(args) => report::run(config, args).await,
            Command::Predictions(args) => predictions::run(config, args).await,
            Command::Trace(args) => trace::run(config, args).await,
            Command::Schedule(args) => schedule::run(config, args).await,
            Command::Db(args) => db::run(config, args).await,
        }?;
        Ok(ExitCode::SUCCESS)
    }
}
