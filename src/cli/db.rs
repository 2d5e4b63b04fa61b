//! `teamroom db`: the content of the database.

use crate::cli::{Globals, setting};
use crate::store::Store;
use kernel::db::check_exists;
use kernel::print_line;
use kernel::time::{Clock, SystemClock};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(globals: &Globals, args: Args) -> anyhow::Result<()> {
    let config = setting::read_config(globals)?;
    check_exists(&config.database_url)?;
    let store = Store::open_shared(&config.database_url, SystemClock.now()).await?;
    let summary = store.summary().await;
    store.close().await;
    let summary = summary?;
    if args.json {
        let tables: serde_json::Map<String, serde_json::Value> =
            summary.tables.iter().map(|(table, rows)| (table.clone(), (*rows).into())).collect();
        print_line!(
            "{}",
            serde_json::json!({
                "engine": summary.engine, "place": summary.place, "schema": summary.schema, "bytes": summary.size,
                "tables": tables, "damage": summary.damage,
            })
        );
    } else {
        print_line!("{} at {}, schema {}, {} KiB", summary.engine, summary.place, summary.schema, summary.size.div_ceil(1024));
        let longest = summary.tables.iter().map(|(table, _)| table.len()).max().unwrap_or_default();
        for (table, rows) in &summary.tables {
            print_line!("  {table:<longest$}{rows:>10}");
        }
        print_line!("{}", if summary.damage.is_empty() { "No damage found.".to_owned() } else { summary.damage.join("\n") });
    }
    anyhow::ensure!(summary.damage.is_empty(), "the database is damaged; keep the file and restore a backup");
    Ok(())
}
