use std::fmt::Write as _;

use crate::commands::spec::{ArgumentSpec, CommandSpec, Right, Surface};

/// Lists the commands of a chat, one line per group.
pub fn render_list(commands: &[CommandSpec]) -> String {
    let mut text = String::new();
    for command in commands.iter().filter(|command| command.surface.is_in_chat()) {
        let names: Vec<_> = command.subcommands.iter().filter(|command| command.surface.is_in_chat()).map(|command| command.name).collect();
        let _ = match names.split_first() {
            None => write!(text, "- `/{}`", command.name),
            Some((first, rest)) => {
                let rest = rest.iter().fold(String::new(), |text, name| text + ", `" + name + "`");
                write!(text, "- `/{} {first}`{rest}", command.name)
            }
        };
        let _ = writeln!(text, ": {}", decapitalise(command.description));
    }
    text
}

/// All commands as a Markdown table, for the README.
pub fn render_table(commands: &[CommandSpec]) -> String {
    let mut text = String::from("| command | what it does |\n| --- | --- |\n");
    for command in commands {
        if command.subcommands.is_empty() {
            row(&mut text, command.name, command);
        }
        for subcommand in &command.subcommands {
            row(&mut text, &format!("{} {}", command.name, subcommand.name), subcommand);
        }
    }
    text
}

fn row(text: &mut String, path: &str, command: &CommandSpec) {
    let arguments = command.arguments.iter().fold(String::new(), |text, argument| text + " " + &usage(argument));
    let surface = match command.surface {
        Surface::Everywhere => "",
        Surface::Chat => " In the chat only.",
        Surface::CommandLine => " At the command line only.",
    };
    let right = if command.right == Right::Operator { " For operators." } else { "" };
    let _ = writeln!(text, "| `{path}{arguments}` | {}{right}{surface} |", command.description);
}

/// The argument in command-line syntax.
fn usage(argument: &ArgumentSpec) -> String {
    let more = if argument.many { "…" } else { "" };
    if argument.required { format!("{}{more}", argument.name.to_uppercase()) } else { format!("[--{}]{more}", argument.name) }
}

fn decapitalise(description: &str) -> String {
    let text = description.trim_end_matches('.');
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
