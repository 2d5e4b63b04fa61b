//! Slash commands as a line of text: `/ask persona:Vince question:what about costs?`, `/backlog add title:Pay the bill`.

use serde_json::{Value, json};

use super::directory::{Directory, clean, list};

/// Option types of Discord's API.
mod kind {
    pub(super) const SUB_COMMAND: u64 = 1;
    pub(super) const SUB_COMMAND_GROUP: u64 = 2;
    pub(super) const INTEGER: u64 = 4;
    pub(super) const BOOLEAN: u64 = 5;
    pub(super) const USER: u64 = 6;
    pub(super) const CHANNEL: u64 = 7;
    pub(super) const ROLE: u64 = 8;
    pub(super) const MENTIONABLE: u64 = 9;
    pub(super) const NUMBER: u64 = 10;
    pub(super) const ATTACHMENT: u64 = 11;
}

/// The `data` of the interaction for `command` with the rest of the typed line.
///
/// # Errors
/// A text for the person: what is missing or wrong, and the form of the command.
pub(super) fn parse_command(command: &Value, rest: &str, directory: &Directory) -> Result<Value, String> {
    let options = parse_options(command, &format!("/{}", name(command)), rest, directory)?;
    let mut data = json!({ "id": command["id"], "name": command["name"], "type": 1, "version": command["version"], "options": options });
    if command["guild_id"].is_string() {
        data["guild_id"] = command["guild_id"].clone();
    }
    Ok(data)
}

/// Each form of a command with its description, one per sub-command. Optional options are in brackets.
pub(super) fn list_forms(command: &Value, prefix: &str) -> Vec<(String, String)> {
    let path = format!("{prefix}{}", name(command));
    let options = list(&command["options"]);
    if options.iter().any(is_sub_command) {
        return options.iter().flat_map(|option| list_forms(option, &format!("{path} "))).collect();
    }
    vec![(render_form(&path, options), clean(command["description"].as_str().unwrap_or_default()))]
}

fn render_form(path: &str, options: &[Value]) -> String {
    let option = |option: &Value| if is_required(option) { format!(" {}:…", name(option)) } else { format!(" [{}:…]", name(option)) };
    path.to_owned() + &options.iter().map(option).collect::<String>()
}

fn parse_options(command: &Value, path: &str, rest: &str, directory: &Directory) -> Result<Vec<Value>, String> {
    let known = list(&command["options"]);
    if known.iter().any(is_sub_command) {
        let (word, rest) = split_word(rest);
        let Some(sub) = known.iter().find(|option| name(option) == word) else {
            return Err(format!(
                "Choose one of: {}",
                known.iter().map(|sub| format!("{path} {}", name(sub))).collect::<Vec<_>>().join(", ")
            ));
        };
        let options = parse_options(sub, &format!("{path} {word}"), rest, directory)?;
        return Ok(vec![json!({ "type": sub["type"], "name": word, "options": options })]);
    }
    let with_form = |problem: String| format!("{problem} Usage: {}", render_form(path, known));
    let given = split_options(known, rest).map_err(with_form)?;
    if let Some(missing) = known.iter().find(|option| is_required(option) && !given.iter().any(|(given, _)| given == option)) {
        return Err(with_form(format!("{} is missing.", name(missing))));
    }
    let value = |(option, text): (&Value, &str)| {
        Ok(json!({ "type": option["type"], "name": option["name"], "value": parse_value(option, text, directory)? }))
    };
    given.into_iter().map(value).collect::<Result<_, _>>().map_err(with_form)
}

/// Values end before the next `name:` of a known option, so they need no quotes. Text before the first
/// `name:` is the value of the only required option that is not named.
fn split_options<'a>(known: &'a [Value], rest: &'a str) -> Result<Vec<(&'a Value, &'a str)>, String> {
    let mut starts: Vec<(usize, &Value)> = known.iter().filter_map(|option| Some((find_option(rest, name(option))?, option))).collect();
    starts.sort_by_key(|(start, _)| *start);
    let lead = rest[..starts.first().map_or(rest.len(), |(start, _)| *start)].trim();
    let ends = starts.iter().skip(1).map(|(start, _)| *start).chain([rest.len()]);
    let named = starts.iter().zip(ends).map(|((start, option), end)| (*option, rest[start + name(option).len() + 1..end].trim()));
    let mut given: Vec<_> = named.filter(|(_, text)| !text.is_empty()).collect();
    if !lead.is_empty() {
        let mut open = known.iter().filter(|option| is_required(option) && !given.iter().any(|(given, _)| given == option));
        match (open.next(), open.next()) {
            (Some(only), None) => given.push((only, lead)),
            _ => return Err(format!("Name the option for “{lead}”.")),
        }
    }
    Ok(given)
}

/// The position of `name:` at the beginning of a word.
fn find_option(rest: &str, name: &str) -> Option<usize> {
    let marker = format!("{name}:");
    rest.match_indices(&marker).map(|(at, _)| at).find(|&at| at == 0 || rest[..at].ends_with(char::is_whitespace))
}

