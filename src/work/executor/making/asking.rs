use super::Background;
use crate::domain::approval::{Approval, fingerprint};
use crate::domain::outbound::{Button, ButtonStyle, OutboundKind, OutboundMessage};
use crate::domain::text::without_invisible;
use crate::domain::usage::Refused;
use crate::persona::context::flat_name;
use crate::persona::retrieval::cut;
use crate::work::button::WorkButton;
use crate::work::executor::Assignment;

/// The most characters of a call's arguments that are shown; a message has 2000 in all.
const ARGUMENTS: usize = 1500;
/// How much of a fingerprint is shown: enough that nobody makes a second call with the same.
const FINGERPRINT: usize = 12;

/// Puts a call before a person, with its exact arguments.
pub(super) fn approval(assignment: &Assignment<'_>, background: &Background<'_>, asked: &Approval, why: &str) -> Vec<OutboundMessage> {
    let exact = fingerprint(&asked.tool, &asked.arguments);
    let text = format!(
        "I would like to call `{}` for {}. {why}, so a person decides.\n```json\n{}\n```\n-# {} · fingerprint {}",
        asked.tool,
        item(assignment),
        shown(&asked.arguments),
        asked.risk.as_str(),
        &exact[..FINGERPRINT]
    );
    let (allow, refuse) = (WorkButton::Allow(asked.id.clone()), WorkButton::Refuse(asked.id.clone()));
    message(
        assignment,
        background,
        text,
        vec![button(&allow, "Allow", ButtonStyle::Success), button(&refuse, "Refuse", ButtonStyle::Danger)],
    )
}

/// Says that the money for an item is used up.
pub(super) fn budget(assignment: &Assignment<'_>, background: &Background<'_>, refused: &Refused) -> Vec<OutboundMessage> {
    let until = if refused.limit.ends_with_the_day() { ", or until tomorrow (UTC)" } else { "" };
    let text = format!(
        "I stopped working on {}: {refused}. What is done is kept. It waits until somebody raises the budget{until}.",
        item(assignment)
    );
    let raise = WorkButton::Raise(assignment.item.id.clone());
    message(assignment, background, text, vec![button(&raise, "Raise the budget", ButtonStyle::Primary)])
}

/// Asks what is to become of an item that no waiting will help.
pub(super) fn decision(assignment: &Assignment<'_>, background: &Background<'_>, why: &str) -> Vec<OutboundMessage> {
    let text = format!("I cannot go on with {}: {why}. What is done is kept.", item(assignment));
    let (retry, cancel) = (WorkButton::Retry(assignment.item.id.clone()), WorkButton::Cancel(assignment.item.id.clone()));
    message(
        assignment,
        background,
        text,
        vec![button(&retry, "Try again", ButtonStyle::Primary), button(&cancel, "Cancel it", ButtonStyle::Danger)],
    )
}

/// Nothing where there is no place to say it.
fn message(assignment: &Assignment<'_>, background: &Background<'_>, text: String, buttons: Vec<Button>) -> Vec<OutboundMessage> {
    let of = |channel| OutboundMessage { buttons, ..OutboundMessage::new(&assignment.persona.slug, channel, OutboundKind::Notice, text) };
    background.channel.map(of).into_iter().collect()
}

fn button(pressed: &WorkButton, label: &str, style: ButtonStyle) -> Button {
    Button { id: pressed.id(), label: label.into(), style }
}

/// `"Compare prices" (4f2a1c)`. Agents may have written what is to be done, so it is shown as one plain line.
fn item(assignment: &Assignment<'_>) -> String {
    let what = without_invisible(&assignment.item.what).replace(['`', '*', '_', '<', '>', '@'], " ");
    let what = cut(&what.split_whitespace().collect::<Vec<_>>().join(" "), 100);
    format!("\"{what}\" ({})", flat_name(assignment.item.short_id()))
}

/// The arguments as they may stand in a code block: nothing invisible, which could show another call than the one that is made, and
/// nothing that ends the block.
fn shown(arguments: &serde_json::Value) -> String {
    // Escapes stay visible as what they are: the pretty form of JSON puts every line break of a text as `\n`.
    let pretty = serde_json::to_string_pretty(arguments).unwrap_or_else(|_| arguments.to_string());
    let visible: String = pretty.chars().map(|c| if is_hidden(c) { '\u{FFFD}' } else { c }).collect();
    let harmless = visible.replace("```", "`\u{FFFD}`");
    let total = harmless.chars().count();
    if total <= ARGUMENTS {
        return harmless;
    }
    let kept: String = harmless.chars().take(ARGUMENTS).collect();
    format!("{kept}\n(cut: {} characters more)", total - ARGUMENTS)
}

fn is_hidden(c: char) -> bool {
    c != '\n' && without_invisible(c.encode_utf8(&mut [0; 4])).is_empty()
}
