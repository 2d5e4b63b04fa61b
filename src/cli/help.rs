//! The help of the command line: commands under headings, an example for each, and colour where the terminal has it.

use std::fmt::Write as _;

use clap::Command;
use clap::builder::StyledStr;
use clap::builder::styling::{AnsiColor, Styles};

use crate::cli::width;
use kernel::commands::{CommandSpec, Registry, Topic};

/// The widest help, also on a wider terminal.
const WIDEST: usize = 100;

/// clap leaves colours out where the output is no terminal, or `NO_COLOR` is set.
pub(super) const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// The commands that only the command line has, with examples. Those of the team carry theirs.
const START: &[(&str, &str)] = &[
    ("sandbox", "--people Ann,Ben"),
    ("init", "ours"),
    ("doctor", ""),
    ("run", ""),
    ("ask", "\"What does a small business need for its books?\" --persona kelly"),
];
const DATA: &[(&str, &str)] = &[
    ("trace", "a1b2c3"),
    ("db", ""),
    ("backup", "monday.db"),
    ("restore", "monday.db"),
    ("export", "rows.jsonl"),
    ("person", ""),
    ("person export", "Ann ann.json"),
    ("person forget", "Ann"),
];
const SETUP: &[(&str, &str)] = &[("slack-manifest", ""), ("completions", "bash >> ~/.bashrc"), ("man", "~/.local/share/man/man1")];

/// Examples of commands that a feature adds for the terminal.
const ADDED: &[(&str, &str)] = &[("backlog watch", "--until-idle"), ("standup run", "")];

/// Adds headings to the program's help, and an example to that of each command.
pub(super) fn extend(command: Command, registry: &Registry) -> Command {
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{}{}\n{{options}}{{after-help}}",
        render_groups(&command, registry),
        heading("Options")
    );
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let after = "`teamroom help COMMAND` shows the arguments of a command, with an example. Ids may be cut to their last six characters.";
    let command =
        command.help_template(StyledStr::from(template)).after_help(after).styles(STYLES).term_width(width::of_terminal().min(WIDEST));
    names.into_iter().fold(command, |command, name| command.mut_subcommand(&name, |command| with_example(command, &name, registry)))
}

fn heading(text: &str) -> String {
    let style = STYLES.get_header();
    format!("{style}{text}:{style:#}")
}

/// The names of the commands under their headings.
pub(super) fn list_groups(registry: &Registry) -> [(&'static str, Vec<&'static str>); 6] {
    let of = |topic: Topic| {
        let specs = registry.commands().iter().filter(move |spec| spec.topic == topic && spec.surface.is_on_command_line());
        specs.map(|spec| spec.name).collect::<Vec<_>>()
    };
    let own = |commands: &[(&'static str, &str)]| commands.iter().map(|(name, _)| *name).filter(|name| !name.contains(' ')).collect();
    [
        ("Start", own(START)),
        ("Work", of(Topic::Work)),
        ("Meetings", of(Topic::Meetings)),
        ("Team", of(Topic::Team)),
        ("Data", own(DATA)),
        ("Set up", own(SETUP)),
    ]
}

fn render_groups(command: &Command, registry: &Registry) -> String {
    let groups = list_groups(registry);
    let longest = groups.iter().flat_map(|(_, names)| names).map(|name| name.len()).max().unwrap_or_default();
    let literal = STYLES.get_literal();
    let mut text = String::new();
    for (title, names) in groups {
        let _ = writeln!(text, "{}", heading(title));
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string).unwrap_or_default();
            let about = wrap(&about, width::of_terminal().min(WIDEST).saturating_sub(longest + 4), longest + 4);
            let _ = writeln!(text, "  {literal}{name}{literal:#}{}  {about}", " ".repeat(longest - name.len()));
        }
        text.push('\n');
    }
    text
}

/// Breaks a text into lines of at most `width` characters. All but the first are indented.
fn wrap(text: &str, width: usize, indent: usize) -> String {
    let mut wrapped = String::new();
    let mut used = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > width {
            let _ = write!(wrapped, "\n{}", " ".repeat(indent));
            used = 0;
        } else if used > 0 {
            wrapped.push(' ');
            used += 1;
        }
        wrapped.push_str(word);
        used += length;
    }
    wrapped
}

