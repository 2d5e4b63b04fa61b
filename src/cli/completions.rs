//! `teamroom completions`: what a shell needs to complete commands, options, names and ids. The shell asks this program at each Tab.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use clap::ValueEnum;
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use clap_complete::env::Shells;
use tokio::runtime::Handle;

use crate::app;
use crate::cli::{Globals, setting};
use crate::store::Store;
use kernel::commands::{Caller, Suggestion};
use kernel::persona::load;
use kernel::print_line;
use kernel::time::{Clock as _, SystemClock};

/// The environment variable by which a shell asks for completions.
const ASKS: &str = "COMPLETE";

/// How long a person waits for Tab.
const PATIENCE: Duration = Duration::from_millis(800);

/// The kinds of things that personas are.
const PERSONAS: [&str; 2] = ["persona", "owner"];

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Prints the script.
pub(super) fn print(args: &Args) -> anyhow::Result<()> {
    let name = match args.shell {
        Shell::Bash => "bash",
        Shell::Zsh => "zsh",
        Shell::Fish => "fish",
    };
    let mut script = Vec::new();
    let shell = Shells::builtins();
    let shell = shell.completer(name).context("clap does not know this shell")?;
    shell.write_registration(ASKS, "teamroom", "teamroom", &find_program(), &mut script)?;
    print_line!("{}", String::from_utf8_lossy(&script).trim_end());
    if matches!(args.shell, Shell::Zsh) {
        // As a file of its own it is loaded at the first Tab, which it then answers too.
        print_line!("if [ \"$funcstack[1]\" = _teamroom ]; then _clap_dynamic_completer_teamroom \"$@\"; fi");
    }
    Ok(())
}

/// How the script calls this program: by its name if it was called by its name, else by its path.
fn find_program() -> String {
    let called = PathBuf::from(std::env::args_os().next().unwrap_or_default());
    let is_path = called.components().count() > 1;
    let path = if is_path { std::path::absolute(&called).ok() } else { None };
    path.map_or_else(|| "teamroom".to_owned(), |path| path.display().to_string())
}

/// Answers a shell that asks for completions. False if none asks.
pub(super) fn answer(command: impl Fn() -> clap::Command) -> anyhow::Result<bool> {
    if std::env::var_os(ASKS).is_none() {
        return Ok(false);
    }
    let here = std::env::current_dir().ok();
    Ok(CompleteEnv::with_factory(command)
        .var(ASKS)
        .bin("teamroom")
        .completer(find_program())
        .try_complete(std::env::args_os(), here.as_deref())?)
}

/// Completes things of a kind (`persona`, `item`) from the team's files and its database.
pub(super) fn completer(kind: &'static str) -> ArgValueCompleter {
    ArgValueCompleter::new(move |typed: &OsStr| {
        let Some(typed) = typed.to_str() else { return Vec::new() };
        // The shell asks inside of the runtime, but not in a task.
        let found = tokio::task::block_in_place(|| Handle::current().block_on(tokio::time::timeout(PATIENCE, suggest(kind, typed))));
        let found = found.ok().and_then(Result::ok).unwrap_or_default();
        found.into_iter().filter_map(|suggestion| fit(typed, suggestion)).collect()
    })
}

/// A suggestion as the shell takes it: it must begin as the word does. What was typed keeps its case.
fn fit(typed: &str, suggestion: Suggestion) -> Option<CompletionCandidate> {
    let typed = typed.strip_prefix('#').unwrap_or(typed);
    let head = suggestion.value.get(..typed.len())?;
    let value =
        if head.to_lowercase() == typed.to_lowercase() { format!("{typed}{}", &suggestion.value[typed.len()..]) } else { return None };
    let label = (suggestion.label != suggestion.value).then(|| suggestion.label.into());
    Some(CompletionCandidate::new(value).help(label))
}

/// Looks at a database that is there and up to date. Nothing is created or changed, and nothing is printed.
async fn suggest(kind: &str, typed: &str) -> anyhow::Result<Vec<Suggestion>> {
    let config = setting::read_config(&globals())?;
    let roster = load::load(&config.personas).roster?;
    let store = match Store::open_as_it_is(&config.database_url, SystemClock.now()).await {
        // Personas are known before the first start.
        Err(_) if PERSONAS.contains(&kind) => return Ok(roster.personas().iter().map(|persona| Suggestion::name(&persona.name)).collect()),
        opened => opened?,
    };
    let beside = app::beside_on(&config, roster, store).await?;
    Ok(beside.registry.complete(kind, typed, &Caller::CommandLine, None).await)
}

/// The options of the line that is being typed.
fn globals() -> Globals {
    let words: Vec<String> = std::env::args().collect();
    let after = words.iter().position(|word| word == "--config").and_then(|at| words.get(at + 1)).map(String::as_str);
    let config = after.or_else(|| words.iter().find_map(|word| word.strip_prefix("--config=")));
    Globals { config: config.filter(|file| !file.is_empty()).map(PathBuf::from), sandbox: words.iter().any(|word| word == "--sandbox") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_goes_on_as_was_typed() {
        let fitted = |typed: &str, value: &str| fit(typed, Suggestion::name(value)).map(|fitted| fitted.get_value().to_owned());
        assert_eq!(fitted("ke", "Kelly"), Some("kelly".into()));
        assert_eq!(fitted("", "Kelly"), Some("Kelly".into()));
        assert_eq!(fitted("#a1", "a1b2c3"), Some("a1b2c3".into()));
        assert_eq!((fitted("onb", "a1b2c3"), fitted("Zoë!!", "Zoë")), (None, None));
    }
}
