//! A message in Slack's format: text for notifications, blocks for the message itself, and a card as an attachment with a color.

use std::borrow::Cow;

use kernel::chat::markdown::simplify;
use kernel::chat::medium::shorten;
use kernel::chat::outbound::{Button, ButtonStyle, Card, OutboundMessage};
use kernel::chat::text::{self, Mention, Part, is_subtext, list_mentions, parts, plain};
use kernel::ids::UserId;
use serde_json::{Value, json};

use crate::adapters::slack::commands::COMMAND;
use crate::adapters::slack::markup::{escaped, translated, written};

/// <https://docs.slack.dev/reference/block-kit/blocks>
pub(super) const SECTION: usize = 3000;
const CONTEXT: usize = 2000;
const FIELD: usize = 2000;
const FIELDS: usize = 10;
const BUTTONS: usize = 25;
const LABEL: usize = 75;
const BLOCKS: usize = 50;

/// The text shown in notifications.
const FALLBACK: usize = 3000;

/// What is shown of a message that is in a file.
const BEGINNING: usize = 300;

/// An uploaded file that is not visible to anybody yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UploadedFile {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) permalink: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rendered {
    pub(super) text: String,
    pub(super) blocks: Value,
    pub(super) attachments: Value,
}

/// `commands` are the names of commands. `name_of` gives a person's name, for mentions that must not ping.
pub(super) fn render(
    message: &OutboundMessage,
    files: &[UploadedFile],
    commands: &[&str],
    name_of: &dyn Fn(&UserId) -> Option<String>,
) -> Rendered {
    let quiet = |text: &str| as_ours(&without_pings(text, &message.pings, name_of), commands);
    let text = quiet(&message.text);
    let mut blocks = text_blocks(&text);
    let picture = message.card.as_ref().and_then(|card| card.image.as_deref());
    let shown_apart = |file: &&UploadedFile| Some(file.name.as_str()) != picture;
    let links: Vec<String> = files.iter().filter(shown_apart).map(link_of).collect();
    if !links.is_empty() {
        blocks.push(section(&links.join("\n")));
    }
    let mut card = message.card.as_ref().map(|card| (card, card_blocks(card, files, &quiet)));
    if !message.buttons.is_empty() {
        // Buttons stand below a card.
        card.as_mut().map_or(&mut blocks, |(_, blocks)| blocks).push(actions(message));
    }
    // A long text must not push the buttons out.
    for blocks in card.iter_mut().map(|(_, blocks)| blocks).chain([&mut blocks]) {
        while blocks.len() > BLOCKS {
            blocks.remove(blocks.len() - 2);
        }
    }
    let attachments = card.into_iter().map(|(card, blocks)| attachment(card, &blocks)).collect();
    let title = message.card.as_ref().map(|card| card.title.as_str()).filter(|_| text.trim().is_empty());
    let fallback = translated(&shorten(&plain(&simplify(title.unwrap_or(&text))), FALLBACK));
    Rendered { text: fallback, blocks: Value::Array(blocks), attachments }
}

/// The same message without blocks, for a message that Slack refused. Only its buttons need blocks.
pub(super) fn render_plainly(
    message: &OutboundMessage,
    files: &[UploadedFile],
    commands: &[&str],
    name_of: &dyn Fn(&UserId) -> Option<String>,
) -> Rendered {
    let whole = as_ours(&without_pings(&whole_text(message), &message.pings, name_of), commands);
    let links = files.iter().map(link_of);
    let text = std::iter::once(written(&whole)).chain(links).collect::<Vec<_>>().join("\n");
    let mut blocks = Vec::new();
    if !message.buttons.is_empty() {
        let shown = cut(&plain(&simplify(&whole)), SECTION);
        blocks.push(json!({ "type": "section", "text": { "type": "plain_text", "text": shown } }));
        blocks.push(actions(message));
    }
    Rendered { text, blocks: Value::Array(blocks), attachments: json!([]) }
}

/// The words of a message for a file, in which mentions are names.
pub(super) fn words(message: &OutboundMessage, commands: &[&str], name_of: &dyn Fn(&UserId) -> Option<String>) -> String {
    let named = without_pings(&whole_text(message), &[], name_of).into_owned();
    text::render(&as_ours(&named, commands), &text::Plain)
}

