//! A form for a command that lacks required arguments. Pure.

use kernel::chat::medium::shorten;
use kernel::commands::{ArgumentKind, ArgumentSpec, CommandSpec, Suggestion};
use kernel::text::capital;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Identifies our forms among views.
pub(super) const FORM: &str = "teamroom_form";

/// <https://docs.slack.dev/reference/views/modal-views>
const TITLE: usize = 24;
const LABEL: usize = 75;
const HINT: usize = 150;
const OPTIONS: usize = 100;
const TEXT: u16 = 3000;

/// The field that asks where the answer goes. Only in a form that was not opened in a channel.
const WHERE: &str = "teamroom_where";

/// From this length on a text may have several lines.
const LONG: u16 = 150;

/// The command that a form is for. Slack keeps it with the form and returns it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) path: String,
    /// The arguments that were written after the command.
    pub(super) given: Vec<(String, String)>,
    pub(super) channel: String,
    /// The thread in which the form was opened.
    #[serde(default)]
    pub(super) thread: Option<String>,
    /// Where the answer goes.
    pub(super) respond: String,
}

/// The arguments that a form asks for. None if nothing is missing.
pub(super) fn missing<'c>(command: &'c CommandSpec, given: &[(String, String)]) -> Option<Vec<&'c ArgumentSpec>> {
    let is_open = |argument: &&ArgumentSpec| argument.surface.is_in_chat() && !given.iter().any(|(name, _)| name == argument.name);
    let open: Vec<&ArgumentSpec> = command.arguments.iter().filter(is_open).collect();
    open.iter().any(|argument| argument.required).then_some(open)
}

/// An argument that a form asks for.
pub(super) struct Asked<'c> {
    pub(super) argument: &'c ArgumentSpec,
    /// The choices, if there is a list.
    pub(super) choices: Vec<Suggestion>,
    /// The value that is filled in already.
    pub(super) filled_in: Option<String>,
}

