//! `teamroom backup` and `teamroom restore`: the whole database as one file.

use std::path::PathBuf;

use crate::cli::{Globals, setting};
use kernel::db::backup;
use kernel::time::{Clock as _, SystemClock};

#[derive(Debug, clap::Args)]
pub(super) struct BackupArgs {
    /// Where to; by default a file here with the time in its name.
    file: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(super) struct RestoreArgs {
    /// The file that `teamroom backup` wrote.
    file: PathBuf,
}

pub(super) async fn back_up(globals: &Globals, args: BackupArgs) -> anyhow::Result<()> {
    let config = setting::read_config(globals)?;
    let file = args.file.unwrap_or_else(|| backup::name(&config.database_url, SystemClock.now()).into());
    backup::back_up(&config.database_url, &file).await?;
    let bytes = std::fs::metadata(&file)?.len();
    println!("{}: {} KiB", file.display(), bytes.div_ceil(1024));
    Ok(())
}

pub(super) async fn restore(globals: &Globals, args: RestoreArgs) -> anyhow::Result<()> {
    let config = setting::read_config(globals)?;
    let old = backup::restore(&config.database_url, &args.file, SystemClock.now()).await?;
    println!("The database is that of {}.", args.file.display());
    if let Some(old) = old {
        println!("What was there before is in {}. Delete it when you no longer need it.", old.display());
    }
    Ok(())
}
