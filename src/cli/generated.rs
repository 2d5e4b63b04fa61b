//! Commands of the registry as subcommands.

use std::process::ExitCode;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use serde_json::json;

use crate::app::{self, Beside, shutdown};
use crate::cli::json::without_wrappers;
use crate::cli::{COMMON, Globals, INTERRUPTED, completions, exit_code, me, setting, terminal};
use crate::config::Config;
use crate::features::{Shown, TerminalCommand};
use crate::store::Store;
use kernel::commands::{
    ArgumentKind, ArgumentSpec, Caller, Choice, CommandReply, CommandRequest, CommandSpec, Effect, Invoked, Refused, Registry,
};
use kernel::commands::{parse_date, print_text};
use kernel::db::{StoreError, check_exists};
use kernel::print_line;
use kernel::time::{Clock, SystemClock};

/// A command of the team with its arguments.
pub(super) fn subcommand(spec: &CommandSpec) -> Command {
    let json = Arg::new("json").long("json").global(true).action(ArgAction::SetTrue).help("Print JSON").help_heading(COMMON);
    describe(spec).arg(json)
}

fn describe(spec: &CommandSpec) -> Command {
    let command = Command::new(spec.name).about(spec.description.trim_end_matches('.'));
    let command = command.args(spec.arguments.iter().filter(|argument| argument.surface.is_on_command_line()).map(describe_argument));
    let subcommands: Vec<_> = spec.subcommands.iter().filter(|spec| spec.surface.is_on_command_line()).map(describe).collect();
    let is_group = !subcommands.is_empty();
    command.subcommands(subcommands).subcommand_required(is_group).arg_required_else_help(is_group)
}

/// The kind of arguments that name a file on this machine.
const FILE: &str = "file";

/// Required arguments are positional, all others are named.
fn describe_argument(argument: &ArgumentSpec) -> Arg {
    let action = if argument.many { ArgAction::Append } else { ArgAction::Set };
    let arg = Arg::new(argument.name).help(argument.description).action(action).value_name(value_name(argument));
    let arg = if argument.required { arg.required(true) } else { arg.long(argument.name) };
    let arg = match argument.completes() {
        Some(FILE) => arg.value_hint(ValueHint::FilePath),
        Some(kind) => arg.add(completions::completer(kind)),
        None => arg,
    };
    match argument.kind {
        ArgumentKind::Choice(choices) => arg.value_parser(Offered(choices)),
        ArgumentKind::Number { .. } | ArgumentKind::Integer { .. } => arg.allow_negative_numbers(true),
        _ => arg,
    }
}

/// The placeholder of a value in the help.
fn value_name(argument: &ArgumentSpec) -> &'static str {
    match argument.kind {
        _ if argument.required => argument.name,
        ArgumentKind::Text(_) | ArgumentKind::NameOrId(_) => "text",
        ArgumentKind::Reference(to) => to,
        ArgumentKind::Choice(_) => argument.name,
        ArgumentKind::Number { .. } | ArgumentKind::Integer { .. } => "number",
        ArgumentKind::Duration => "time",
        ArgumentKind::Date => "date",
    }
}

/// Lists the values of a choice in help and completion. The registry validates them.
#[derive(Clone)]
struct Offered(&'static [Choice]);

impl TypedValueParser for Offered {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &std::ffi::OsStr) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|choice| PossibleValue::new(choice.value))))
    }
}

/// Runs a command of the registry, beside a running team or without one.
pub(super) async fn run(globals: &Globals, registry: &Registry, name: &str, matches: &ArgMatches) -> anyhow::Result<ExitCode> {
    let as_json = matches.get_flag("json");
    let (path, spec, mut given) = read(registry, name, matches)?;
    // Before anything is opened: a wrong value is wrong without a database too.
    if let Err(refused) = registry.check_arguments(spec, &given).and_then(|()| check_dates(spec, &given)) {
        return answer(Err(refused.into()), as_json);
    }
    let config = setting::read_config(globals)?;
    if spec.effect_with(given.iter().map(|(name, _)| name.as_str())) == Effect::Looks {
        check_exists(&config.database_url)?;
    }
    let beside = open(&config).await?;
    let reply = match me::replace(spec, &mut given, &config, &beside.store).await {
        Ok(()) => call(&beside, &config, &path, given).await,
        Err(error) => Err(error),
    };
    beside.store.close().await;
    answer(reply, as_json)
}

/// Dates are read by the command, in the team's zone. Whether a text is one does not depend on it.
fn check_dates(spec: &CommandSpec, given: &[(String, String)]) -> Result<(), Refused> {
    let is_date = |name: &str| spec.find_argument(name).is_some_and(|argument| argument.kind == ArgumentKind::Date);
    let today = SystemClock.now().date_naive();
    given.iter().filter(|(name, _)| is_date(name)).try_for_each(|(_, text)| parse_date(text, today).map(drop))
}

/// A command with its arguments.
type Given<'a> = (String, &'a CommandSpec, Vec<(String, String)>);

