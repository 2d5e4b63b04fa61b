//! The command line. The commands of the team come from its registry (`generated`). Commands that only make sense at a terminal have their own files
//! here, or come from a feature. Meetings of every kind are held at a terminal by `meeting`. All of this reads arguments, calls the code that does the
//! work, and prints. It contains no decisions.

mod ask;
mod backup;
mod completions;
mod confirm;
mod db;
mod doctor;
#[cfg(test)]
mod documented;
mod folders;
mod generated;
mod help;
mod init;
mod json;
mod man;
mod me;
mod meeting;
mod person;
mod run;
mod sandbox;
mod sandbox_ports;
mod sandbox_server;
mod setting;
mod slack_manifest;
mod terminal;
mod trace;
mod width;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::config::PLATFORM;
use crate::features::{self, FEATURES};
use kernel::commands::{Refused, Registry, Services, permit_all};
use kernel::config::ConfigErrors;
use kernel::db::StoreError;
use kernel::people::NotFound;
use kernel::persona::roster::UnknownPersona;

/// A team of AI personas in a chat server: one process, one account each.
#[derive(Debug, Parser)]
#[command(name = "teamroom", version, about)]
struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Special,
}

/// The heading in a command's help for the options that all commands have. They come after its own.
const COMMON: &str = "Common options";

/// What every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = COMMON)]
struct Globals {
    /// The configuration file; by default `teamroom.toml` here, if there is one.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Use the database of the sandbox in this directory. The default where there is no other.
    #[arg(long = "sandbox", id = "use-sandbox", global = true)]
    sandbox: bool,
}

/// Commands that only the command line has.
#[derive(Debug, Subcommand)]
enum Special {
    /// Run the team in a local chat server, with nothing to configure.
    Sandbox(sandbox::Args),
    /// Run the team on Discord or Slack.
    Run,
    /// Write settings, `.env` and personas for a team of your own.
    ///
    /// Asks for model, repository and server. Existing files are kept.
    Init(init::Args),
    /// Check what the team needs, and say how to fix what does not work.
    ///
    /// Tries settings, models, feeds, programs, tokens and permissions.
    Doctor(doctor::Args),
    /// Ask a persona here in the terminal, without a chat server.
    Ask(ask::Args),
    /// Show what was done about a message, an item, a meeting or a reminder.
    Trace(trace::Args),
    /// Show what is in the database and whether it is sound.
    Db(db::Args),
    /// Copy the database into a file, also while a team runs.
    Backup(backup::BackupArgs),
    /// Put a backup in place of the database, while no team runs.
    Restore(backup::RestoreArgs),
    /// Write all that is stored, as JSON, a row on each line.
    Export(backup::ExportArgs),
    /// Write or remove what is stored about one person.
    Person(person::Args),
    /// Print the manifest of the Slack app.
    ///
    /// Paste it at <https://api.slack.com/apps> to make the app.
    SlackManifest(slack_manifest::Args),
    /// Print a script for completion in a shell.
    ///
    /// It completes commands, options, and names and ids of the team.
    Completions(completions::Args),
    /// Write a man page for each command into a directory.
    Man(man::Args),
}

/// The exit code that a shell reports after Ctrl-C: 128 plus the number of the signal.
const INTERRUPTED: u8 = 130;

/// A command that cannot be carried out as it was given. clap uses it for what it does not understand.
const MISTAKEN: u8 = 2;

/// `EX_CONFIG` of sysexits.h: another start would end in the same way, so a service manager should not try one.
const MISCONFIGURED: u8 = 78;

/// Whether nothing but a correction of settings, permissions or files helps.
fn needs_a_person(error: &anyhow::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, PermissionDenied, ReadOnlyFilesystem};
    error.chain().any(|cause| {
        let of_store = cause.downcast_ref::<StoreError>().is_some_and(|error| {
            use StoreError::{Address, Corrupt, Empty, NewerSchema, NotWritable, OldSqlite};
            matches!(error, Address(_) | Corrupt(_) | Empty { .. } | NewerSchema { .. } | NotWritable { .. } | OldSqlite { .. })
        });
        let of_file = cause
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| matches!(error.kind(), NotADirectory | PermissionDenied | ReadOnlyFilesystem));
        of_store || of_file || cause.is::<ConfigErrors>() || cause.is::<Refused>()
    })
}

