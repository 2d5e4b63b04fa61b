//! `teamroom backlog`: what there is to be done, beside a team that runs or without one. Nothing is worked on from here.

mod add;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Subcommand, ValueEnum};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::setting;
use crate::app;
use crate::chat::format::align_tables;
use crate::chat::medium::Medium;
use crate::clock::{Clock, SystemClock};
use crate::config::Config;
use crate::domain::work::{ItemChanges, Urgency, WorkItem};
use crate::store::{Store, StoreError};
use crate::work::desk::{Asker, Backlog, ListQuery, Parts};
use crate::work::render::{Detail, ItemSheet, render_item, render_list};

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
    /// Which items there are, the most urgent first.
    List {
        /// Only those that stand like this: new, ready, blocked, "in progress", "in review", waiting, done, failed, cancelled, open or all.
        #[arg(long, default_value = "open")]
        status: String,
        /// Only those of a persona or a person.
        #[arg(long, value_name = "NAME")]
        owner: Option<String>,
        /// The most items to show.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
    },
    /// Everything there is to know of an item: how it stands and why, what proves it, what was done.
    Show {
        /// The last six characters of its id, or more.
        id: String,
    },
    /// Put something into the backlog, or everything in a file.
    Add(Box<add::Args>),
    /// Do an item next, in the team that serves this database.
    Run { id: String },
    /// Try an item once more that failed, was cancelled or waits.
    Retry { id: String },
    /// End an item without a result; what needs it fails with it.
    Cancel { id: String },
    /// Change what an item says. One that is being worked on begins anew.
    Edit(Edit),
    /// Print what changes, as it changes. Ctrl-C ends it.
    Watch(watch::Args),
}

