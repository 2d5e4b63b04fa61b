//! The home tab: what waits for the person and what the team does, as blocks with buttons. Pure.

use chrono::{DateTime, Utc};
use kernel::chat::medium::shorten;
use serde_json::{Value, json};

use crate::adapters::slack::markup::written;
use crate::adapters::slack::render::section;

/// The prefix of the buttons' values. The rest is a command as it is written.
pub(super) const HOME: &str = "home ";

/// How many items are shown of each list.
const ITEMS: usize = 10;

/// Characters of an item's title.
const TITLE: usize = 200;

/// <https://docs.slack.dev/reference/block-kit/block-elements/button-element>
const LABEL: usize = 75;

/// What the page shows.
pub(super) struct Home<'a> {
    /// The person's items, as `backlog list` gives them as data.
    pub(super) mine: &'a [Value],
    /// Those of the whole team.
    pub(super) all: &'a [Value],
    /// A list of this length may lack items.
    pub(super) limit: usize,
    /// Commands with a form, each with its label.
    pub(super) shortcuts: &'a [(String, &'static str)],
    /// The direct conversation behind the page. Slack returns it with each button.
    pub(super) channel: &'a str,
    pub(super) name_of: &'a dyn Fn(&Value) -> String,
    pub(super) help: &'a str,
}

pub(super) fn view(home: &Home<'_>) -> Value {
    let is_mine = |item: &Value| home.mine.iter().any(|own| own["id"] == item["id"]);
    let others: Vec<&Value> = home.all.iter().filter(|item| !is_mine(item)).collect();
    let mut blocks = vec![header("What waits for you")];
    match home.mine.len() {
        0 => blocks.push(section("Nothing. Ask for something below, or write to me under *Messages*.")),
        _ => home.mine.iter().take(ITEMS).for_each(|item| blocks.extend([describe(item, None), actions(&own_buttons(item))])),
    }
    blocks.extend(left_out(home.mine.len(), home.mine.len() < home.limit));
    blocks.extend([json!({ "type": "divider" }), header("What the team works on")]);
    for item in others.iter().take(ITEMS) {
        let mut block = describe(item, Some((home.name_of)(&item["owner"])));
        block["accessory"] = button("Details", &format!("backlog show {}", id(item)), false);
        blocks.push(block);
    }
    let is_complete = home.all.len() < home.limit;
    if others.is_empty() && is_complete {
        blocks.push(section("Nothing is open."));
    }
    blocks.extend(left_out(others.len(), is_complete));
    blocks.extend([json!({ "type": "divider" }), header("What you can ask for")]);
    let asks = home.shortcuts.iter().map(|(path, label)| button(label, path, false));
    let looks = [("Health of the team", "status"), ("What it costs", "costs")].map(|(label, path)| button(label, path, false));
    blocks.push(actions(&asks.chain(looks).collect::<Vec<_>>()));
    blocks.push(json!({ "type": "context", "elements": [{ "type": "mrkdwn", "text": home.help }] }));
    json!({ "type": "home", "private_metadata": home.channel, "blocks": blocks })
}

fn header(text: &str) -> Value {
    json!({ "type": "header", "text": { "type": "plain_text", "text": text } })
}

fn actions(elements: &[Value]) -> Value {
    json!({ "type": "actions", "elements": elements })
}

/// A button's id must be the only one in its block, so the command is both.
fn button(label: &str, command: &str, is_primary: bool) -> Value {
    let command = format!("{HOME}{command}");
    let mut button = json!({
        "type": "button", "action_id": command, "value": command, "text": { "type": "plain_text", "text": shorten(label, LABEL) },
    });
    if is_primary {
        button["style"] = json!("primary");
    }
    button
}

fn own_buttons(item: &Value) -> Vec<Value> {
    let answer = (item["takes_answer"] == true).then(|| button("Answer", &format!("backlog answer {}", id(item)), true));
    answer.into_iter().chain([button("Details", &format!("backlog show {}", id(item)), false)]).collect()
}