/// The exit code of a command that failed: whether another value would help, or something else is wrong.
pub fn exit_code(error: &anyhow::Error) -> ExitCode {
    let is_mistake = error.chain().any(|cause| cause.is::<Refused>() || cause.is::<UnknownPersona>() || cause.is::<NotFound>());
    if is_mistake { ExitCode::from(MISTAKEN) } else { ExitCode::FAILURE }
}

/// The command specifications of the team, without handlers.
fn registry(services: &Services) -> Registry {
    // This registry serves only the command line, which may do everything.
    features::registry(PLATFORM, services, permit_all())
}

/// The whole command line.
fn command(registry: &Registry) -> clap::Command {
    let generated = registry.commands().iter().filter(|spec| spec.surface.is_on_command_line()).map(generated::subcommand);
    let command = meeting::extend(Cli::command().subcommands(generated));
    let command = FEATURES.iter().fold(command, |command, feature| feature.extend_command_line(command));
    help::extend(command, registry)
}

/// Runs the command of this process and returns its exit code.
///
/// # Errors
/// The error to show at the terminal.
pub async fn run() -> anyhow::Result<ExitCode> {
    let registry = registry(&Services::new("This works only where the team runs. Give the command in the chat."));
    if completions::answer(|| command(&registry))? {
        return Ok(ExitCode::SUCCESS);
    }
    let matches = command(&registry).get_matches();
    let globals = Globals::from_arg_matches(&matches)?;
    if let Some(run) = meeting::find(&matches) {
        return run.hold(&globals).await;
    }
    if let Some(command) = FEATURES.iter().find_map(|feature| feature.find_terminal_command(&matches)) {
        return generated::run_at_terminal(&globals, command, matches.subcommand().is_some_and(|(_, group)| group.get_flag("json"))).await;
    }
    match matches.subcommand() {
        Some((name, matches)) if registry.commands().iter().any(|spec| spec.name == name && spec.surface.is_on_command_line()) => {
            generated::run(&globals, &registry, name, matches).await
        }
        _ => run_special(Cli::from_arg_matches(&matches)?, &registry).await,
    }
}

async fn run_special(cli: Cli, registry: &Registry) -> anyhow::Result<ExitCode> {
    let globals = cli.globals;
    match cli.command {
        // Boxed, because the futures that start the whole team are large.
        Special::Sandbox(args) => Box::pin(sandbox::run(globals.config, args)).await,
        Special::Run => match Box::pin(run::run(&globals)).await {
            Err(error) if needs_a_person(&error) => {
                eprintln!("teamroom: {error:#}");
                return Ok(ExitCode::from(MISCONFIGURED));
            }
            ended => ended,
        },
        Special::Init(args) => init::run(args).await,
        Special::Doctor(args) => doctor::run(&globals, args).await,
        Special::Ask(args) => Box::pin(ask::run(&globals, args)).await,
        Special::Trace(args) => trace::run(&globals, args).await,
        Special::Db(args) => db::run(&globals, args).await,
        Special::Backup(args) => backup::back_up(&globals, args).await,
        Special::Restore(args) => backup::restore(&globals, args).await,
        Special::Export(args) => backup::export(&globals, args).await,
        Special::Person(args) => person::run(&globals, args).await,
        Special::SlackManifest(args) => slack_manifest::print(&args),
        Special::Completions(args) => completions::print(&args),
        Special::Man(args) => man::write(&args, command(registry), registry),
    }?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn parse(args: &[&str]) -> Result<clap::ArgMatches, clap::Error> {
        let registry = registry(&Services::new("not here"));
        command(&registry).try_get_matches_from(std::iter::once(&"teamroom").chain(args))
    }

    #[test]
    fn the_command_line_has_no_contradictions() {
        command(&registry(&Services::new("not here"))).debug_assert();
    }

    #[test]
    fn every_command_of_the_team_can_be_given_here() {
        for args in [
            &["costs", "--json"][..],
            &["costs", "--since", "this-week"],
            &["team", "list"],
            &["team", "pause", "vince", "--json"],
            &["status", "--sandbox"],
            &["halt"],
            &["backlog", "add", "Tidy up", "--criterion", "a", "--criterion", "b"],
            &["backlog", "add", "--file", "items.json"],
            &["backlog", "watch", "--until-idle", "--json"],
            &["schedule", "next", "news", "--count", "2"],
        ] {
            assert!(parse(args).is_ok(), "{args:?}: {}", parse(args).unwrap_err());
        }
        for args in [&["backlog"][..], &["backlog", "add"], &["backlog", "add", "x", "--file", "y"], &["ask"], &["team", "show"]] {
            assert!(parse(args).is_err(), "{args:?}");
        }
    }
}
