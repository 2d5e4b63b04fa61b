//! Messages as lines of text.

use serde_json::{Value, json};

use super::directory::Directory;

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

const INDENT: &str = "     ";

/// Message types and flags of Discord's API.
const REPLY: u64 = 19;
const THREAD_STARTER: u64 = 21;
const EPHEMERAL: u64 = 1 << 6;
const LOADING: u64 = 1 << 7;

pub(super) fn bold(text: &str) -> String {
    format!("{BOLD}{text}{PLAIN}")
}

pub(super) fn dim(text: &str) -> String {
    format!("{DIM}{text}{PLAIN}")
}

pub(super) fn without_style(text: &str) -> String {
    [BOLD, DIM, PLAIN].iter().fold(text.to_owned(), |text, code| text.replace(code, ""))
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// One line without control characters, and without the characters that reorder text.
/// They could move the cursor, change the window's title or hide what was written.
pub(super) fn clean(text: &str) -> String {
    let reorders = |c: char| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if c == '\n' || c == '\t' { ' ' } else { c }).filter(|&c| !c.is_control() && !reorders(c)).collect()
}

fn has_flag(message: &Value, flag: u64) -> bool {
    message["flags"].as_u64().unwrap_or_default() & flag != 0
}

/// Whether the author still works on this message.
pub(super) fn is_loading(message: &Value) -> bool {
    has_flag(message, LOADING)
}

/// `number` is the number of the message in commands such as `/reply`. `reply_to` is the number of the message that it replies to.
pub(super) fn render_message(message: &Value, number: usize, reply_to: Option<usize>, directory: &Directory) -> String {
    if message["type"] == THREAD_STARTER && message["referenced_message"].is_object() {
        return render_message(&message["referenced_message"], number, None, directory);
    }
    let mut lines = vec![render_head(message, number, reply_to, directory)];
    lines.extend(is_loading(message).then(|| dim("is thinking…")));
    lines.extend(render_text(&message["content"], directory));
    for embed in list(&message["embeds"]) {
        let titled = |title: &Value, body: &Value| [bold(&clean(text(title)))].into_iter().chain(render_text(body, directory));
        let mut card: Vec<_> = titled(&embed["title"], &embed["description"]).collect();
        card.extend(list(&embed["fields"]).iter().flat_map(|field| titled(&field["name"], &field["value"])));
        card.extend(embed["image"]["url"].as_str().map(|url| format!("image {}", clean(url))));
        card.push(dim(&clean(text(&embed["footer"]["text"]))));
        lines.extend(card.into_iter().filter(|line| !without_style(line).is_empty()).map(|line| format!("│ {line}")));
    }
    let file = |file: &Value| clean(&format!("file {} {}", text(&file["filename"]), text(&file["url"])));
    lines.extend(list(&message["attachments"]).iter().map(file));
    lines.extend(render_controls(message));
    // A thread has the id of the message that started it.
    lines.extend(directory.find_name(text(&message["id"])).map(|thread| dim(&format!("thread: /channel {thread}"))));
    lines.join(&format!("\n{INDENT}"))
}

fn render_head(message: &Value, number: usize, reply_to: Option<usize>, directory: &Directory) -> String {
    let replied = || reply_to.map_or_else(|| "an older message".to_owned(), |number| number.to_string());
    let notes = [
        message["interaction"]["name"].as_str().map(|command| format!(" · /{}", clean(command))),
        (message["type"] == REPLY).then(|| format!(" · reply to {}", replied())),
        has_flag(message, EPHEMERAL).then(|| " · only you see this".to_owned()),
        message["edited_timestamp"].as_str().map(|_| " · edited".to_owned()),
    ];
    let (name, notes) = (directory.user_name(&message["author"]), notes.into_iter().flatten().collect::<String>());
    format!("{} {}{}", dim(&format!("{number:>3}.")), bold(&name), dim(&notes))
}

/// The buttons and select options below a message: each label with the data that using it sends. `None` if it cannot be used here.
fn list_controls(message: &Value) -> Vec<(String, Option<Value>)> {
    let components = list(&message["components"]).iter().flat_map(|row| list(&row["components"]));
    let controls = components.flat_map(|component| {
        let label = clean(component["label"].as_str().unwrap_or(text(&component["placeholder"])));
        let data =
            |values: &[&Value]| Some(json!({ "component_type": component["type"], "custom_id": component["custom_id"], "values": values }));
        match (component["type"].as_u64(), component["url"].as_str()) {
            _ if component["disabled"] == true => vec![(format!("{label}, disabled"), None)],
            (Some(2), Some(url)) => vec![(format!("{label} {}", clean(url)), None)],
            (Some(2), None) => vec![(label, data(&[]))],
            (Some(3), _) => {
                let option = |option: &Value| (format!("{label}: {}", clean(text(&option["label"]))), data(&[&option["value"]]));
                list(&component["options"]).iter().map(option).collect()
            }
            _ => vec![(format!("{label}, on the chat page"), None)],
        }
    });
    controls.collect()
}

