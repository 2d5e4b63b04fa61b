//! A message as lines of text.

use chrono::{DateTime, Local};
use serde_json::Value;

use super::directory::{Directory, clean, list};

/// Milliseconds between 1970 and the first second of 2015, Discord's epoch.
const EPOCH_MS: i64 = 1_420_070_400_000;
const INDENT: &str = "     ";
const MAX_QUOTE_CHARS: usize = 60;

const THREAD_CREATED: u64 = 18;
const REPLY: u64 = 19;
const THREAD_STARTER: u64 = 21;

/// The type of a button among the components of a message.
const BUTTON: u64 = 2;

const EPHEMERAL: u64 = 1 << 6;
const LOADING: u64 = 1 << 7;

/// Bold and dim text, or plain text if the output is not a terminal or `NO_COLOR` is set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    pub enabled: bool,
}

impl Style {
    pub(super) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(super) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.enabled { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// `number` is how commands such as `/reply` refer to the message.
pub(super) fn render_message(message: &Value, number: usize, directory: &Directory, style: Style) -> String {
    if message["type"] == THREAD_STARTER && message["referenced_message"].is_object() {
        return render_message(&message["referenced_message"], number, directory, style);
    }
    let mut lines = vec![render_head(message, number, directory, style)];
    if is_loading(message) {
        lines.push(style.dim("is thinking…"));
    }
    let text = |value: &Value| render_text(value.as_str().unwrap_or_default(), directory, style);
    lines.extend(text(&message["content"]));
    for embed in list(&message["embeds"]) {
        let mut parts: Vec<String> = embed["title"].as_str().map(|title| style.bold(&clean(title))).into_iter().collect();
        parts.extend(text(&embed["description"]));
        for field in list(&embed["fields"]) {
            parts.push(style.bold(&clean(field["name"].as_str().unwrap_or_default())));
            parts.extend(text(&field["value"]));
        }
        parts.extend(embed["image"]["url"].as_str().map(|url| format!("image {}", clean(url))));
        parts.extend(embed["footer"]["text"].as_str().map(|footer| style.dim(&clean(footer))));
        lines.extend(parts.into_iter().map(|part| format!("│ {part}")));
    }
    for file in list(&message["attachments"]) {
        let (name, url) = (file["filename"].as_str().unwrap_or_default(), file["url"].as_str().unwrap_or_default());
        lines.push(format!("file {} ({}) {}", clean(name), render_size(file["size"].as_u64().unwrap_or_default()), clean(url)));
    }
    let buttons: Vec<_> = list_buttons(message).into_iter().enumerate().map(|(at, button)| render_button(at + 1, button)).collect();
    lines.extend(Some(buttons.join(" ")).filter(|line| !line.is_empty()));
    // A thread has the id of the message that started it.
    if let Some(thread) = directory.find_channel(message["id"].as_str().unwrap_or_default()) {
        lines.push(style.dim(&format!("thread: /channel {}", thread.name)));
    }
    lines.join(&format!("\n{INDENT}"))
}

pub(super) fn is_loading(message: &Value) -> bool {
    message["flags"].as_u64().unwrap_or_default() & LOADING != 0
}

/// In the order in which they are numbered.
pub(super) fn list_buttons(message: &Value) -> Vec<&Value> {
    list(&message["components"]).iter().flat_map(|row| list(&row["components"])).filter(|control| control["type"] == BUTTON).collect()
}

pub(super) fn button_name(button: &Value) -> String {
    clean(button["label"].as_str().unwrap_or("button"))
}

fn render_head(message: &Value, number: usize, directory: &Directory, style: Style) -> String {
    // Begins with an empty note, so that the others follow a separator.
    let mut notes = vec![String::new()];
    if let Some(command) = message["interaction"]["name"].as_str().or(message["interaction_metadata"]["name"].as_str()) {
        notes.push(format!("/{}", clean(command)));
    }
    match message["type"].as_u64() {
        Some(REPLY) => notes.push(render_quote(&message["referenced_message"], directory)),
        Some(THREAD_CREATED) => notes.push("started a thread".to_owned()),
        _ => {}
    }
    if message["flags"].as_u64().unwrap_or_default() & EPHEMERAL != 0 {
        notes.push("only you see this".to_owned());
    }
    if message["edited_timestamp"].is_string() {
        notes.push("edited".to_owned());
    }
    let time = render_time(message["id"].as_str().unwrap_or_default());
    let name = directory.user_name(&message["author"]);
    format!("{} {}{}", style.dim(&format!("{number:>3}. {time}")), style.bold(&name), style.dim(&notes.join(" · ")))
}

fn render_quote(original: &Value, directory: &Directory) -> String {
    let Some(content) = original["content"].as_str() else { return "reply to a deleted message".to_owned() };
    let text = clean(&directory.render_mentions(content));
    let short: String = text.chars().take(MAX_QUOTE_CHARS).collect();
    // The quote ends at a word.
    let short =
        if short.len() == text.len() { text } else { format!("{} …", short.rsplit_once(' ').map_or(&*short, |(words, _)| words)) };
    format!("reply to {}: {short}", directory.user_name(&original["author"]))
}

/// The local time at which an id was created.
fn render_time(id: &str) -> String {
    let created = id.parse::<u64>().ok().and_then(|id| DateTime::from_timestamp_millis(i64::try_from(id >> 22).ok()? + EPOCH_MS));
    created.map_or_else(|| "--:--".to_owned(), |created| created.with_timezone(&Local).format("%H:%M").to_string())
}

fn render_button(number: usize, button: &Value) -> String {
    let name = button_name(button);
    match button["url"].as_str() {
        Some(url) => format!("[{name} {}]", clean(url)),
        None if button["disabled"] == true => format!("[{name}, disabled]"),
        None => format!("[{number} {name}]"),
    }
}

/// Message text without Markdown marks, except inside of code blocks.
fn render_text(text: &str, directory: &Directory, style: Style) -> Vec<String> {
    let mut in_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let line = clean(line);
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if in_code {
            lines.push(line);
        } else {
            lines.push(render_line(&directory.render_mentions(&line), style));
        }
    }
    lines
}

fn render_line(line: &str, style: Style) -> String {
    if let Some(subtext) = line.strip_prefix("-# ") {
        return style.dim(&render_line(subtext, Style { enabled: false }));
    }
    let heading = line.trim_start_matches('#');
    if heading.len() < line.len() && line.len() - heading.len() <= 3 && heading.starts_with(' ') {
        return style.bold(&render_line(heading.trim_start(), Style { enabled: false }));
    }
    let parts: Vec<&str> = line.split("**").collect();
    // An even number of parts means that a mark is not closed. Such a line stays as it is.
    if parts.len().is_multiple_of(2) {
        return unescape(line);
    }
    parts.iter().enumerate().map(|(at, part)| if at % 2 == 1 { style.bold(&unescape(part)) } else { unescape(part) }).collect()
}

/// Removes the backslashes that keep a character from being read as Markdown.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\\' && chars.peek().is_some_and(|next| "*_~`|>#-[]()\\<:@".contains(*next)) {
            continue;
        }
        out.push(c);
    }
    out
}

