//! One message as lines of text.

use chrono::{DateTime, Local};

use super::{
    super::{
        guild::Guild,
        model::{Attachment, Control, Embed, Message, Reaction},
    },
    Paint, text,
};

/// Milliseconds between 1970 and Discord's epoch, the first second of 2015.
const EPOCH_MS: i64 = 1_420_070_400_000;
/// What a message continues with, below its head.
const INDENT: &str = "     ";
const REPLY_CHARS: usize = 60;

/// Message types that this client shows in words of its own.
const THREAD_CREATED: u8 = 18;
const REPLY: u8 = 19;
const THREAD_STARTER: u8 = 21;

/// `number` is what the person uses to speak of this message.
pub(in super::super) fn render_message(message: &Message, number: usize, guild: &Guild, paint: Paint) -> String {
    if let (THREAD_STARTER, Some(original)) = (message.kind, &message.original) {
        return render_message(original, number, guild, paint);
    }
    let mut lines = vec![render_head(message, number, guild, paint)];
    if message.is_loading() {
        lines.push(paint.dim("is thinking…"));
    } else {
        lines.extend(text::render_text(&message.content, guild, paint));
    }
    lines.extend(message.embeds.iter().flat_map(|embed| render_embed(embed, guild, paint)));
    lines.extend(message.attachments.iter().map(|file| render_attachment(file, paint)));
    lines.extend(render_reactions(&message.reactions));
    lines.extend(render_controls(&message.list_controls(), paint));
    if let Some(thread) = guild.find_channel(&message.id).or(message.thread.as_ref()) {
        let name = text::clean_line(thread.name.as_deref().unwrap_or("thread"));
        lines.push(paint.dim(format!("thread “{name}”, {} messages: /thread {number}", thread.message_count)));
    }
    lines.join(&format!("\n{INDENT}"))
}

fn render_head(message: &Message, number: usize, guild: &Guild, paint: Paint) -> String {
    let author = guild.author(message);
    let number = paint.dim(format!("{number:>3}."));
    let mut head = format!("{number} {} {}", paint.dim(render_time(&message.id)), paint.name(&author));
    if message.author.bot || message.webhook_id.is_some() {
        head += &paint.dim(" BOT");
    }
    let mut notes = Vec::new();
    if let Some(used) = find_command(message) {
        notes.push(format!("/{used}"));
    }
    if message.kind == REPLY {
        notes.push(render_original(message.original.as_deref(), guild));
    }
    if message.kind == THREAD_CREATED {
        notes.push("started a thread".to_owned());
    }
    if message.is_ephemeral() {
        notes.push("only you see this".to_owned());
    }
    if message.edited_timestamp.is_some() {
        notes.push("edited".to_owned());
    }
    for note in notes {
        head += &paint.dim(format!(" · {}", text::clean_line(&note)));
    }
    head
}

fn find_command(message: &Message) -> Option<&str> {
    let named = |value: &'_ Option<serde_json::Value>| value.as_ref().is_some_and(|value| value["name"].is_string());
    let source = if named(&message.interaction) { &message.interaction } else { &message.interaction_metadata };
    source.as_ref()?["name"].as_str()
}

fn render_original(original: Option<&Message>, guild: &Guild) -> String {
    let Some(original) = original else { return "to a deleted message".to_owned() };
    let words = text::clean_line(&text::render_mentions(&original.content, guild));
    let short: String = words.chars().take(REPLY_CHARS).collect();
    let more = if short.len() < words.len() { "…" } else { "" };
    format!("to {}: {short}{more}", guild.author(original).text)
}

/// The time of day at which a snowflake was made, in the person's own zone.
fn render_time(id: &str) -> String {
    let made = id.parse::<u64>().ok().and_then(|id| DateTime::from_timestamp_millis(i64::try_from(id >> 22).ok()? + EPOCH_MS));
    made.map_or_else(|| "--:--".to_owned(), |made| made.with_timezone(&Local).format("%H:%M").to_string())
}

