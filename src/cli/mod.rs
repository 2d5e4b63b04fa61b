//! The command line, one file per command.

mod ask;
mod db;
mod doctor;
mod init;
mod run;
mod sandbox;
mod trace;

use std::path::PathBuf;

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
    /// Write a commented configuration, `.env` and the personas into this directory.
    Init(init::Args),
    /// Check tokens, intents, permissions, models, feeds, store and clock, each finding with its remedy.
    Doctor(doctor::Args),
    /// Ask a persona here, without a chat server.
    Ask(ask::Args),
    /// Show everything that was decided and done about a message.
    Trace(trace::Args),
    /// Show what is in the database and whether it is sound.
    Db(db::Args),
}

impl Cli {
    /// Runs the command.
    pub async fn run(self) -> anyhow::Result<()> {
        let config = self.config;
        match self.command {
            Command::Sandbox(args) => sandbox::run(config, args).await,
            Command::Run => run::run(config).await,
            Command::Init(args) => init::run(&args),
            Command::Doctor(args) => doctor::run(config, args).await,
            Command::Ask(args) => ask::run(config, args).await,
            Command::Trace(args) => trace::run(config, args).await,
            Command::Db(args) => db::run(config, args).await,
        }
    }
}
