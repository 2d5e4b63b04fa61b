//! Slash commands as typed text: `/ask persona:Vince question:what about costs?`, `/backlog add Pay the bill`.

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::{
    directory::Directory,
    render::{clean, list, text},
};

/// The first word and the rest.
pub(super) fn split_word(text: &str) -> (&str, &str) {
    text.split_once(char::is_whitespace).map_or((text, ""), |(word, rest)| (word, rest.trim_start()))
}

/// How to type a slash command: `/backlog add|list` or `/ask persona:kelly|vince question:… [lines:…]`.
pub(super) fn render_form(path: &str, command: &Value) -> String {
    let options = list(&command["options"]);
    let names = |options: &[Value]| options.iter().map(name).collect::<Vec<_>>().join("|");
    if options.iter().any(is_sub_command) {
        return format!("{path} {}", names(options));
    }
    let form = |option: &Value| {
        let choices = list(&option["choices"]);
        let form = format!("{}:{}", name(option), if choices.is_empty() { "…".to_owned() } else { names(choices) });
        if option["required"] == true { format!(" {form}") } else { format!(" [{form}]") }
    };
    clean(&(path.to_owned() + &options.iter().map(form).collect::<String>()))
}

/// The command, or each of its subcommands, as typed.
#[cfg(feature = "line-editor")]
pub(super) fn list_paths(command: &Value) -> Vec<String> {
    let path = format!("/{}", name(command));
    let subcommands: Vec<String> = list(&command["options"])
        .iter()
        .filter(|option| is_sub_command(option))
        .map(|sub| clean(&format!("{path} {}", name(sub))))
        .collect();
    if subcommands.is_empty() { vec![clean(&path)] } else { subcommands }
}

/// The options of an interaction for the slash command at `path`, such as `persona:Vince question:what about costs?` of `/ask`.
///
/// # Errors
/// What is wrong, and the form of the command. The server checks the values.
pub(super) fn parse_options(path: &str, command: &Value, typed: &str, directory: &Directory) -> anyhow::Result<Vec<Value>> {
    let known = list(&command["options"]);
    let usage = || format!("Usage: {}", render_form(path, command));
    if known.iter().any(is_sub_command) {
        let (word, rest) = split_word(typed);
        let sub = known.iter().find(|sub| name(sub) == word).with_context(usage)?;
        let options = parse_options(&format!("{path} {word}"), sub, rest, directory)?;
        return Ok(vec![json!({ "type": sub["type"], "name": word, "options": options })]);
    }
    let given = split_options(known, typed);
    let is_given = |option: &Value| given.iter().any(|(given, _)| *given == Some(option));
    if let Some(missing) = known.iter().find(|option| option["required"] == true && !is_given(option)) {
        bail!("{} is missing. {}", name(missing), usage());
    }
    let option = |(option, text): &(Option<&Value>, String)| {
        let option = option.with_context(|| format!("There is no option for “{}”. {}", clean(text), usage()))?;
        let value =
            parse_value(option, text, directory).with_context(|| format!("{} cannot be “{}”. {}", name(option), clean(text), usage()))?;
        Ok(json!({ "type": option["type"], "name": option["name"], "value": value }))
    };
    given.iter().map(option).collect()
}

/// Splits typed text into options, named as `owner:Vince` or as on the command line: `--owner Vince`. A value ends before the next `name:` of a known option, so it needs no quotes.
/// Text before the first `name:` is the value of the first option that is not named, if there is one.
fn split_options<'a>(known: &'a [Value], typed: &str) -> Vec<(Option<&'a Value>, String)> {
    let mut given = vec![(None, String::new())];
    for word in typed.split_inclusive(char::is_whitespace) {
        let find = |given: &str| known.iter().find(|option| name(option) == given);
        let flag = word.strip_prefix("--").and_then(|flag| flag.split_once(|c: char| c == '=' || c.is_whitespace()).or(Some((flag, ""))));
        let named = flag.or_else(|| word.split_once(':')).and_then(|(given, value)| Some((find(given)?, value)));
        match named.filter(|(option, _)| given.iter().all(|(given, _)| *given != Some(*option))) {
            Some((option, value)) => given.push((Some(option), value.to_owned())),
            None => given.last_mut().expect("the list begins with one").1 += word,
        }
    }
    given[0].0 = known.iter().find(|option| given.iter().all(|(given, _)| *given != Some(*option)));
    given.into_iter().map(|(option, value)| (option, value.trim().to_owned())).filter(|(_, value)| !value.is_empty()).collect()
}

