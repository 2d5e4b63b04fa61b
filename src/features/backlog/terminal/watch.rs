//! `teamroom backlog watch`: prints changes of the backlog, read from the database.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use crate::features::backlog::commands::describe;
use crate::features::backlog::model::{Wait, WorkItem, WorkStatus};
use crate::features::backlog::render::{describe_change, name_of_owner};
use crate::features::backlog::service::Backlog;
use crate::features::backlog::store::ITEMS;
use crate::store::Store;
use kernel::chat::medium::Medium;
use kernel::chat::text::plain;
use kernel::commands::parse_duration;
use kernel::db::StoreError;
use kernel::ids::WorkItemId;
use kernel::print_line;
use kernel::time::{Clock, SharedClock, SystemClock};

/// Overlap of two readings, because the clock of another process may be behind. Printed changes are not printed again.
const OVERLAP: TimeDelta = TimeDelta::seconds(10);

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Stop when the team has no work left: no item is new, ready or in progress.
    #[arg(long)]
    until_idle: bool,
    /// Stop after this time, such as 10s or 5m. With --until-idle, the exit code is 1 if work is left.
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    limit: Option<Duration>,
}

pub(super) async fn watch(backlog: &Backlog, args: &Args, as_json: bool) -> anyhow::Result<()> {
    let limit = async {
        match args.limit {
            Some(limit) => SystemClock.sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        ended = follow(backlog, args.until_idle, as_json) => ended,
        () = limit => {
            anyhow::ensure!(!args.until_idle, "there is still work to do");
            Ok(())
        }
    }
}

/// Prints changes until there is no work left, or forever.
async fn follow(backlog: &Backlog, until_idle: bool, as_json: bool) -> anyhow::Result<()> {
    let store = backlog.store();
    let clock: SharedClock = Arc::new(SystemClock);
    let mut changes = store.subscribe(ITEMS, &clock);
    let mut since = SystemClock.now();
    // Items from before are not printed.
    let mut printed: HashMap<WorkItemId, WorkStatus> =
        store.list_items_changed(since - OVERLAP, since).await?.into_iter().map(|change| (change.item.id, change.to)).collect();
    let mut mark = store.backlog_mark().await?;
    loop {
        // Checked before the changes are read, so that the last change is printed too.
        let is_over = until_idle && is_idle(store).await?;
        let seen = store.backlog_mark().await?;
        if seen != mark {
            mark = seen;
            let now = SystemClock.now();
            for change in store.list_items_changed(since - OVERLAP, now + OVERLAP).await? {
                let before = printed.insert(change.item.id.clone(), change.to);
                if before != Some(change.to) {
                    print(backlog, &change.item, before.or(change.from), change.to, now, as_json);
                }
            }
            since = now;
        }
        if is_over {
            return Ok(());
        }
        changes.next().await;
    }
}

fn print(backlog: &Backlog, item: &WorkItem, from: Option<WorkStatus>, to: WorkStatus, at: DateTime<Utc>, as_json: bool) {
    if as_json {
        print_line!("{}", json!({"at": at, "from": from, "to": to, "item": describe(item)}));
        return;
    }
    let owner = name_of_owner(&item.owner, backlog.roster());
    let wait = item.wait.as_ref().map(Wait::describe);
    let why = wait.or_else(|| item.outcome.clone()).map_or(String::new(), |why| format!(" — {}", on_one_line(&why)));
    print_line!(
        "{}  #{}  {}  {owner}: {}{why}",
        at.with_timezone(&backlog.zone()).format("%H:%M:%S"),
        item.short_id(),
        describe_change(from, to),
        on_one_line(&item.what)
    );
}

async fn is_idle(store: &Store) -> Result<bool, StoreError> {
    let counts = store.count_items(SystemClock.now()).await?;
    Ok([WorkStatus::New, WorkStatus::Ready, WorkStatus::InProgress].into_iter().all(|status| counts.of(status) == 0))
}

/// Foreign text without marks that a terminal would interpret.
fn on_one_line(text: &str) -> String {
    plain(&Medium::Chat.line(text))
}