fn render_embed(embed: &Embed, guild: &Guild, paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(title) = &embed.title {
        lines.push(paint.bold(text::clean_line(title)));
    }
    if let Some(description) = &embed.description {
        lines.extend(text::render_text(description, guild, paint));
    }
    for field in &embed.fields {
        lines.push(paint.bold(text::clean_line(&field.name)));
        lines.extend(text::render_text(&field.value, guild, paint));
    }
    if let Some(image) = &embed.image {
        lines.push(format!("picture {}", paint.dim(text::clean_line(&image.url))));
    }
    if let Some(footer) = &embed.footer {
        lines.push(paint.dim(text::clean_line(&footer.text)));
    }
    lines.into_iter().map(|line| format!("│ {line}")).collect()
}

fn render_attachment(file: &Attachment, paint: Paint) -> String {
    let size = text::render_size(file.size);
    format!("file {} ({size}) {}", paint.bold(text::clean_line(&file.filename)), paint.dim(text::clean_line(&file.url)))
}

fn render_reactions(reactions: &[Reaction]) -> Option<String> {
    let render = |reaction: &Reaction| {
        let emoji = text::clean_line(reaction.emoji.name.as_deref().unwrap_or("?"));
        let mine = if reaction.me { "*" } else { "" };
        format!("{emoji} {}{mine}", reaction.count)
    };
    (!reactions.is_empty()).then(|| reactions.iter().map(render).collect::<Vec<_>>().join("  "))
}

fn render_controls(controls: &[&Control], paint: Paint) -> Option<String> {
    let render = |(at, control): (usize, &&Control)| {
        let name = text::clean_line(control.name());
        let choices: Vec<_> = control.options.iter().map(|choice| text::clean_line(&choice.value)).collect();
        let choices = if choices.is_empty() { String::new() } else { format!(": {}", choices.join(", ")) };
        match &control.url {
            Some(url) => format!("[{name} {}]", text::clean_line(url)),
            None if control.disabled => paint.dim(format!("[{} {name}{choices}]", at + 1)),
            None => format!("[{} {name}{choices}]", at + 1),
        }
    };
    (!controls.is_empty()).then(|| controls.iter().enumerate().map(render).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::sandbox::terminal::guild::tests::example_guild;

    fn render(message: &serde_json::Value) -> String {
        let message = Message::deserialize(message).expect("a message");
        let shown = render_message(&message, 4, &example_guild(), Paint::plain());
        // The time depends on the zone of the machine.
        shown.replacen(&render_time(&message.id), "TIME", 1)
    }

    #[test]
    fn everything_of_a_message_is_shown_below_its_head() {
        let message = json!({
            "id": "1573796065264533505", "type": 19, "author": { "id": "7", "username": "kelly", "bot": true }, "content": "Yes.\nSee below.",
            "edited_timestamp": "2026-11-21T20:00:00Z",
            "referenced_message": { "author": { "id": "3", "username": "you" }, "content": "is it\ntrue?" },
            "embeds": [{ "title": "Report", "description": "two\nlines", "fields": [{ "name": "Costs", "value": "flat" }],
                "image": { "url": "http://127.0.0.1/c.png" }, "footer": { "text": "today" } }],
            "attachments": [{ "filename": "a.md", "size": 10, "url": "http://127.0.0.1/a.md" }],
            "reactions": [{ "count": 2, "me": true, "emoji": { "name": "👍" } }],
            "components": [{ "type": 1, "components": [{ "type": 2, "label": "Approve", "custom_id": "a" },
                { "type": 3, "custom_id": "s", "placeholder": "Pick", "options": [{ "label": "One", "value": "1" }] }] }],
        });
        assert_eq!(
            render(&message),
            "  4. TIME Kelly BOT · to You: is it true? · edited\n     Yes.\n     See below.\n     │ Report\n     │ two\n     │ lines\n     │ Costs\n     \
             │ flat\n     │ picture http://127.0.0.1/c.png\n     │ today\n     file a.md (10 B) http://127.0.0.1/a.md\n     👍 2*\n     [1 Approve] [2 Pick: 1]"
        );
    }

    #[test]
    fn a_deferred_answer_says_that_somebody_is_thinking() {
        let message = json!({ "id": "1", "author": { "id": "7", "username": "kelly", "bot": true }, "flags": 192, "interaction_metadata": { "name": "ask" } });
        assert_eq!(render(&message), "  4. TIME Kelly BOT · /ask · only you see this\n     is thinking…");
    }

    #[test]
    fn an_id_that_is_no_number_still_shows() {
        assert_eq!(render_time("x"), "--:--");
    }
}