/// Converts a typed value. The numbers are option types of Discord's API.
fn parse_value(option: &Value, typed: &str, directory: &Directory) -> Option<Value> {
    if let Some(choices) = option["choices"].as_array().filter(|choices| !choices.is_empty()) {
        let chosen = choices.iter().find(|choice| name(choice).eq_ignore_ascii_case(typed) || choice["value"] == typed);
        return chosen.map(|choice| choice["value"].clone());
    }
    match option["type"].as_u64()? {
        3 => Some(json!(typed)),
        6 => directory.find_id('@', typed).map(Value::from),
        7 => directory.find_id('#', typed).map(Value::from),
        // Numbers, true and false.
        _ => serde_json::from_str(typed).ok(),
    }
}

fn name(object: &Value) -> &str {
    text(&object["name"])
}

fn is_sub_command(option: &Value) -> bool {
    matches!(option["type"].as_u64(), Some(1 | 2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::directory::tests::example;

    fn parse(typed: &str) -> anyhow::Result<Vec<Value>> {
        let ask = json!({ "id": "1", "version": "3", "name": "ask", "options": [
            { "type": 3, "name": "persona", "required": true, "choices": [{ "name": "Vince", "value": "vince" }, { "name": "Kelly", "value": "kelly" }] },
            { "type": 3, "name": "question", "required": true },
            { "type": 4, "name": "limit" }, { "type": 6, "name": "who" }, { "type": 7, "name": "where" }, { "type": 5, "name": "now" }] });
        parse_options("/ask", &ask, typed, &example())
    }

    #[test]
    fn values_end_before_the_next_option() {
        let options = parse("question:what: about costs? limit:3 persona:vince").expect("valid");
        let expected = json!([{ "type": 3, "name": "question", "value": "what: about costs?" }, { "type": 4, "name": "limit", "value": 3 },
            { "type": 3, "name": "persona", "value": "vince" }]);
        assert_eq!(json!(options), expected);
    }

    #[test]
    fn options_are_named_as_on_the_command_line_too() {
        for typed in ["what about --costs? --persona vince --limit 3", "what about --costs? --persona=vince --limit=3"] {
            let options = parse(typed).expect("valid");
            let values: Vec<&Value> = options.iter().map(|option| &option["value"]).collect();
            assert_eq!(values, [&json!("what about --costs?"), &json!("vince"), &json!(3)], "{typed}");
        }
    }

    #[test]
    fn text_without_a_name_is_the_first_option_that_is_not_named() {
        assert_eq!(parse("what about costs? persona:Vince").expect("valid")[0]["value"], "what about costs?");
        assert_eq!(parse("kelly question:why?").expect("valid")[0]["value"], "kelly");
    }

    #[test]
    fn people_channels_and_booleans_are_given_by_name() {
        let options = parse("why? persona:Kelly who:@kelly where:#ops now:true").expect("valid");
        let values: Vec<_> = options.iter().map(|option| option["value"].clone()).collect();
        assert_eq!(values, [json!("why?"), json!("kelly"), json!("7"), json!("20"), json!(true)]);
    }

    #[test]
    fn an_error_shows_the_form_of_the_command() {
        for (typed, problem) in [
            ("persona:Vince", "question is missing."),
            ("persona:Bob question:x", "persona cannot be “Bob”."),
            ("persona:Vince question:x limit:many", "limit cannot be “many”."),
            ("x persona:Vince question:x limit:1 who:kelly where:ops now:false", "There is no option for “x”."),
        ] {
            let error = parse(typed).expect_err(typed).to_string();
            assert!(error.starts_with(&format!("{problem} Usage: /ask persona:Vince|Kelly question:… [limit:…]")), "{error}");
        }
    }

    #[test]
    fn sub_commands_are_words_before_the_options() {
        let command = json!({ "id": "1", "version": "3", "name": "backlog", "options": [
            { "type": 1, "name": "add", "description": "Add an item", "options": [{ "type": 3, "name": "title", "required": true }] },
            { "type": 1, "name": "list", "description": "List items" }] });
        let parse = |typed: &str| parse_options("/backlog", &command, typed, &example());
        let title = json!([{ "type": 3, "name": "title", "value": "Pay the bill" }]);
        assert_eq!(json!(parse("add Pay the bill").expect("valid")), json!([{ "type": 1, "name": "add", "options": title }]));
        let error = |typed: &str| parse(typed).expect_err(typed).to_string();
        assert_eq!(error("remove 3"), "Usage: /backlog add|list");
        assert_eq!(error("add"), "title is missing. Usage: /backlog add title:…");
    }
}
