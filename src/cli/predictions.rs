//! `teamroom predictions`: the calls made in standups and how they turned out, beside a team that runs or without one.

use std::path::PathBuf;

use clap::Subcommand;
use serde_json::json;

use super::setting;
use crate::chat::format::align_tables;
use crate::clock::{Clock, SystemClock};
use crate::domain::prediction::Scoreboard;
use crate::meeting::standup::render::{render_predictions, render_scoreboard};
use crate::store::Store;

/// How many are listed.
const LISTED: usize = 20;

/// How many calls the scoreboard looks back on.
const SCORED: u32 = 1000;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Clone, Copy, Subcommand)]
enum Command {
    /// The latest calls: which are open, which came true.
    List,
    /// How good the calls are: hits, misses, accuracy.
    Score,
}

pub(super) async fn run(file: Option<PathBuf>, args: Args) -> anyhow::Result<()> {
    let config = setting::read_config(file)?;
    let now = SystemClock.now();
    let store = Store::open_shared(&config.database_url, now).await?;
    let predictions = store.list_predictions(SCORED).await;
    store.close().await;
    let predictions = predictions?;
    let scoreboard = Scoreboard::of(&predictions, now);
    let listed = &predictions[..predictions.len().min(LISTED)];
    match (args.command, args.json) {
        (Command::List, true) => println!("{}", json!(listed)),
        (Command::List, false) => println!("{}", align_tables(&render_predictions(listed, &scoreboard, now)).trim_end()),
        (Command::Score, true) => println!("{}", json!(scoreboard)),
        (Command::Score, false) => println!("{}", align_tables(&render_scoreboard(&scoreboard)).trim_end()),
    }
    Ok(())
}
