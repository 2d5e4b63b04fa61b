//! Slash commands of the team as a line of text: `/ask persona:Vince question:what about costs?`.

use serde_json::{Value, json};

use super::{
    guild::Guild,
    model::{Command, CommandOption},
};

/// Option types, as the API numbers them.
mod kind {
    pub(super) const SUB_COMMAND: u8 = 1;
    pub(super) const GROUP: u8 = 2;
    pub(super) const INTEGER: u8 = 4;
    pub(super) const BOOLEAN: u8 = 5;
    pub(super) const USER: u8 = 6;
    pub(super) const CHANNEL: u8 = 7;
    pub(super) const ROLE: u8 = 8;
    pub(super) const MENTIONABLE: u8 = 9;
    pub(super) const NUMBER: u8 = 10;
    pub(super) const ATTACHMENT: u8 = 11;
}

/// The `data` of the interaction that invokes `command` with what was typed after its name.
///
/// # Errors
/// A sentence for the person: what is missing or wrong, and how it is written.
pub(super) fn parse_invocation(command: &Command, rest: &str, guild: &Guild) -> Result<Value, String> {
    let options = parse_options(&command.options, rest, guild).map_err(|problem| format!("{problem}; write {}", render_form(command)))?;
    let mut data = json!({ "id": command.id, "name": command.name, "type": 1, "version": command.version, "options": options });
    if let Some(guild_id) = &command.guild_id {
        data["guild_id"] = json!(guild_id);
    }
    Ok(data)
}

/// The command as it is written: required options bare, the others in brackets.
pub(super) fn render_form(command: &Command) -> String {
    let option = |option: &CommandOption| if option.required { format!(" {}:…", option.name) } else { format!(" [{}:…]", option.name) };
    format!("/{}{}", command.name, command.options.iter().map(option).collect::<String>())
}

fn parse_options(known: &[CommandOption], rest: &str, guild: &Guild) -> Result<Vec<Value>, String> {
    if known.iter().any(|option| matches!(option.kind, kind::SUB_COMMAND | kind::GROUP)) {
        return Err("commands with sub-commands are for the page".to_owned());
    }
    let given = split_options(known, rest)?;
    if let Some(missing) = known.iter().find(|option| option.required && !given.iter().any(|(given, _)| given.name == option.name)) {
        return Err(format!("“{}” is missing", missing.name));
    }
    given
        .into_iter()
        .map(|(option, text)| Ok(json!({ "type": option.kind, "name": option.name, "value": parse_value(option, text, guild)? })))
        .collect()
}

/// Values run until the next `name:` of a known option, so they need no quotes. A command with one
/// required option takes bare words for it.
fn split_options<'a>(known: &'a [CommandOption], rest: &'a str) -> Result<Vec<(&'a CommandOption, &'a str)>, String> {
    let mut starts: Vec<(usize, &CommandOption)> =
        known.iter().filter_map(|option| Some((find_option(rest, &option.name)?, option))).collect();
    starts.sort_by_key(|(start, _)| *start);
    let lead = rest[..starts.first().map_or(rest.len(), |(start, _)| *start)].trim();
    let mut given: Vec<_> = starts
        .iter()
        .enumerate()
        .map(|(at, (start, option))| {
            let end = starts.get(at + 1).map_or(rest.len(), |(next, _)| *next);
            (*option, rest[start + option.name.len() + 1..end].trim())
        })
        .filter(|(_, text)| !text.is_empty())
        .collect();
    if !lead.is_empty() {
        let mut bare = known.iter().filter(|option| option.required && !given.iter().any(|(given, _)| given.name == option.name));
        match (bare.next(), bare.next()) {
            (Some(only), None) => given.push((only, lead)),
            _ => return Err(format!("“{lead}” belongs to no option")),
        }
    }
    Ok(given)
}

