use serenity::all::{CommandData, CommandDataOptionValue};

/// What a person gave with a command, or typed so far.
#[derive(Debug, PartialEq)]
pub(super) struct Given {
    /// The names from the group down: `schedule pause`.
    pub(super) path: String,
    pub(super) values: Vec<(String, String)>,
    /// The option that is being typed, and how it begins.
    pub(super) typed: Option<(String, String)>,
}

/// Reads the options of an interaction as text: the registry decides what is valid, for all surfaces alike.
pub(super) fn read_options(data: &CommandData) -> Given {
    let mut given = Given { path: data.name.clone(), values: Vec::new(), typed: None };
    let mut options = &data.options;
    // Groups of subcommands are not used, but Discord allows one level of them.
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
            CommandDataOptionValue::String(text) => text.clone(),
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