/// What is beside the file with a message's words. It mentions those whom the message may ping, because a file pings nobody.
pub(super) fn render_beside(message: &OutboundMessage, words: &str, files: &[UploadedFile]) -> Rendered {
    let mentioned = list_mentions(&whole_text(message)).into_iter().filter(|user| message.pings.contains(user));
    let pings = mentioned.map(|user| written(&Mention(&user).to_string())).collect::<Vec<_>>().join(" ");
    let gap = if pings.is_empty() { "" } else { " " };
    let beginning = escaped(&shorten(&plain(words), BEGINNING));
    let buttons = if message.buttons.is_empty() { "" } else { " Its buttons are missing." };
    let said = format!("{pings}{gap}{beginning}\n\nSlack did not take this message. All of it is in the file.{buttons}");
    let text = std::iter::once(said).chain(files.iter().map(link_of)).collect::<Vec<_>>().join("\n");
    Rendered { text, blocks: json!([]), attachments: json!([]) }
}

/// All that a message says, one below the other.
fn whole_text(message: &OutboundMessage) -> String {
    let mut texts = vec![message.text.clone()];
    if let Some(card) = &message.card {
        texts.extend([card.title.clone(), card.text.clone()]);
        texts.extend(card.fields.iter().map(|field| format!("{}: {}", field.name, field.value)));
        texts.extend([&card.footer, &card.url].into_iter().flatten().cloned());
    }
    texts.retain(|text| !text.trim().is_empty());
    texts.join("\n")
}

fn actions(message: &OutboundMessage) -> Value {
    json!({ "type": "actions", "elements": message.buttons.iter().take(BUTTONS).map(button).collect::<Vec<_>>() })
}

/// Commands as people type them here: `/team backlog list` for `/backlog list`.
pub(super) fn as_ours(text: &str, commands: &[&str]) -> String {
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find("`/") {
        let (before, named) = rest.split_at(at + 2);
        let name = named.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap_or_default();
        let is_whole = named[name.len()..].starts_with(['`', ' ']);
        shown.push_str(&before[..=at]);
        if is_whole && commands.contains(&name) {
            shown.push_str(COMMAND);
            shown.push(' ');
        } else {
            shown.push('/');
        }
        rest = named;
    }
    shown + rest
}

/// Mentions that may not ping become names.
fn without_pings<'t>(text: &'t str, pings: &[UserId], name_of: &dyn Fn(&UserId) -> Option<String>) -> Cow<'t, str> {
    let found = parts(text);
    if !found.iter().any(|part| matches!(part, Part::Mention(user) if !pings.contains(user))) {
        return Cow::Borrowed(text);
    }
    let shown = found.into_iter().map(|part| match part {
        Part::Markdown(text) => text.to_owned(),
        Part::Mention(user) if pings.contains(&user) => Mention(&user).to_string(),
        Part::Mention(user) => format!("@{}", name_of(&user).unwrap_or_else(|| user.bare().to_owned())),
        Part::Channel(channel) => kernel::chat::text::ChannelRef(&channel).to_string(),
    });
    Cow::Owned(shown.collect())
}

/// Small print needs blocks of its own.
fn text_blocks(text: &str) -> Vec<Value> {
    let mut blocks = Vec::new();
    let lines: Vec<&str> = text.split('\n').collect();
    for run in lines.chunk_by(|one, next| is_subtext(one) == is_subtext(next)) {
        let is_small = is_subtext(run[0]);
        let shown = written(&run.join("\n"));
        let shown = shown.trim_matches('\n');
        if shown.trim().is_empty() {
            continue;
        }
        let pieces = pieces(shown, if is_small { CONTEXT } else { SECTION });
        blocks.extend(pieces.iter().map(|piece| if is_small { context(piece) } else { section(piece) }));
    }
    blocks
}

/// Splits a text into pieces of at most this many characters, at line breaks if possible.
pub(super) fn pieces(text: &str, limit: usize) -> Vec<String> {
    const OPENS: &str = "```\n";
    const CLOSES: &str = "\n```";
    let mut pieces = vec![String::new()];
    let mut in_code = false;
    for line in text.split_inclusive('\n') {
        let was_in_code = in_code;
        in_code ^= line.matches("```").count() % 2 == 1;
        let kept = if in_code { CLOSES.len() } else { 0 };
        for part in line.chars().collect::<Vec<_>>().chunks(limit - OPENS.len() - CLOSES.len()) {
            let last = pieces.last_mut().expect("there is one from the beginning");
            if last.chars().count() + part.len() + kept <= limit {
                last.extend(part);
                continue;
            }
            let part = part.iter();
            if was_in_code {
                match last.strip_suffix(OPENS) {
                    // The code has only just begun.
                    Some(before) => last.truncate(before.len()),
                    None => last.push_str(if last.ends_with('\n') { CLOSES.trim_start() } else { CLOSES }),
                }
                pieces.push(OPENS.chars().chain(part.copied()).collect());
            } else {
                pieces.push(part.collect());
            }
        }
    }
    pieces.retain(|piece| !piece.trim().is_empty());
    pieces
}

pub(super) fn section(text: &str) -> Value {
    json!({ "type": "section", "text": { "type": "mrkdwn", "text": text }, "expand": true })
}

