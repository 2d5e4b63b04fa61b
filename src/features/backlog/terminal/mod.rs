//! What `teamroom backlog` has at the command line alone: a file of items, saving files, and watching.

mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use serde_json::json;

use crate::features::backlog::commands::{describe, explain};
use crate::features::backlog::model::ItemDraft;
use crate::features::backlog::service::{AskedIn, Asker, Backlog};
use crate::features::{Shown, TerminalCommand};
use kernel::chat::medium::Medium;
use kernel::commands::{CommandReply, Refused};
use kernel::tools::workspace::{self, NotSaved};

/// The format of a file of items.
const FILE_HELP: &str = "\
The file is a JSON array of objects; of each, only \"what\" must be there:
  {\"key\": \"a\", \"what\": \"Check the login\", \"how\": \"…\", \"why\": \"…\", \"owner\": \"vince\", \"urgency\": \"now|today|this_week|backlog\",
   \"criteria\": [\"…\"], \"needs\": [\"a key of this file, or the end of an id\"], \"parent\": \"likewise\",
   \"repository\": \"a name of [repositories.NAME]\", \"kind\": \"remind|research|write|build|ask|watch\", \"watch\": {\"feed\": \"…\", \"rule\": …, \"until\": \"2026-12-01T09:00:00Z\"},
   \"anyway\": true}
All of its items are added, or none.";

/// Adds `add --file`, `files --out` and `watch`.
pub(super) fn extend(command: Command) -> Command {
    let watch = watch::Args::augment_args(Command::new("watch").about("Print what changes, as it changes; Ctrl-C ends it"));
    command.mut_subcommand("add", take_file).mut_subcommand("files", take_folder).subcommand(watch)
}

fn take_folder(files: Command) -> Command {
    let out = Arg::new("out").long("out").value_name("DIR").value_parser(clap::value_parser!(PathBuf));
    files.about("List the files that an item made, or save them").arg(out.help("Save the files below this folder"))
}

fn take_file(add: Command) -> Command {
    let others: Vec<_> = add.get_arguments().map(|arg| arg.get_id().clone()).filter(|id| id != "json").collect();
    let file = Arg::new("file")
        .long("file")
        .value_name("FILE")
        .value_parser(clap::value_parser!(PathBuf))
        .conflicts_with_all(others)
        .help("Add all items of a JSON file instead; `add --help` shows its form");
    let bare = |anyway: Arg| anyway.num_args(0..=1).require_equals(true).default_missing_value("yes");
    add.arg(file)
        .mut_arg("anyway", bare)
        .mut_arg("what", |what| what.required(false).required_unless_present("file"))
        .after_long_help(FILE_HELP)
}

/// `watch`, `add --file` and `files --out`.
pub(super) fn find(given: &ArgMatches) -> Option<TerminalCommand> {
    let ("backlog", group) = given.subcommand()? else { return None };
    match group.subcommand()? {
        ("watch", matches) => {
            let (args, as_json) = (watch::Args::from_arg_matches(matches), group.get_flag("json"));
            Some(command(async move |backlog| {
                watch::watch(&backlog, &args?, as_json).await?;
                Ok(Shown::Nothing)
            }))
        }
        ("add", matches) => {
            let file = matches.get_one::<PathBuf>("file")?.clone();
            Some(command(async move |backlog| add_file(&backlog, &file).await.map(Shown::Reply)))
        }
        ("files", matches) => {
            let folder = matches.get_one::<PathBuf>("out")?.clone();
            let id = matches.get_one::<String>("id").cloned().unwrap_or_default();
            Some(command(async move |backlog| save_files(&backlog, &id, &folder).await.map(Shown::Reply)))
        }
        _ => None,
    }
}

fn command<F>(run: impl FnOnce(Arc<Backlog>) -> F + Send + 'static) -> TerminalCommand
where
    F: Future<Output = anyhow::Result<Shown>> + Send + 'static,
{
    Box::new(|services| Box::pin(async move { run(services.late::<Backlog>().get()?).await }))
}

async fn add_file(backlog: &Backlog, file: &Path) -> anyhow::Result<CommandReply> {
    let items = backlog.add_all(&read_file(file)?, &Asker::CommandLine, AskedIn::default()).await.map_err(explain)?;
    let text = if items.len() == 1 { "Added 1 item.".to_owned() } else { format!("Added {} items.", items.len()) };
    Ok(CommandReply::private(text).with_data(json!({ "items": items.iter().map(describe).collect::<Vec<_>>() })))
}

async fn save_files(backlog: &Backlog, id: &str, folder: &Path) -> anyhow::Result<CommandReply> {
    let (_, files) = backlog.get_files(id, &Asker::CommandLine).await.map_err(explain)?;
    let files = files.iter().map(|file| (file.facts.name.as_str(), file.content.as_slice()));
    let saved = workspace::save_files(folder, files).map_err(|error| match error {
        NotSaved::Failed { .. } => anyhow::Error::from(error),
        NotSaved::Exists(_) | NotSaved::Name(_) => Refused::new(error.to_string()).into(),
    })?;
    let names: Vec<_> = saved.iter().map(|path| path.display().to_string()).collect();
    let text = names.iter().map(|name| format!("Saved {}", Medium::Chat.line(name))).collect::<Vec<_>>().join("\n");
    Ok(CommandReply::private(text).with_data(json!({ "saved": names })))
}

fn read_file(file: &Path) -> anyhow::Result<Vec<ItemDraft>> {
    let text = std::fs::read_to_string(file).map_err(|error| Refused::new(format!("cannot read {}: {error}", file.display())))?;
    Ok(serde_json::from_str(&text).map_err(|error| {
        Refused::new(format!("{} is no list of items; `teamroom backlog add --help` shows one: {error}", file.display()))
    })?)
}
