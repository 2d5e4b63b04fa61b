//! What people see of a look back.

use std::fmt::Write as _;

use crate::features::overwatch::button::{Choice, InsightButton};
use crate::features::overwatch::model::{Insight, InsightKind, LookBack, Trend};
use kernel::chat::medium::{Medium, shorten};
use kernel::chat::outbound::{Card, OutboundKind, OutboundMessage, Placement};
use kernel::chat::text::Subtext;
use kernel::ids::{OutboxId, PersonaSlug};
use kernel::persona::roster::Roster;
use kernel::text::join_with_and;
use kernel::time::Today;

const LINE: usize = 300;

/// One message for each insight, from its persona's account, and one line for all that saw no tension.
pub(super) fn insights(run: &LookBack, insights: &[Insight], roster: &Roster) -> Vec<OutboundMessage> {
    let seen = insights.iter().filter(|insight| insight.kind != InsightKind::None);
    let mut messages: Vec<OutboundMessage> = seen.map(|insight| message_of(run, insight, roster)).collect();
    let quiet: Vec<&str> =
        insights.iter().filter(|insight| insight.kind == InsightKind::None).map(|insight| roster.name_of(&insight.by)).collect();
    if !quiet.is_empty() {
        let text = Subtext(format_args!("Looking back, {} saw no tension.", join_with_and(&quiet))).to_string();
        messages.push(post(run, &roster.coordinator().slug, "quiet", text));
    }
    messages
}

fn message_of(run: &LookBack, insight: &Insight, roster: &Roster) -> OutboundMessage {
    let button = |choice| InsightButton { choice, insight: insight.id.clone() }.render();
    let mut buttons = vec![button(Choice::Useful), button(Choice::NotUseful)];
    if insight.actionable {
        buttons.push(button(Choice::Item));
    }
    let title = format!("{} → {}: {}", roster.name_of(&insight.by), whom(insight.to.as_ref(), roster), label(insight.kind));
    let task = insight.task.as_deref().map_or_else(String::new, |task| format!("\n**To do:** {}", Medium::Chat.line(task)));
    let unsupported = || format!("Mentions something that isn't in this {}, so it won't be used for planning", run.kind);
    let card = Card {
        title,
        text: format!("{}{task}", Medium::Chat.line(&insight.text)),
        color: color(insight.kind),
        footer: (!insight.supported).then(unsupported),
        ..Card::default()
    };
    OutboundMessage { card: Some(card), buttons, ..post(run, &insight.by, &insight.id, String::new()) }
}

fn post(run: &LookBack, by: &PersonaSlug, what: &str, text: String) -> OutboundMessage {
    let place = match &run.opening {
        Some(opening) => Placement::Thread { on: opening.clone(), name: shorten(&run.title, 90) },
        None => Placement::Channel,
    };
    OutboundMessage { id: message_id(&run.key(), what), place, ..OutboundMessage::new(by, &run.channel, OutboundKind::Notice, text) }
}

/// Tells those who asked why there are no insights. `attempt` makes the message different for each request.
pub(super) fn nothing(run: &LookBack, attempt: &str, why: &str, roster: &Roster) -> OutboundMessage {
    let text = Subtext(format_args!("Nothing to show of looking back: {why}. `/overwatch run` tries again.")).to_string();
    post(run, &roster.coordinator().slug, &format!("nothing-{attempt}"), text)
}

/// The id of an insight's message, or of the line about those that saw no tension.
pub(super) fn message_id(run: &str, what: &str) -> OutboxId {
    OutboxId::new(format!("overwatch-{run}-{what}"))
}

pub(super) fn whom<'a>(to: Option<&'a PersonaSlug>, roster: &'a Roster) -> &'a str {
    to.map_or("team", |to| roster.name_of(to))
}

fn label(kind: InsightKind) -> &'static str {
    match kind {
        InsightKind::CrossConcern => "🔀 conflict",
        InsightKind::Pattern => "🔁 pattern",
        InsightKind::Process => "⚙️ how we worked",
        InsightKind::Drift => "🧭 drift",
        InsightKind::Risk => "⚠️ risk",
        InsightKind::None => "no tension",
    }
}

fn color(kind: InsightKind) -> u32 {
    match kind {
        InsightKind::CrossConcern => 0x7A_5C_C7,
        InsightKind::Pattern => 0x3B_82_C4,
        InsightKind::Process => 0x2F_9E_77,
        InsightKind::Drift => 0xB7_89_2B,
        InsightKind::Risk => 0xC2_4A_4A,
        InsightKind::None => 0x8A_8A_8A,
    }
}

/// The insights of the last missions and meetings, for a command.
pub(super) fn list(insights: &[&Insight], roster: &Roster, today: Today) -> String {
    let mut text = String::new();
    let mut subject = None;
    for insight in insights {
        if subject != Some(&insight.subject) {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}**{}**, {}", Medium::Chat.line_within(&insight.title, 100), today.show(insight.at));
            subject = Some(&insight.subject);
        }
        let by = roster.name_of(&insight.by);
        let _ = match insight.kind {
            InsightKind::None => writeln!(text, "- {by}: no tension"),
            kind => {
                let doubt = if insight.supported { "" } else { " (not confirmed)" };
                let to = whom(insight.to.as_ref(), roster);
                writeln!(text, "- {by} → {to}, {}{doubt}: {}", label(kind), Medium::Chat.line_within(&insight.text, LINE))
            }
        };
    }
    if text.is_empty() { "Nobody has looked back at a mission or a meeting yet.".to_owned() } else { text.trim_end().to_owned() }
}

/// Themes that come up again, for a command.
pub(super) fn trends(trends: &[Trend], today: Today) -> String {
    if trends.is_empty() {
        return "No theme has come up more than once yet.".to_owned();
    }
    let line = |trend: &Trend| {
        let resolved = if trend.resolved { ", resolved" } else { "" };
        format!("- {} times, last {}{resolved}: {}", trend.count, today.show(trend.last_seen), Medium::Chat.line_within(&trend.text, LINE))
    };
    trends.iter().map(line).collect::<Vec<_>>().join("\n")
}
