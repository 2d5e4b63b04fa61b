//! The additions of `teamroom backlog` to the commands of the registry: a file of items, saving files, and watching.

mod watch;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use serde_json::json;

use crate::cli::{Globals, generated, setting};
use crate::features::backlog::model::ItemDraft;
use crate::features::backlog::service::{AskedIn, Asker, Backlog};
use kernel::chat::medium::Medium;
use kernel::commands::CommandReply;
use kernel::tools::workspace;

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

pub(super) async fn watch(globals: &Globals, group: &ArgMatches, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let args = watch::Args::from_arg_matches(matches)?;
    let config = setting::read_config(globals)?;
    let beside = generated::open(&config).await?;
    let backlog = beside.services.late::<Backlog>().get()?;
    let watched = watch::watch(&backlog, &args, group.get_flag("json")).await;
    beside.store.close().await;
    watched
}

pub(super) async fn add_file(globals: &Globals, group: &ArgMatches, file: &Path) -> anyhow::Result<ExitCode> {
    let as_json = group.get_flag("json");
    let config = setting::read_config(globals)?;
    let drafts = match read_file(file) {
        Ok(drafts) => drafts,
        Err(error) => return generated::answer(Err(error), as_json),
    };
    let beside = generated::open(&config).await?;
    let backlog = beside.services.late::<Backlog>().get()?;
    let added = backlog.add_all(&drafts, &Asker::CommandLine, AskedIn::default()).await;
    beside.store.close().await;
    let reply = added.map_err(Into::into).map(|items| {
        let text = if items.len() == 1 { "Added 1 item.".to_owned() } else { format!("Added {} items.", items.len()) };
        CommandReply::private(text).with_data(json!({ "items": items }))
    });
    generated::answer(reply, as_json)
}

pub(super) async fn save_files(globals: &Globals, group: &ArgMatches, id: &str, folder: &Path) -> anyhow::Result<ExitCode> {
    let config = setting::read_config(globals)?;
    let beside = generated::open(&config).await?;
    let backlog = beside.services.late::<Backlog>().get()?;
    let found = backlog.get_files(id, &Asker::CommandLine).await;
    beside.store.close().await;
    let saved = found.map_err(anyhow::Error::from).and_then(|(_, files)| {
        let files = files.iter().map(|file| (file.facts.name.as_str(), file.content.as_slice()));
        Ok(workspace::save_files(folder, files)?)
    });
    let reply = saved.map(|saved| {
        let names: Vec<_> = saved.iter().map(|path| path.display().to_string()).collect();
        let text = names.iter().map(|name| format!("Saved {}", Medium::Chat.line(name))).collect::<Vec<_>>().join("\n");
        CommandReply::private(text).with_data(json!({ "saved": names }))
    });
    generated::answer(reply, group.get_flag("json"))
}

fn read_file(file: &Path) -> anyhow::Result<Vec<ItemDraft>> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no list of items; `teamroom backlog add --help` shows one", file.display()))
}