/// The command that was given.
fn read<'a>(registry: &'a Registry, name: &str, matches: &ArgMatches) -> anyhow::Result<Given<'a>> {
    let (path, matches) = match matches.subcommand() {
        Some((sub, matches)) => (format!("{name} {sub}"), matches),
        None => (name.to_owned(), matches),
    };
    let spec = registry.find(&path).ok_or_else(|| anyhow::anyhow!("there is no command {path}"))?;
    let mut given = Vec::new();
    for argument in spec.arguments.iter().filter(|argument| argument.surface.is_on_command_line()) {
        let values = matches.get_many::<String>(argument.name).into_iter().flatten();
        given.extend(values.map(|value| (argument.name.to_owned(), value.clone())));
    }
    Ok((path, spec, given))
}

/// Whether the registry takes the arguments of one of its commands.
#[cfg(test)]
pub(super) fn check(registry: &Registry, matches: &ArgMatches) -> anyhow::Result<()> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(()) };
    // Commands that only the command line has are checked by clap alone.
    match read(registry, name, matches) {
        Ok((_, spec, given)) => Ok(registry.check_arguments(spec, &given)?),
        Err(_) => Ok(()),
    }
}

/// Runs a command that only the command line has.
pub(super) async fn run_at_terminal(globals: &Globals, command: TerminalCommand, as_json: bool) -> anyhow::Result<ExitCode> {
    let config = setting::read_config(globals)?;
    check_exists(&config.database_url)?;
    let beside = open(&config).await?;
    let shown = tokio::select! {
        shown = command(beside.services.clone()) => Some(shown),
        () = shutdown::signalled() => None,
    };
    beside.store.close().await;
    match shown {
        None => Ok(ExitCode::from(INTERRUPTED)),
        Some(Ok(Shown::Reply(reply))) => answer(Ok(reply), as_json),
        Some(Ok(Shown::Raw(text))) => {
            print_text(format_args!("{text}"));
            Ok(ExitCode::SUCCESS)
        }
        Some(Ok(Shown::Nothing)) => Ok(ExitCode::SUCCESS),
        Some(Err(error)) => answer(Err(error), as_json),
    }
}

/// The command handlers of this process.
pub(super) async fn open(config: &Config) -> anyhow::Result<Beside> {
    let roster = setting::read_roster(config)?;
    app::beside(config, roster).await
}

async fn call(beside: &Beside, config: &Config, path: &str, given: Vec<(String, String)>) -> anyhow::Result<CommandReply> {
    let invoked = Invoked::Command { path: path.to_owned(), given };
    let reply = beside.registry.try_run(CommandRequest { invoked, caller: Caller::CommandLine, channel: None }).await?;
    if reply.is_document {
        return Ok(reply);
    }
    let reply = CommandReply { text: terminal::with_names(&beside.store, &reply.text).await?, ..reply };
    match path {
        "backlog run" | "halt" | "status" if !reply.error => tell_who_serves(config, reply).await,
        _ if reply.left_to_team && who_serves(config).await?.is_none() => {
            let text = format!("{}\nNo team is running, so this starts once one does: `teamroom run`, or `teamroom sandbox`.", reply.text);
            Ok(CommandReply { text, ..reply })
        }
        _ => Ok(reply),
    }
}

/// The process that serves the database, if there is one.
async fn who_serves(config: &Config) -> anyhow::Result<Option<String>> {
    match Store::open(&config.database_url, SystemClock.now()).await {
        Ok(store) => {
            store.close().await;
            Ok(None)
        }
        Err(StoreError::Locked { who, .. }) => Ok(Some(who)),
        Err(error) => Err(error.into()),
    }
}

/// Adds whether a team serves the database, and what to do if none does.
async fn tell_who_serves(config: &Config, reply: CommandReply) -> anyhow::Result<CommandReply> {
    let (told, served) = match who_serves(config).await? {
        None => ("No team serves this database: start `teamroom run`, or `teamroom sandbox` for its own.".to_owned(), false),
        Some(who) => (format!("The team is running: {who} serves this database."), true),
    };
    let mut data = reply.data.clone().unwrap_or_else(|| json!({}));
    data["served"] = served.into();
    let text = format!("{}\n{told}", reply.text);
    Ok(CommandReply { text, ..reply }.with_data(data))
}

/// Prints a reply for a person or for a program, and returns the exit code.
pub(super) fn answer(reply: anyhow::Result<CommandReply>, as_json: bool) -> anyhow::Result<ExitCode> {
    let mut data = json!({});
    let reply = match reply {
        Ok(reply) if reply.error => {
            data = reply.data.unwrap_or(data);
            Err(Refused::new(terminal::plain(&reply.text)).into())
        }
        Err(error) => Err(match error.downcast::<Refused>() {
            Ok(refused) => Refused::new(terminal::plain(&refused.to_string())).into(),
            Err(error) => error,
        }),
        Ok(reply) => Ok(reply),
    };
    match reply {
        Ok(reply) if as_json => {
            let data = reply.data.unwrap_or_else(|| json!({ "text": terminal::plain(&reply.text), "error": false }));
            print_line!("{}", without_wrappers(data));
        }
        Ok(reply) if reply.text.is_empty() => {}
        Ok(reply) if reply.is_document => print_line!("{}", reply.text.trim_end()),
        Ok(reply) => print_line!("{}", terminal::render(&reply.text)),
        Err(error) if as_json => {
            data["text"] = format!("{error:#}").into();
            data["error"] = true.into();
            print_line!("{}", without_wrappers(data));
            return Ok(exit_code(&error));
        }
        Err(error) => return Err(error),
    }
    Ok(ExitCode::SUCCESS)
}
