//! `teamroom backup`, `teamroom restore` and `teamroom export`: the whole database as one file.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use anyhow::Context as _;

use crate::app::personal;
use crate::cli::{Globals, setting};
use crate::store::Store;
use kernel::commands::refuse;
use kernel::db::backup;
use kernel::db::check_exists;
use kernel::print_line;
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

#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    /// Where to; by default it is printed.
    file: Option<PathBuf>,
}

pub(super) async fn back_up(globals: &Globals, args: BackupArgs) -> anyhow::Result<()> {
    let config = setting::read_config(globals)?;
    let file = args.file.unwrap_or_else(|| backup::name(&config.database_url, SystemClock.now()).into());
    backup::back_up(&config.database_url, &file).await?;
    let bytes = std::fs::metadata(&file)?.len();
    print_line!("{}: {} KiB", file.display(), bytes.div_ceil(1024));
    Ok(())
}

pub(super) async fn restore(globals: &Globals, args: RestoreArgs) -> anyhow::Result<()> {
    let config = setting::read_config(globals)?;
    if !args.file.is_file() {
        refuse(format!("there is no file {}. Give one that `teamroom backup` wrote", args.file.display()))?;
    }
    let old = backup::restore(&config.database_url, &args.file, SystemClock.now()).await?;
    print_line!("The database is that of {}.", args.file.display());
    if let Some(old) = old {
        print_line!("What was there before is in {}. Delete it when you no longer need it.", old.display());
    }
    Ok(())
}

pub(super) async fn export(globals: &Globals, args: ExportArgs) -> anyhow::Result<()> {
    let config = setting::read_config(globals)?;
    check_exists(&config.database_url)?;
    let store = Store::open_shared(&config.database_url, SystemClock.now()).await?;
    let written = write_rows(&store, args.file).await;
    store.close().await;
    match written {
        // Nobody reads any more, as after `| head`.
        Err(error) if is_closed_pipe(&error) => Ok(()),
        written => written,
    }
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe))
}

async fn write_rows(store: &Store, file: Option<PathBuf>) -> anyhow::Result<()> {
    let mut out: BufWriter<Box<dyn Write + Send>> = BufWriter::new(match &file {
        Some(file) => Box::new(backup::create_private(file).with_context(|| file.display().to_string())?),
        None => Box::new(io::stdout()),
    });
    personal::export_all(store, |row| writeln!(out, "{row}")).await?;
    out.flush()?;
    if let Some(file) = file {
        print_line!("{}: {} KiB", file.display(), std::fs::metadata(&file)?.len().div_ceil(1024));
    }
    Ok(())
}
