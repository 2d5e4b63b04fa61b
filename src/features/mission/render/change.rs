//! What people are told about a changed plan.

use std::fmt::Write as _;

use super::{TITLE, render_plan, say, sentence, text_file};
use crate::features::mission::button::{Choice, MissionButton};
use crate::features::mission::model::plan::Plan;
use crate::features::mission::model::{Mission, MissionStatus};
use kernel::chat::medium::Medium;
use kernel::chat::outbound::OutboundMessage;
use kernel::persona::roster::Roster;

/// The most steps of each kind that are named, and the most faults.
const NAMED: usize = 8;

/// The plan after a change, with a file of all of it. A plan that nobody has approved can be started from here.
pub(in crate::features::mission) fn changed(mission: &Mission, plan: &Plan, roster: &Roster) -> OutboundMessage {
    let is_proposed = mission.status == MissionStatus::Proposed;
    let mut text = changes(plan);
    if is_proposed {
        text.push_str("\nIt still waits for your word.");
    }
    let mut message = say(mission, roster, text);
    message.files.push(text_file("plan.md", render_plan(mission, plan, roster)));
    if is_proposed {
        message.buttons = [Choice::Start, Choice::Cancel].map(|choice| MissionButton::of(choice, &mission.id).render()).into();
    }
    message
}

/// What the last change did.
pub(in crate::features::mission) fn changes(plan: &Plan) -> String {
    let Some(change) = plan.changes.last() else { return "The plan is as it was.".to_owned() };
    let mut text = format!("The plan is changed. {}", sentence(&Medium::Chat.line_within(&change.why, 300)));
    let dropped: Vec<String> = change.dropped.iter().map(|step| step.title.clone()).collect();
    for (what, titles) in [("Left out", &dropped), ("New", &change.added), ("Changed", &change.edited)] {
        if titles.is_empty() {
            continue;
        }
        let named: Vec<String> = titles.iter().take(NAMED).map(|title| format!("\"{}\"", Medium::Chat.line_within(title, TITLE))).collect();
        let more = if titles.len() > NAMED { format!(" and {} more", titles.len() - NAMED) } else { String::new() };
        let _ = write!(text, "\n- {what}: {}{more}", named.join(", "));
    }
    text
}

pub(in crate::features::mission) fn nothing_changes(why: &str) -> String {
    format!("The plan stays as it is. {}", sentence(&Medium::Chat.line_within(why, 300)))
}

pub(in crate::features::mission) fn cannot_change(faults: &[String]) -> String {
    let faults: Vec<String> = faults.iter().take(NAMED).map(|fault| format!("- {}", Medium::Chat.line_within(fault, 240))).collect();
    format!("I cannot change the plan like that. Two drafts were refused, so it stays as it is:\n{}", faults.join("\n"))
}