fn render_size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{}.{} KB", bytes / 1024, bytes % 1024 * 10 / 1024),
        _ => format!("{}.{} MB", bytes / 1_048_576, bytes % 1_048_576 * 10 / 1_048_576),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::terminal::directory::tests::example;

    const PLAIN: Style = Style { enabled: false };

    #[test]
    fn a_message_shows_its_text_embeds_files_and_buttons() {
        let message = json!({
            "id": "x", "type": 19, "author": { "id": "7" }, "content": "Yes.\nSee below.", "edited_timestamp": "2026-11-21T20:00:00Z",
            "referenced_message": { "author": { "id": "3" }, "content": "is it\ntrue?" },
            "embeds": [{ "title": "Report", "description": "two\nlines", "fields": [{ "name": "Costs", "value": "flat" }],
                "image": { "url": "http://127.0.0.1/c.png" }, "footer": { "text": "today" } }],
            "attachments": [{ "filename": "a.md", "size": 1536, "url": "http://127.0.0.1/a.md" }],
            "components": [{ "type": 1, "components": [{ "type": 2, "label": "Approve", "custom_id": "a" }, { "type": 2, "label": "Old", "disabled": true },
                { "type": 3, "custom_id": "s", "placeholder": "Pick", "options": [{ "label": "One", "value": "1" }] }] }],
        });
        assert_eq!(
            render_message(&message, 4, &example(), PLAIN),
            "  4. --:-- Kelly · reply to You: is it true? · edited\n     Yes.\n     See below.\n     │ Report\n     │ two\n     │ lines\n     \
             │ Costs\n     │ flat\n     │ image http://127.0.0.1/c.png\n     │ today\n     file a.md (1.5 KB) http://127.0.0.1/a.md\n     \
             [1 Approve] [Old, disabled]"
        );
    }

    #[test]
    fn a_deferred_answer_shows_that_somebody_is_thinking() {
        let message = json!({ "id": "1", "author": { "id": "7" }, "flags": 192, "interaction_metadata": { "name": "ask" } });
        assert!(render_message(&message, 4, &example(), PLAIN).ends_with("Kelly · /ask · only you see this\n     is thinking…"));
    }

    #[test]
    fn markdown_marks_are_removed_outside_of_code() {
        let text = "**a** b\\_c\n```\n**d**\n```\n-# small\n## Title\ne ** f\n#ops";
        assert_eq!(render_text(text, &example(), PLAIN), ["a b_c", "**d**", "small", "Title", "e ** f", "#ops"]);
        assert_eq!(render_text("**a** b", &example(), Style { enabled: true }), ["\x1b[1ma\x1b[0m b"]);
    }

    #[test]
    fn a_long_quote_ends_at_a_word() {
        let original = json!({ "author": { "id": "3" }, "content": "word ".repeat(20) });
        let quote = render_quote(&original, &example());
        assert!(quote.ends_with("word …") && quote.len() < 90, "{quote}");
    }
}