pub(super) fn form(order: &Order, asked: &[Asked<'_>]) -> Value {
    let mut blocks: Vec<Value> = asked.iter().map(input).collect();
    if order.channel.is_empty() {
        let element = json!({
            "type": "conversations_select", "action_id": WHERE, "default_to_current_conversation": true, "response_url_enabled": true,
        });
        blocks.push(json!({ "type": "input", "block_id": WHERE, "label": plain("Where to answer", LABEL), "element": element }));
    }
    json!({
        "type": "modal", "callback_id": FORM, "private_metadata": json!(order).to_string(),
        "title": plain(&capital(&order.path), TITLE), "submit": plain("Do it", TITLE), "close": plain("Cancel", TITLE), "blocks": blocks,
    })
}

fn input(Asked { argument, choices, filled_in }: &Asked<'_>) -> Value {
    let fixed = if let ArgumentKind::Choice(fixed) = argument.kind { fixed } else { &[] };
    let fixed = fixed.iter().map(|choice| (choice.value.to_owned(), choice.label.to_owned()));
    let options: Vec<Value> = fixed
        .chain(choices.iter().map(|choice| (choice.value.clone(), choice.label.clone())))
        .filter(|(value, _)| value.chars().count() <= LABEL)
        .take(OPTIONS)
        .map(|(value, label)| json!({ "value": value, "text": plain(&label, LABEL) }))
        .collect();
    let element = if options.is_empty() {
        let most = if let ArgumentKind::Text(most) | ArgumentKind::NameOrId(most) = argument.kind { most } else { LONG - 1 };
        let most = most.min(TEXT);
        let mut element = json!({ "type": "plain_text_input", "action_id": argument.name, "multiline": most >= LONG, "max_length": most });
        if let Some(text) = filled_in {
            element["initial_value"] = json!(shorten(text, usize::from(most)));
        }
        element
    } else {
        json!({ "type": "static_select", "action_id": argument.name, "options": options })
    };
    json!({
        "type": "input", "block_id": argument.name, "optional": !argument.required, "element": element,
        "label": plain(&capital(argument.name), LABEL), "hint": plain(argument.description, HINT),
    })
}

fn plain(text: &str, most: usize) -> Value {
    json!({ "type": "plain_text", "text": shorten(text, most) })
}

/// Reads a submitted form. None if it is not one of ours.
pub(super) fn handed_in(payload: &Value) -> Option<Order> {
    let view = &payload["view"];
    if view["callback_id"] != FORM {
        return None;
    }
    let mut order: Order = serde_json::from_str(view["private_metadata"].as_str()?).ok()?;
    if let Some(chosen) = payload.pointer("/response_urls/0") {
        let text = |name: &str| chosen[name].as_str().unwrap_or_default().to_owned();
        (order.channel, order.respond) = (text("channel_id"), text("response_url"));
    }
    for (name, block) in view.pointer("/state/values")?.as_object()? {
        let chosen = &block[name];
        let value = chosen["value"].as_str().or_else(|| chosen.pointer("/selected_option/value").and_then(Value::as_str));
        order.given.extend(value.filter(|value| !value.trim().is_empty()).map(|value| (name.clone(), value.to_owned())));
    }
    Some(order)
}

#[cfg(test)]
mod tests {
    use kernel::commands::Choice;

    use super::*;

    const SIZES: &[Choice] = &[Choice::new("small", "Small"), Choice::new("large", "Large")];

    fn command() -> CommandSpec {
        CommandSpec::new("add", "Add an item")
            .argument(ArgumentSpec::text("what", 200, "What is to be done").required())
            .argument(ArgumentSpec::persona("owner", "Who does it"))
            .argument(ArgumentSpec::choice("size", SIZES, "How large it is"))
    }

    fn order(given: &[(&str, &str)]) -> Order {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Order {
            path: "backlog add".to_owned(),
            given,
            channel: "C1".to_owned(),
            thread: None,
            respond: "https://slack.example/r".to_owned(),
        }
    }

    #[test]
    fn a_form_asks_for_what_is_missing() {
        let command = command();
        assert_eq!(missing(&command, &[("what".to_owned(), "Fix it".to_owned())]), None);
        let order = order(&[("size", "small")]);
        let open = missing(&command, &order.given).unwrap();
        assert_eq!(open.iter().map(|argument| argument.name).collect::<Vec<_>>(), ["what", "owner"]);
        let vince = Suggestion { value: "vince".to_owned(), label: "Vince".to_owned() };
        let asked = [
            Asked { argument: open[0], choices: Vec::new(), filled_in: Some("lamp ".repeat(90)) },
            Asked { argument: open[1], choices: vec![vince], filled_in: None },
        ];
        let form = form(&order, &asked);
        let at = |pointer: &str| form.pointer(pointer).unwrap();
        assert_eq!(at("/blocks/0/element/initial_value").as_str().unwrap().chars().count(), 200);
        assert_eq!(form["blocks"].as_array().unwrap().len(), 2, "where it was asked, it is answered");
        assert_eq!((at("/blocks/0/element/type"), at("/blocks/0/optional")), (&json!("plain_text_input"), &json!(false)));
        assert_eq!((at("/blocks/1/element/options/0/value"), at("/blocks/1/optional")), (&json!("vince"), &json!(true)));
    }

    #[test]
    fn what_is_handed_in_joins_what_was_given() {
        let order = order(&[("size", "small")]);
        let mut view = form(&order, &[]);
        view["state"] = json!({ "values": {
            "what": { "what": { "type": "plain_text_input", "value": "Fix the lamp" } },
            "owner": { "owner": { "type": "static_select", "selected_option": { "value": "vince" } } },
            "size": { "size": { "type": "static_select", "selected_option": null } },
        } });
        let mut payload = json!({ "view": view, "response_urls": [] });
        let handed_in = handed_in(&payload).unwrap();
        let mut given: Vec<_> = handed_in.given.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        given.sort_unstable();
        assert_eq!(
            (handed_in.path.as_str(), given),
            ("backlog add", vec![("owner", "vince"), ("size", "small"), ("what", "Fix the lamp")])
        );
        payload["response_urls"] = json!([{ "channel_id": "C2", "response_url": "https://slack.example/s" }]);
        let elsewhere = super::handed_in(&payload).unwrap();
        assert_eq!((elsewhere.channel.as_str(), elsewhere.respond.as_str()), ("C2", "https://slack.example/s"));
        payload["view"]["callback_id"] = json!("another");
        assert_eq!(super::handed_in(&payload), None);
    }
}