/// Where `name:` stands at the beginning of a word.
fn find_option(rest: &str, name: &str) -> Option<usize> {
    let marker = format!("{name}:");
    rest.match_indices(&marker).map(|(at, _)| at).find(|&at| at == 0 || rest[..at].ends_with(char::is_whitespace))
}

fn parse_value(option: &CommandOption, text: &str, guild: &Guild) -> Result<Value, String> {
    if !option.choices.is_empty() {
        let chosen = option.choices.iter().find(|choice| choice.name.eq_ignore_ascii_case(text) || choice.value.as_str() == Some(text));
        let names = || option.choices.iter().map(|choice| choice.name.as_str()).collect::<Vec<_>>().join(", ");
        return chosen.map(|choice| choice.value.clone()).ok_or_else(|| format!("“{}” is one of {}", option.name, names()));
    }
    let wrong = |what: &str| format!("“{}” must be {what}, not “{text}”", option.name);
    match option.kind {
        kind::INTEGER => text.parse::<i64>().map(Value::from).map_err(|_| wrong("a whole number")),
        kind::NUMBER => text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from).ok_or_else(|| wrong("a number")),
        kind::BOOLEAN => match text {
            "yes" | "true" => Ok(Value::from(true)),
            "no" | "false" => Ok(Value::from(false)),
            _ => Err(wrong("yes or no")),
        },
        kind::USER => guild.find_user_named(text).map(|user| Value::from(user.id.as_str())).ok_or_else(|| wrong("somebody's name")),
        kind::CHANNEL => guild.find_channel_named(text).map(|channel| Value::from(channel.id.as_str())).ok_or_else(|| wrong("a channel")),
        kind::ROLE => guild.find_role_named(text).map(|role| Value::from(role.id.as_str())).ok_or_else(|| wrong("a role")),
        kind::MENTIONABLE => {
            let user = guild.find_user_named(text).map(|user| user.id.as_str());
            let found = user.or_else(|| guild.find_role_named(text).map(|role| role.id.as_str()));
            found.map(Value::from).ok_or_else(|| wrong("somebody's name or a role"))
        }
        kind::ATTACHMENT => Err(format!("“{}” is a file, which only the page can send with a command", option.name)),
        _ => Ok(Value::from(text)),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    fn ask() -> Command {
        let command = json!({ "id": "1", "application_id": "2", "version": "3", "name": "ask", "options": [
            { "type": 3, "name": "persona", "required": true, "choices": [{ "name": "Vince", "value": "vince" }, { "name": "Kelly", "value": "kelly" }] },
            { "type": 3, "name": "question", "required": true },
            { "type": 4, "name": "limit" }] });
        Command::deserialize(&command).expect("a command")
    }

    fn parse(rest: &str) -> Result<Value, String> {
        parse_invocation(&ask(), rest, &Guild::default()).map(|data| data["options"].clone())
    }

    #[test]
    fn values_run_until_the_next_option() {
        let options = parse("question:what: about costs? limit:3 persona:vince").expect("it is well written");
        let expected = json!([{ "type": 3, "name": "question", "value": "what: about costs?" }, { "type": 4, "name": "limit", "value": 3 }, { "type": 3, "name": "persona", "value": "vince" }]);
        assert_eq!(options, expected);
    }

    #[test]
    fn bare_words_go_to_the_one_required_option_that_is_left() {
        let options = parse("what about costs? persona:Vince").expect("only the question is left");
        assert_eq!(options[1]["value"], "what about costs?");
    }

    #[test]
    fn what_is_wrong_is_said_with_the_form() {
        for (rest, problem) in [
            ("persona:Vince", "“question” is missing"),
            ("persona:Bob question:x", "“persona” is one of Vince, Kelly"),
            ("persona:Vince question:x limit:many", "“limit” must be a whole number, not “many”"),
            ("hello", "“hello” belongs to no option"),
        ] {
            let error = parse(rest).expect_err(rest);
            assert_eq!(error, format!("{problem}; write /ask persona:… question:… [limit:…]"));
        }
    }
}