fn parse_value(option: &Value, text: &str, directory: &Directory) -> Result<Value, String> {
    let choices = list(&option["choices"]);
    if !choices.is_empty() {
        let is_chosen = |choice: &&Value| name(choice).eq_ignore_ascii_case(text) || choice["value"] == text;
        let names = || choices.iter().map(name).collect::<Vec<_>>().join(", ");
        let chosen = choices.iter().find(is_chosen).map(|choice| choice["value"].clone());
        return chosen.ok_or_else(|| format!("{} must be one of {}.", name(option), names()));
    }
    let by_id = |id: Option<&String>| id.map(|id| json!(id));
    let (value, expected) = match option["type"].as_u64().unwrap_or_default() {
        kind::INTEGER => (text.parse::<i64>().ok().map(Value::from), "a whole number"),
        kind::NUMBER => (text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from), "a number"),
        kind::BOOLEAN => (matches!(text, "yes" | "true" | "no" | "false").then(|| json!(matches!(text, "yes" | "true"))), "yes or no"),
        kind::USER => (by_id(directory.find_person_id(text)), "a member's name"),
        kind::CHANNEL => (by_id(directory.find_channel_id(text)), "a channel"),
        kind::ROLE | kind::MENTIONABLE | kind::ATTACHMENT => return Err("Run this command on the chat page.".to_owned()),
        _ => (Some(json!(without_quotes(text))), "text"),
    };
    value.ok_or_else(|| format!("{} must be {expected}, not “{text}”.", name(option)))
}

/// A value without the quotes around all of it, which shells need and this does not.
fn without_quotes(text: &str) -> &str {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.filter(|inner| !inner.is_empty() && !inner.contains('"')).unwrap_or(text)
}

/// The first word and the rest.
pub(super) fn split_word(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

fn name(object: &Value) -> &str {
    object["name"].as_str().unwrap_or_default()
}

fn is_required(option: &Value) -> bool {
    option["required"] == true
}

fn is_sub_command(option: &Value) -> bool {
    matches!(option["type"].as_u64(), Some(kind::SUB_COMMAND | kind::SUB_COMMAND_GROUP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::directory::tests::example;

    fn parse(rest: &str) -> Result<Value, String> {
        let ask = json!({ "id": "1", "version": "3", "name": "ask", "options": [
            { "type": 3, "name": "persona", "required": true, "choices": [{ "name": "Vince", "value": "vince" }, { "name": "Kelly", "value": "kelly" }] },
            { "type": 3, "name": "question", "required": true },
            { "type": 4, "name": "limit" }, { "type": 6, "name": "who" }, { "type": 7, "name": "where" }, { "type": 5, "name": "now" }] });
        parse_command(&ask, rest, &example()).map(|data| data["options"].clone())
    }

    #[test]
    fn values_end_before_the_next_option() {
        let options = parse("question:what: about costs? limit:3 persona:vince").expect("valid");
        let expected = json!([{ "type": 3, "name": "question", "value": "what: about costs?" }, { "type": 4, "name": "limit", "value": 3 },
            { "type": 3, "name": "persona", "value": "vince" }]);
        assert_eq!(options, expected);
    }

    #[test]
    fn text_without_a_name_is_the_one_required_option_that_is_missing() {
        assert_eq!(parse("what about costs? persona:Vince").expect("valid")[1]["value"], "what about costs?");
    }

    #[test]
    fn people_channels_and_booleans_are_given_by_name() {
        let options = parse("why? persona:Kelly who:@kelly where:#ops now:yes").expect("valid");
        let values: Vec<_> = list(&options).iter().map(|option| option["value"].clone()).collect();
        assert_eq!(values, [json!("kelly"), json!("7"), json!("20"), json!(true), json!("why?")]);
    }

    #[test]
    fn an_error_shows_the_form_of_the_command() {
        for (rest, problem) in [
            ("persona:Vince", "question is missing."),
            ("persona:Bob question:x", "persona must be one of Vince, Kelly."),
            ("persona:Vince question:x limit:many", "limit must be a whole number, not “many”."),
            ("hello", "Name the option for “hello”."),
        ] {
            let error = parse(rest).expect_err(rest);
            assert!(error.starts_with(&format!("{problem} Usage: /ask persona:… question:… [limit:…]")), "{error}");
        }
    }

    #[test]
    fn sub_commands_are_words_before_the_options() {
        let command = json!({ "id": "1", "version": "3", "name": "backlog", "options": [
            { "type": 1, "name": "add", "description": "Add an item", "options": [{ "type": 3, "name": "title", "required": true }] },
            { "type": 1, "name": "list", "description": "List items" }] });
        let data = parse_command(&command, "add Pay the bill", &example()).expect("valid");
        let title = json!([{ "type": 3, "name": "title", "value": "Pay the bill" }]);
        assert_eq!(data["options"], json!([{ "type": 1, "name": "add", "options": title }]));
        let error = parse_command(&command, "remove 3", &example()).expect_err("no such sub-command");
        assert_eq!(error, "Choose one of: /backlog add, /backlog list");
        let forms: Vec<_> = list_forms(&command, "/").into_iter().map(|(form, _)| form).collect();
        assert_eq!(forms, ["/backlog add title:…", "/backlog list"]);
    }
}