fn context(text: &str) -> Value {
    json!({ "type": "context", "elements": [{ "type": "mrkdwn", "text": text }] })
}

pub(super) fn link_of(file: &UploadedFile) -> String {
    format!("<{}|{}>", file.permalink, written(&file.name).replace('|', " "))
}

fn button(button: &Button) -> Value {
    let mut shown = json!({
        "type": "button", "action_id": button.id, "value": button.id,
        "text": { "type": "plain_text", "text": shorten(&button.label, LABEL), "emoji": true },
    });
    match button.style {
        ButtonStyle::Primary | ButtonStyle::Success => shown["style"] = json!("primary"),
        ButtonStyle::Danger => shown["style"] = json!("danger"),
        ButtonStyle::Secondary => {}
    }
    shown
}

fn card_blocks(card: &Card, files: &[UploadedFile], quiet: &impl Fn(&str) -> String) -> Vec<Value> {
    let title = written(&quiet(&card.title));
    let title = match card.url.as_deref().filter(|url| url.starts_with("http")) {
        _ if title.is_empty() => String::new(),
        Some(url) => format!("*<{}|{}>*", url.replace('&', "&amp;"), title.replace(['|', '*'], " ")),
        None => format!("*{}*", title.replace('*', "")),
    };
    let mut blocks = text_blocks(&quiet(&card.text));
    if !title.is_empty() {
        blocks.insert(0, section(&cut(&title, SECTION)));
    }
    let fields: Vec<Value> = card
        .fields
        .iter()
        .map(|field| {
            let text = format!("*{}*\n{}", written(&quiet(&field.name)).replace('*', ""), written(&quiet(&field.value)));
            json!({ "type": "mrkdwn", "text": cut(&text, FIELD) })
        })
        .collect();
    blocks.extend(fields.chunks(FIELDS).map(|fields| json!({ "type": "section", "fields": fields })));
    if let Some(picture) = card.image.as_ref().and_then(|name| files.iter().find(|file| file.name == *name)) {
        blocks.push(json!({ "type": "image", "slack_file": { "id": picture.id }, "alt_text": shorten(&picture.name, CONTEXT) }));
    }
    if let Some(footer) = &card.footer {
        blocks.push(context(&cut(&written(&quiet(footer)), CONTEXT)));
    }
    blocks
}

fn attachment(card: &Card, blocks: &[Value]) -> Value {
    json!({ "color": format!("#{:06x}", card.color & 0x00ff_ffff), "fallback": cut(&plain(&card.title), SECTION), "blocks": blocks })
}

fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit { text.to_owned() } else { text.chars().take(limit - 1).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use kernel::chat::outbound::{CardField, OutboundKind};
    use kernel::ids::ChannelId;

    use super::*;

    fn message(text: &str) -> OutboundMessage {
        OutboundMessage::new(&"kelly".into(), &ChannelId::new("slack:C1"), OutboundKind::Answer, text)
    }

    fn shown(message: &OutboundMessage) -> Rendered {
        render(message, &[], &["backlog", "help"], &|_| Some("Ann".to_owned()))
    }

    #[test]
    fn text_small_print_and_buttons_are_blocks() {
        let button = Button { id: "work:1:approve".to_owned(), label: "Approve".to_owned(), style: ButtonStyle::Success };
        let rendered = shown(&OutboundMessage { buttons: vec![button], ..message("**Done.**\n<small>from memory</small>") });
        assert_eq!(rendered.text, "Done. from memory");
        let kinds: Vec<&str> = rendered.blocks.as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["section", "context", "actions"]);
        assert_eq!(rendered.blocks[0]["text"]["text"], "*Done.*");
        assert_eq!(rendered.blocks[1]["elements"][0]["text"], "from memory");
        assert_eq!(
            (&rendered.blocks[2]["elements"][0]["style"], &rendered.blocks[2]["elements"][0]["value"]),
            (&json!("primary"), &json!("work:1:approve"))
        );
    }

    #[test]
    fn a_notification_shows_foreign_text_as_it_is() {
        let title = kernel::chat::medium::Medium::Chat.line("Fix &amp; in ^a$|^b$ and $x^2$, in R&D");
        assert_eq!(shown(&message(&format!("{title} at `a&b`"))).text, "Fix &amp;amp; in ^a$|^b$ and $x^2$, in R&amp;D at `a&amp;b`");
    }

    #[test]
    fn commands_are_told_as_they_are_typed_here() {
        let shown = |text: &str| as_ours(text, &["backlog", "help"]);
        assert_eq!(shown("`/backlog add` or `/help`, not `/team backlog`"), "`/team backlog add` or `/team help`, not `/team backlog`");
        for kept in ["/help", "`/helper`", "`/help/me`", "`/", "no command"] {
            assert_eq!(shown(kept), kept);
        }
    }

    #[test]
    fn only_who_may_be_pinged_is_mentioned() {
        let text = "<user:slack:U1> and <user:slack:U2>";
        assert_eq!(shown(&message(text)).blocks[0]["text"]["text"], "@Ann and @Ann");
        let pinging = OutboundMessage { pings: vec!["slack:U2".into()], ..message(text) };
        assert_eq!(shown(&pinging).blocks[0]["text"]["text"], "@Ann and <@U2>");
    }

    #[test]
    fn in_a_file_people_are_names_and_beside_it_those_are_mentioned_who_may_be_pinged() {
        let name_of = |user: &UserId| (user.bare() == "U1").then(|| "Ann".to_owned());
        let message = OutboundMessage {
            pings: vec!["slack:U2".into(), "slack:U3".into()],
            ..message("<user:slack:U1> & <user:slack:U2>: see `/help`")
        };
        let named = words(&message, &["help"], &|user| name_of(user).or_else(|| Some("Bob".to_owned())));
        assert_eq!(named, "@Ann & @Bob: see `/team help`");
        let file = UploadedFile { id: "F1".to_owned(), name: "message.md".to_owned(), permalink: "https://x.slack.com/F1".to_owned() };
        let beside = render_beside(&message, &named, &[file]).text;
        assert!(beside.starts_with("<@U2> @Ann &amp; @Bob: see"), "{beside}");
        assert!(beside.ends_with("All of it is in the file.\n<https://x.slack.com/F1|message.md>"), "{beside}");
        assert!(!beside.contains("U1") && !beside.contains("U3"), "{beside}");
    }

    #[test]
    fn a_card_is_an_attachment_with_a_color() {
        let card = Card {
            title: "Day **Report**".to_owned(),
            text: "All well.".to_owned(),
            color: 0x0012_ab34,
            fields: vec![CardField { name: "Cost".to_owned(), value: "$1".to_owned(), inline: true }],
            footer: Some("by Kelly".to_owned()),
            url: Some("https://a.org/?b&c".to_owned()),
            image: Some("chart.png".to_owned()),
        };
        let file = UploadedFile { id: "F1".to_owned(), name: "chart.png".to_owned(), permalink: "https://x.slack.com/F1".to_owned() };
        let buttons = vec![Button { id: "play".to_owned(), label: "Play".to_owned(), style: ButtonStyle::Secondary }];
        let rendered = render(&OutboundMessage { card: Some(card), buttons, ..message("") }, &[file], &[], &|_| None);
        assert_eq!((rendered.text.as_str(), &rendered.blocks), ("Day Report", &json!([])));
        let attachment = &rendered.attachments[0];
        assert_eq!(attachment["color"], "#12ab34");
        assert_eq!(attachment["blocks"][0]["text"]["text"], "*<https://a.org/?b&amp;c|Day  Report >*");
        let kinds: Vec<&str> = attachment["blocks"].as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["section", "section", "section", "image", "context", "actions"]);
    }

    #[test]
    fn code_that_is_cut_is_code_in_both_pieces() {
        let code = format!("Look:\n```\n{}\n{}```\nThat is all.", "x".repeat(250), "word word\n".repeat(60));
        let shown = pieces(&code, 200);
        assert!(shown.len() > 3 && shown.iter().all(|piece| piece.chars().count() <= 200), "{shown:?}");
        assert!(shown.iter().all(|piece| piece.matches("```").count() % 2 == 0), "{shown:?}");
        assert_eq!(shown.iter().map(|piece| piece.matches("word word\n").count()).sum::<usize>(), 60);
        assert!(shown[0] == "Look:\n" && shown[1].starts_with("```\nxxx"), "no empty code: {shown:?}");
        assert_eq!(pieces("```\nshort\n```", 200), ["```\nshort\n```"]);
    }

    #[test]
    fn everything_keeps_to_slacks_limits() {
        let buttons = (0..40).map(|n| Button { id: n.to_string(), label: "x".repeat(90), style: ButtonStyle::Secondary }).collect();
        let rendered = shown(&OutboundMessage { buttons, ..message(&"word & word\n".repeat(20_000)) });
        let blocks = rendered.blocks.as_array().unwrap();
        assert_eq!(blocks.len(), BLOCKS);
        assert_eq!(blocks.last().unwrap()["elements"].as_array().unwrap().len(), BUTTONS);
        assert!(blocks.iter().filter_map(|block| block["text"]["text"].as_str()).all(|text| text.chars().count() <= SECTION));
        assert!(rendered.text.chars().count() <= FALLBACK * 2);
    }
}