/// Adds the examples of a command and those below it.
fn with_example(command: Command, path: &str, registry: &Registry) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    let examples: Vec<String> = match find_example(path, registry) {
        _ if !names.is_empty() => list_examples(&command, path, registry),
        example => example.into_iter().map(|arguments| render_example(path, arguments)).collect(),
    };
    let command = names.into_iter().fold(command, |command, name| {
        let path = format!("{path} {name}");
        command.mut_subcommand(name, |command| with_example(command, &path, registry))
    });
    if examples.is_empty() {
        return command;
    }
    let title = if examples.len() == 1 { "Example" } else { "Examples" };
    let text = examples.iter().fold(heading(title), |text, example| text + "\n  " + example);
    // What the feature has written comes after the example.
    match command.get_after_long_help().cloned() {
        Some(long) => {
            command.after_help(StyledStr::from(text.clone())).after_long_help(StyledStr::from(format!("{text}\n\n{}", long.ansi())))
        }
        None => command.after_help(StyledStr::from(text)),
    }
}

/// A group has the examples of its first commands.
fn list_examples(group: &Command, path: &str, registry: &Registry) -> Vec<String> {
    let paths = group.get_subcommands().map(|command| format!("{path} {}", command.get_name()));
    paths.filter_map(|path| find_example(&path, registry).map(|arguments| render_example(&path, arguments))).take(3).collect()
}

fn render_example(path: &str, arguments: &str) -> String {
    format!("teamroom {path} {arguments}").trim_end().to_owned()
}

/// The arguments of a command's example. A command without arguments needs none.
fn find_example<'a>(path: &str, registry: &'a Registry) -> Option<&'a str> {
    let added = [START, DATA, SETUP, ADDED].into_iter().flatten().find(|(known, _)| *known == path).map(|(_, arguments)| *arguments);
    let takes_none = |spec: &&CommandSpec| spec.arguments.iter().all(|argument| !argument.surface.is_on_command_line());
    added.or_else(|| registry.find(path).and_then(|spec| spec.example.or_else(|| takes_none(&spec).then_some(""))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;
    use kernel::commands::Services;

    fn list<'a>(command: &'a Command, path: &str, found: &mut Vec<(String, &'a Command)>) {
        for command in command.get_subcommands() {
            let path = format!("{path} {}", command.get_name()).trim().to_owned();
            found.push((path.clone(), command));
            list(command, &path, found);
        }
    }

    /// The words of an example, as a shell splits them.
    fn split(line: &str) -> Vec<String> {
        let mut words = Vec::new();
        for (at, part) in line.split('"').enumerate() {
            if at % 2 == 1 { words.push(part.to_owned()) } else { words.extend(part.split_whitespace().map(str::to_owned)) }
        }
        words
    }

    #[test]
    fn each_command_has_an_example_that_works() {
        let registry = cli::registry(&Services::new("not here"));
        let command = cli::command(&registry);
        let mut found = Vec::new();
        list(&command, "", &mut found);
        assert!(found.len() > 80, "{}", found.len());
        for (path, command) in found {
            let help = command.clone().render_help().to_string();
            let examples: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  teamroom ")).collect();
            assert!(examples.iter().any(|example| example.starts_with(&path)), "{path} has no example:\n{help}");
            for example in examples {
                let words = split(example.split(" >").next().unwrap_or_default());
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                if let Err(error) = cli::tests::parse(&words) {
                    panic!("{example}: {error}");
                }
                let matches = cli::tests::parse(&words).expect("it was parsed");
                cli::generated::check(&registry, &matches).unwrap_or_else(|why| panic!("{example}: {why}"));
            }
        }
    }

    #[test]
    fn each_command_is_under_a_heading() {
        let registry = cli::registry(&Services::new("not here"));
        let help = cli::command(&registry).render_help().to_string();
        for command in cli::command(&registry).get_subcommands() {
            let name = command.get_name();
            let listed = help.lines().filter(|line| line.split_whitespace().next() == Some(name) && line.starts_with("  ")).count();
            assert_eq!(listed, 1, "{name} in:\n{help}");
        }
        for title in ["Start:", "Work:", "Meetings:", "Team:", "Data:", "Set up:", "Options:"] {
            assert!(help.lines().any(|line| line == title), "{title} in:\n{help}");
        }
        assert!(help.lines().all(|line| line.chars().count() <= width::USUAL), "{help}");
    }

    #[test]
    fn long_lines_are_broken_between_words() {
        assert_eq!(wrap("Ask for model, repository and server.", 20, 4), "Ask for model,\n    repository and\n    server.");
    }
}