#[derive(Debug, clap::Args)]
struct Edit {
    id: String,
    /// What is to be done; begins with a verb.
    #[arg(long)]
    what: Option<String>,
    #[arg(long)]
    how: Option<String>,
    #[arg(long)]
    why: Option<String>,
    /// A persona, or a person of the team.
    #[arg(long, value_name = "NAME")]
    owner: Option<String>,
    #[arg(long, value_enum)]
    urgency: Option<When>,
    /// What must be true when it is done, in place of all that stood there; may be given several times.
    #[arg(long = "criterion", value_name = "TEXT")]
    criteria: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum When {
    Now,
    Today,
    ThisWeek,
    Backlog,
}

impl From<When> for Urgency {
    fn from(when: When) -> Self {
        match when {
            When::Now => Self::Now,
            When::Today => Self::Today,
            When::ThisWeek => Self::ThisWeek,
            When::Backlog => Self::Backlog,
        }
    }
}

/// What there is to print, for a person and for a program.
struct Told {
    text: String,
    value: Value,
}

pub(super) async fn run(file: Option<PathBuf>, args: Args) -> anyhow::Result<ExitCode> {
    let config = setting::read_config(file)?;
    let backlog = open(&config).await?;
    let carried = match args.command {
        Command::Watch(watched) => watch::watch(&backlog, &watched, args.json).await,
        command => carry(&backlog, &config, command).await.map(|told| {
            if args.json {
                println!("{}", told.value);
            } else {
                println!("{}", told.text.trim_end());
            }
            ExitCode::SUCCESS
        }),
    };
    backlog.store().close().await;
    carried
}

async fn open(config: &Config) -> anyhow::Result<Backlog> {
    let roster = Arc::new(setting::read_roster(config)?);
    Ok(Backlog::new(Parts {
        store: Store::open_shared(&config.database_url, SystemClock.now()).await?,
        roster,
        people: app::people(config),
        budgets: config.budgets.clone(),
        most_rejections: config.backlog.attempts,
        relay: None,
        clock: Arc::new(SystemClock),
        // A team that runs beside this sees the rows at its next look at the backlog.
        ring: Arc::new(Notify::new()),
    }))
}

async fn carry(backlog: &Backlog, config: &Config, command: Command) -> anyhow::Result<Told> {
    let asker = Asker::Terminal;
    Ok(match command {
        Command::List { status, owner, limit } => {
            let listed = backlog.list(&ListQuery { status: Some(&status), owner: owner.as_deref(), limit }).await?;
            // Aligned for a chat, where a code block keeps the columns; a terminal does so by itself.
            let text = align_tables(&render_list(&listed.view(), backlog.roster())).replace("```\n", "").replace("\n```", "");
            Told { text: plain(&text), value: json!(listed.items) }
        }
        Command::Show { id } => {
            let sheet = backlog.get_sheet(&id).await?;
            Told { text: plain(&render_item(&sheet, backlog.roster(), Detail::Whole)), value: describe_sheet(&sheet) }
        }
        Command::Add(args) => add::add(backlog, *args).await?,
        Command::Run { id } => {
            let item = backlog.run(&id, &asker).await?;
            let (text, served) = tell_who_works(config, &item).await?;
            Told { text, value: json!({"item": item, "served": served}) }
        }
        Command::Retry { id } => {
            let item = backlog.retry(&id, &asker).await?;
            Told { text: format!("{} is tried again.", name(&item)), value: json!({ "item": item }) }
        }
        Command::Cancel { id } => {
            let ended = backlog.cancel(&id, &asker).await?;
            let with = match ended.failed.len() {
                0 => String::new(),
                failed => format!(" So ended what needs it: {failed} more."),
            };
            let text = format!("{} is cancelled.{with}", name(&ended.item));
            Told { text, value: json!({"item": ended.item, "failed": ended.failed}) }
        }
        Command::Edit(edit) => {
            let Edit { id, what, how, why, owner, urgency, criteria } = edit;
            let criteria = Some(criteria).filter(|criteria| !criteria.is_empty());
            let changes = ItemChanges { what, how, why, owner, urgency: urgency.map(Urgency::from), criteria };
            let item = backlog.edit(&id, &changes, &asker).await?;
            Told { text: format!("{} is changed.", name(&item)), value: json!({ "item": item }) }
        }
        Command::Watch(_) => unreachable!("watching prints by itself"),
    })
}

/// Whether a team serves the database, and what to do if none does.
async fn tell_who_works(config: &Config, item: &WorkItem) -> anyhow::Result<(String, bool)> {
    let waits = item.wait.as_ref().map_or(String::new(), |wait| format!(" But it waits {}.", wait.describe()));
    match Store::open(&config.database_url, SystemClock.now()).await {
        Ok(store) => {
            store.close().await;
            let text = "No team serves this database: start `teamroom run`, or `teamroom sandbox` for its own.";
            Ok((format!("{} is next.{waits} {text}", name(item)), false))
        }
        Err(StoreError::Locked { who, .. }) => Ok((format!("{} is next; {who} serves this database.{waits}", name(item)), true)),
        Err(error) => Err(error.into()),
    }
}

fn describe_sheet(sheet: &ItemSheet) -> Value {
    let events: Vec<_> =
        sheet.events.iter().map(|event| json!({"from": event.from, "to": event.to, "note": event.note, "at": event.at})).collect();
    let entries = sheet.runs.iter().flat_map(|run| run.entries.iter().map(move |entry| (run.run, entry)));
    let journal: Vec<_> = entries.map(|(run, (entry, at))| json!({"run": run, "entry": entry, "at": at})).collect();
    json!({
        "item": sheet.item, "needs": sheet.needs, "parent": sheet.parent, "events": events, "journal": journal,
        "product": sheet.product, "approvals": sheet.approvals,
    })
}

/// Markdown as a terminal is to show it: without marks for bold, and without the backslashes that keep foreign text harmless in a chat.
fn plain(markdown: &str) -> String {
    let mut text = String::with_capacity(markdown.len());
    let mut rest = markdown.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' if rest.peek().is_some_and(char::is_ascii_punctuation) => text.extend(rest.next()),
            '*' if rest.next_if_eq(&'*').is_some() => {}
            _ => text.push(c),
        }
    }
    text
}

/// Foreign text, which may hold what a terminal would obey.
fn on_one_line(text: &str) -> String {
    plain(&Medium::Chat.line(text))
}

fn name(item: &WorkItem) -> String {
    format!("#{} ({})", item.short_id(), on_one_line(&item.what))
}

#[cfg(test)]
mod tests {
    use super::{on_one_line, plain};

    #[test]
    fn a_terminal_shows_what_was_written() {
        assert_eq!(plain(r"**Split \*\*a\_b\*\*** (#1), `x*y` 2 \<= 3 at C:\\dir\new"), r"Split **a_b** (#1), `x*y` 2 <= 3 at C:\dir\new");
        assert_eq!(on_one_line("a\u{1b}[31m*b*\nc"), "a[31m*b* c");
    }
}