fn id(item: &Value) -> &str {
    item["id"].as_str().unwrap_or_default()
}

/// Title, owner, status and date. Slack shows the date in the reader's time zone.
fn describe(item: &Value, owner: Option<String>) -> Value {
    let text = |name: &str| item[name].as_str().unwrap_or_default();
    let due = text("due").parse::<DateTime<Utc>>().ok().map(|due| {
        let fallback = due.format("%d %b, %H:%M UTC");
        format!("due <!date^{}^{{date_short_pretty}} {{time}}|{fallback}>", due.timestamp())
    });
    let facts = [owner.map(|owner| written(&owner)), Some(text("status").replace('_', " ")), due];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    section(&format!("*{}*\n{}", written(&shorten(text("what"), TITLE)), facts.join(" · ")))
}

fn left_out(count: usize, is_complete: bool) -> Option<Value> {
    if !is_complete {
        return Some(section("There are more items."));
    }
    let more = count.checked_sub(ITEMS).filter(|more| *more > 0)?;
    Some(section(&format!("{more} more {}.", if more == 1 { "item" } else { "items" })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, what: &str, status: &str) -> Value {
        json!({ "id": id, "what": what, "status": status, "owner": "x", "due": null })
    }

    const LIMIT: usize = 40;

    fn shown(mine: &[Value], all: &[Value]) -> Value {
        let shortcuts = [("remind new".to_owned(), "Set a reminder")];
        let name_of = |_: &Value| "Kelly".to_owned();
        view(&Home { mine, all, limit: LIMIT, shortcuts: &shortcuts, channel: "D1", name_of: &name_of, help: "More: /team help" })
    }

    #[test]
    fn each_item_is_shown_once_with_buttons() {
        let mut mine = [item("a1", "Sign <it> *now*", "waiting")];
        mine[0]["takes_answer"] = true.into();
        let mut all = mine.to_vec();
        all.push(json!({ "id": "b2", "what": "Brew", "status": "in_progress", "owner": "x", "due": "2026-11-27T09:00:00Z" }));
        let view = shown(&mine, &all);
        let text = view.to_string();
        assert_eq!((text.matches("Sign").count(), text.matches("Brew").count()), (1, 1), "{text}");
        assert!(text.contains("Sign &lt;it&gt;") && text.contains("Kelly · in progress · due <!date^1795770000^"), "{text}");
        let buttons: Vec<&str> = text.split("\"value\":\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(
            buttons,
            ["home backlog answer a1", "home backlog show a1", "home backlog show b2", "home remind new", "home status", "home costs"]
        );
        assert_eq!(view["private_metadata"], "D1");
    }

    #[test]
    fn empty_lists_say_so_and_long_ones_say_how_much_is_left_out() {
        let text = shown(&[], &[]).to_string();
        assert!(text.contains("Nothing. Ask for something below") && text.contains("Nothing is open."), "{text}");
        let many: Vec<Value> = (0..31).map(|number| item(&format!("a{number}"), "x", "ready")).collect();
        let view = shown(&many, &many);
        assert!(view.to_string().contains("21 more items.") && view["blocks"].as_array().unwrap().len() <= 50, "{view}");
        assert!(shown(&many[..11], &[]).to_string().contains("1 more item."));
        // As many as were asked for: the others are not known, nor is their number.
        let full: Vec<Value> = (0..LIMIT).map(|number| item(&format!("a{number}"), "x", "ready")).collect();
        let text = shown(&full[..3], &full).to_string();
        assert!(text.contains("There are more items.") && !text.contains("27 more"), "{text}");
        let text = shown(&full, &full).to_string();
        assert!(text.matches("There are more items.").count() == 2 && !text.contains("Nothing is open."), "{text}");
    }

    #[test]
    fn only_what_waits_for_words_has_a_button_for_them() {
        let mut budget = item("a1", "Search", "waiting");
        budget["takes_answer"] = false.into();
        let text = shown(&[budget], &[]).to_string();
        assert!(text.contains("home backlog show a1") && !text.contains("backlog answer"), "{text}");
    }
}
