//! `teamroom export`: all that is stored, as JSON, a row on each line.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use crate::app::personal;
use crate::cli::{Globals, person, setting};
use crate::store::Store;
use kernel::time::{Clock, SystemClock};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Where to; by default it is printed.
    file: Option<PathBuf>,
}

pub(super) async fn run(globals: &Globals, args: Args) -> anyhow::Result<()> {
    let config = setting::read_config(globals)?;
    let store = Store::open_shared(&config.database_url, SystemClock.now()).await?;
    let written = write(&store, args.file).await;
    store.close().await;
    written
}

async fn write(store: &Store, file: Option<PathBuf>) -> anyhow::Result<()> {
    let mut out: BufWriter<Box<dyn Write + Send>> = BufWriter::new(match &file {
        Some(file) => Box::new(person::create_new(file)?),
        None => Box::new(std::io::stdout()),
    });
    personal::export_all(store, |row| writeln!(out, "{row}")).await?;
    out.flush()?;
    if let Some(file) = file {
        println!("{}: {} KiB", file.display(), std::fs::metadata(&file)?.len().div_ceil(1024));
    }
    Ok(())
}
