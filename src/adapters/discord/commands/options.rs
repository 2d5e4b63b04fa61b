use serenity::all::{CommandData, CommandDataOptionValue};

use crate::adapters::discord::markup::read;

/// The command and the options that a person has given so far.
#[derive(Debug, PartialEq)]
pub(super) struct Given {
    /// Group and subcommand: `schedule pause`.
    pub(super) path: String,
    pub(super) values: Vec<(String, String)>,
    /// Name and text of the option that is being typed.
    pub(super) typed: Option<(String, String)>,
}

/// Reads all options as text. The registry validates them, the same way for every surface.
pub(super) fn read_options(data: &CommandData) -> Given {
    let mut given = Given { path: data.name.clone(), values: Vec::new(), typed: None };
    let mut options = &data.options;
    // Unwraps subcommands. The team has no groups of subcommands, but Discord allows one level.
    while let Some((name, inner)) = options.first().and_then(|option| match &option.value {
        CommandDataOptionValue::SubCommand(inner) | CommandDataOptionValue::SubCommandGroup(inner) => Some((&option.name, inner)),
        _ => None,
    }) {
        given.path.push(' ');
        given.path.push_str(name);
        options = inner;
    }
    for option in options {
        let text = match &option.value {
            CommandDataOptionValue::String(text) => read(text),
            CommandDataOptionValue::Integer(number) => number.to_string(),
            CommandDataOptionValue::Number(number) => number.to_string(),
            CommandDataOptionValue::Boolean(flag) => flag.to_string(),
            CommandDataOptionValue::Autocomplete { value, .. } => {
                given.typed = Some((option.name.clone(), value.clone()));
                continue;
            }
            _ => continue,
        };
        given.values.push((option.name.clone(), text));
    }
    given
}
