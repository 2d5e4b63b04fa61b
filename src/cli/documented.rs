//! The commands that the README and the pages of `docs/` mention can be given as they are written there.

use std::fs;
use std::path::{Path, PathBuf};

use kernel::commands::{CommandSpec, Registry, Services};

use crate::cli::command;
use crate::config::PLATFORM;

/// What looks like a command of the chat: paths of the HTTP server and of other programs.
const PATHS: [&str; 4] = ["/healthz", "/readyz", "/metrics", "/invite"];

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let docs = fs::read_dir(root.join("docs")).expect("docs").map(|entry| entry.expect("an entry").path());
    docs.filter(|path| path.extension().is_some_and(|end| end == "md")).chain([root.join("README.md")]).collect()
}

/// Texts between single backticks, and the lines of code blocks.
fn list_code(text: &str) -> Vec<String> {
    let mut code = Vec::new();
    for (index, part) in text.split("```").enumerate() {
        if index % 2 == 1 {
            code.extend(part.lines().skip(1).map(|line| line.split('#').next().unwrap_or_default().trim().to_owned()));
        } else {
            code.extend(part.split('`').skip(1).step_by(2).map(|span| span.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
    }
    code
}

/// The alternatives in `list|show|add`.
fn alternatives(word: &str) -> Vec<&str> {
    let is_name = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-');
    let names: Vec<&str> = word.split('|').collect();
    if names.iter().all(|name| is_name(name)) { names } else { Vec::new() }
}

/// What is wrong with the words after `teamroom`.
fn check_line(of: &clap::Command, words: &[&str]) -> Result<(), String> {
    let Some(word) = words.first() else { return Ok(()) };
    for name in alternatives(word).into_iter().filter(|_| of.has_subcommands()) {
        let found = of.find_subcommand(name).ok_or_else(|| format!("{} has no {name}", of.get_name()))?;
        check_line(found, &words[1..])?;
    }
    for flag in words.iter().filter_map(|word| word.strip_prefix("--")).filter(|_| !of.has_subcommands()) {
        let flag: String = flag.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
        let is_known =
            of.get_arguments().any(|argument| argument.get_long() == Some(&flag)) || ["help", "json", "config"].contains(&&*flag);
        if !flag.is_empty() && !is_known {
            return Err(format!("{} has no --{flag}", of.get_name()));
        }
    }
    Ok(())
}

fn check_in_chat(commands: &[CommandSpec], words: &[&str]) -> Result<(), String> {
    let Some((name, rest)) = words.split_first() else { return Ok(()) };
    let find = |among: &[CommandSpec], name: &str| among.iter().find(|spec| spec.name == name).cloned();
    // The one slash command of the team in Slack.
    if *name == "team" && rest.first().is_some_and(|word| find(commands, word).is_some()) {
        return check_in_chat(commands, rest);
    }
    let spec = find(commands, name).ok_or_else(|| format!("there is no /{name}"))?;
    if spec.subcommands.is_empty() {
        return Ok(());
    }
    for inner in rest.first().map(|word| alternatives(word)).unwrap_or_default() {
        find(&spec.subcommands, inner).ok_or_else(|| format!("/{name} has no {inner}"))?;
    }
    Ok(())
}

#[test]
fn each_command_that_is_written_in_the_readme_and_the_docs_exists() {
    let services = Services::new("not here");
    let registry: Registry = crate::features::registry(PLATFORM, &services, kernel::commands::permit_all());
    let mut at_terminal = command(&registry);
    at_terminal.build();
    let (mut seen, mut wrong) = (0, Vec::new());
    for page in pages() {
        for code in list_code(&fs::read_to_string(&page).expect("a page")) {
            let words: Vec<&str> = code.split_whitespace().collect();
            let checked = match words.split_first() {
                Some((&"teamroom", rest)) => check_line(&at_terminal, rest),
                Some((first, rest)) if first.starts_with('/') && !alternatives(&first[1..]).is_empty() && !PATHS.contains(first) => {
                    check_in_chat(registry.commands(), &[&[&first[1..]], rest].concat())
                }
                _ => continue,
            };
            seen += 1;
            if let Err(why) = checked {
                wrong.push(format!("{}: `{code}`: {why}", page.file_name().unwrap_or_default().display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 100, "the pages mention commands, not {seen}");
}

#[test]
fn a_command_that_does_not_exist_is_found() {
    let services = Services::new("not here");
    let registry: Registry = crate::features::registry(PLATFORM, &services, kernel::commands::permit_all());
    let at_terminal = command(&registry);
    let line = |text: &str| check_line(&at_terminal, &text.split_whitespace().collect::<Vec<_>>());
    assert_eq!((line("backlog list|show ID"), line("sandbox --people Ann,Ben")), (Ok(()), Ok(())));
    assert!(line("backlog list|sing").is_err() && line("sandbox --sing").is_err());
    let chat = |text: &str| check_in_chat(registry.commands(), &text.split_whitespace().collect::<Vec<_>>());
    assert!(chat("backlog list").is_ok() && chat("backlog sing").is_err() && chat("sing").is_err());
}