/// The data that each numbered control of a message sends, in the order of the numbers.
pub(super) fn list_interactions(message: &Value) -> Vec<Value> {
    list_controls(message).into_iter().filter_map(|(_, data)| data).collect()
}

fn render_controls(message: &Value) -> Option<String> {
    let mut numbers = 1..;
    let controls = list_controls(message).into_iter().map(|(label, data)| match data.and_then(|_| numbers.next()) {
        Some(number) => format!("[{number} {label}]"),
        None => format!("[{label}]"),
    });
    Some(controls.collect::<Vec<_>>().join(" ")).filter(|line| !line.is_empty())
}

/// Message text without Markdown marks, except inside of code blocks.
fn render_text(written: &Value, directory: &Directory) -> Vec<String> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for line in text(written).lines().map(clean) {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else {
            lines.push(if in_code { line } else { render_line(&directory.read_mentions(&line)) });
        }
    }
    lines
}

fn render_line(line: &str) -> String {
    let without_marks = |line: &str| unescape(&line.replace("**", ""));
    match (line.strip_prefix("-# "), ["# ", "## ", "### "].iter().find_map(|mark| line.strip_prefix(mark))) {
        (Some(subtext), _) => dim(&without_marks(subtext)),
        (_, Some(heading)) => bold(&without_marks(heading)),
        _ => without_marks(line),
    }
}

/// Removes the backslashes that keep a character from being read as Markdown.
fn unescape(text: &str) -> String {
    let mut chars = text.chars().peekable();
    let next = || match chars.next()? {
        '\\' => Some(chars.next_if(char::is_ascii_punctuation).unwrap_or('\\')),
        c => Some(c),
    };
    std::iter::from_fn(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::directory::tests::example;

    fn render(message: &Value) -> String {
        without_style(&render_message(message, 4, Some(2), &example()))
    }

    #[test]
    fn a_message_shows_its_text_embeds_files_and_controls() {
        let message = json!({
            "id": "0", "type": 19, "author": { "id": "7" }, "content": "Yes.\nSee below.", "edited_timestamp": "2026-11-21T20:00:00Z",
            "embeds": [{ "title": "Report", "description": "two\nlines", "fields": [{ "name": "Costs", "value": "flat" }],
                "image": { "url": "http://127.0.0.1/c.png" }, "footer": { "text": "today" } }],
            "attachments": [{ "filename": "a.md", "size": 1536, "url": "http://127.0.0.1/a.md" }],
            "components": [{ "type": 1, "components": [
                { "type": 2, "label": "Old", "disabled": true }, { "type": 2, "label": "Approve", "custom_id": "a" }, { "type": 2, "label": "Page", "url": "http://x" },
                { "type": 3, "custom_id": "s", "placeholder": "Pick", "options": [{ "label": "One", "value": "1" }, { "label": "Two", "value": "2" }] },
                { "type": 5, "custom_id": "u", "placeholder": "Who" }] }],
        });
        assert_eq!(
            render(&message),
            "  4. Kelly · reply to 2 · edited\n     Yes.\n     See below.\n     │ Report\n     │ two\n     │ lines\n     │ Costs\n     │ flat\n     \
             │ image http://127.0.0.1/c.png\n     │ today\n     file a.md http://127.0.0.1/a.md\n     \
             [Old, disabled] [1 Approve] [Page http://x] [2 Pick: One] [3 Pick: Two] [Who, on the chat page]"
        );
        let sent = list_interactions(&message);
        assert_eq!(sent[0], json!({ "component_type": 2, "custom_id": "a", "values": [] }));
        assert_eq!(sent[2], json!({ "component_type": 3, "custom_id": "s", "values": ["2"] }));
        assert_eq!(sent.len(), 3);
    }

    #[test]
    fn a_deferred_answer_shows_that_somebody_is_thinking() {
        let message = json!({ "id": "1", "author": { "id": "7" }, "flags": 192, "interaction": { "name": "ask" } });
        assert!(render(&message).ends_with("Kelly · /ask · only you see this\n     is thinking…"));
    }

    #[test]
    fn markdown_marks_are_removed_outside_of_code() {
        let text = json!("**a** b\\_c\n```\n**d**\n```\n-# **small**\n## Title\n#ops\nC:\\dir");
        let lines = render_text(&text, &example());
        assert_eq!(lines, ["a b_c", "**d**", "\x1b[2msmall\x1b[0m", "\x1b[1mTitle\x1b[0m", "#ops", "C:\\dir"]);
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        assert_eq!(clean("a\x1b[2Jb\x07\u{9b}31m\u{202E}c\r\nd"), "a[2Jb31mc d");
    }
}
