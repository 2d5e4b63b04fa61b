//! What people are told about a changed plan, and about messages between colleagues.

use std::fmt::Write as _;

use super::{TITLE, render_plan, say, sentence, text_file, title};
use crate::features::mission::button::{Choice, MissionButton};
use crate::features::mission::model::message::ColleagueMessage;
use crate::features::mission::model::plan::{Plan, Step};
use crate::features::mission::model::{Mission, MissionStatus};
use kernel::chat::medium::Medium;
use kernel::chat::outbound::OutboundMessage;
use kernel::persona::roster::Roster;

/// The most steps of each kind that are named, and the most faults.
const NAMED: usize = 8;

/// The most characters of a message between colleagues, and of its answer. Both fit into one message.
const SAID: usize = 850;

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

/// Lists the effects of the last change.
pub(in crate::features::mission) fn changes(plan: &Plan) -> String {
    let Some(change) = plan.changes.last() else { return "The plan is as it was.".to_owned() };
    let because =
        if change.by_colleague { format!(" after a message from {}", Medium::Chat.line_within(&change.by, 40)) } else { String::new() };
    let what = if change.is_only_answers { "Noted; the steps stay as they are" } else { "The plan is changed" };
    let mut text = format!("{what}{because}. {}", sentence(&Medium::Chat.line_within(&change.why, 300)));
    let dropped: Vec<String> = change.dropped.iter().map(|step| step.title.clone()).collect();
    for (what, titles) in [("Left out", &dropped), ("New", &change.added), ("Changed", &change.edited), ("Done again", &change.again)] {
        if titles.is_empty() {
            continue;
        }
        let named: Vec<String> = titles.iter().take(NAMED).map(|title| format!("\"{}\"", Medium::Chat.line_within(title, TITLE))).collect();
        let more = if titles.len() > NAMED { format!(" and {} more", titles.len() - NAMED) } else { String::new() };
        let _ = write!(text, "\n- {what}: {}{more}", named.join(", "));
    }
    text
}

/// Reports that a delivered mission goes on. `again`: how many of its steps are done again.
pub(in crate::features::mission) fn taken_up(mission: &Mission, again: usize) -> String {
    let steps = if again == 1 { "1 step goes back to its author".to_owned() } else { format!("{again} steps go back to their authors") };
    format!("{} is taken up again: {steps}, with the files and with what you said.", title(mission))
}

pub(in crate::features::mission) fn nothing_changes(why: &str) -> String {
    format!("The plan stays as it is. {}", sentence(&Medium::Chat.line_within(why, 300)))
}

pub(in crate::features::mission) fn cannot_change(faults: &[String]) -> String {
    let faults: Vec<String> = faults.iter().take(NAMED).map(|fault| format!("- {}", Medium::Chat.line_within(fault, 240))).collect();
    format!("I cannot change the plan like that. Two drafts were refused, so it stays as it is:\n{}", faults.join("\n"))
}

/// `**Vince → Eliza** (question): …`, by the sender, with the answer below. Names only, so nobody is pinged.
pub(in crate::features::mission) fn exchange(
    mission: &Mission,
    message: &ColleagueMessage,
    answer: Option<&str>,
    roster: &Roster,
) -> OutboundMessage {
    let name = |slug| Medium::Chat.line_within(roster.name_of(slug), 40);
    let (from, to, kind) = (name(&message.from), name(&message.to), message.kind.as_str());
    let mut text = format!("**{from} → {to}** ({kind}): {}", Medium::Chat.line_within(&message.text, SAID));
    if let Some(answer) = answer {
        let _ = write!(text, "\n**{to}**: {}", Medium::Chat.line_within(answer, SAID));
    }
    OutboundMessage { persona: message.from.clone(), ..say(mission, roster, text) }
}

pub(in crate::features::mission) fn handed_over(message: &ColleagueMessage, step: &Step, roster: &Roster) -> String {
    format!(
        "{} gets what {} hands over with the step \"{}\".",
        Medium::Chat.line_within(roster.name_of(&message.to), 40),
        Medium::Chat.line_within(roster.name_of(&message.from), 40),
        Medium::Chat.line_within(&step.title, TITLE)
    )
}
