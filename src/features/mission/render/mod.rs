//! What people see of missions. `plan` has the card and the file of a plan, `graph` its picture, `coverage` what becomes of each part,
//! `change` what became different on the way, `new_persona` who may join for it, `delivery` the end.

mod change;
mod coverage;
mod delivery;
mod graph;
mod new_persona;
mod plan;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::features::backlog::model::{Wait, WorkItem, WorkStatus};
use crate::features::backlog::render::name_of_owner;
use crate::features::mission::button::{Choice, MissionButton};
use crate::features::mission::model::plan::{Step, count_parts};
use crate::features::mission::model::{Mission, MissionStatus, Progress};
use kernel::agent::offline::wording;
use kernel::chat::medium::Medium;
use kernel::chat::outbound::{Button, FileContent, OutboundFile, OutboundKind, OutboundMessage, Placement};
use kernel::ids::WorkItemId;
use kernel::money::{Limit, Money, Refused};
use kernel::persona::roster::Roster;
use kernel::text::capital;

pub(super) use change::{cannot_change, changed, changes, exchange, handed_over, nothing_changes, taken_up};
pub(super) use coverage::{count, render_coverage};
pub(super) use delivery::delivery;
pub(super) use graph::{DrawnStep, draw_graph};
pub(super) use new_persona::{
    missing, new_personas, not_drafted, persona_answered, persona_decided, persona_joined, persona_not_written, persona_written,
};
pub(super) use plan::{Start, answered, plan_card, questions, render_plan, settled_questions, terms};

/// The length of a progress bar.
const BAR: usize = 12;

/// The most characters of a title in a line.
const TITLE: usize = 100;

/// The most personas of a progress line, and the most steps of a list.
const BUSY: usize = 4;
const LISTED: usize = 6;

/// A message in the mission's thread, by the coordinator.
pub(super) fn say(mission: &Mission, roster: &Roster, text: impl Into<String>) -> OutboundMessage {
    let message = OutboundMessage::new(&roster.coordinator().slug, &mission.channel, OutboundKind::Notice, text);
    let place = match &mission.opening {
        Some(opening) => Placement::Thread { on: opening.clone(), name: mission.title.clone() },
        None => Placement::Channel,
    };
    OutboundMessage { place, ..message }
}

pub(super) fn title(mission: &Mission) -> String {
    format!("**{}** (`#{}`)", Medium::Chat.line_within(&mission.title, TITLE), mission.short_id())
}

/// The text with a capital and a full stop.
fn sentence(text: &str) -> String {
    let end = if text.is_empty() || text.ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!("{}{end}", capital(text))
}

/// The name of who does a step.
pub(super) fn doer<'a>(step: &'a Step, roster: &'a Roster) -> &'a str {
    step.person.as_ref().map_or_else(|| roster.name_of(&step.owner), |person| name_of_owner(person, roster))
}

fn text_file(name: &str, text: String) -> OutboundFile {
    OutboundFile { name: name.to_owned(), content: FileContent::Text(text) }
}

/// The first message, where the mission was asked for: what the team understood.
pub(super) fn opening(mission: &Mission, documents: &[String]) -> String {
    let of = match documents {
        [] => String::new(),
        [one] => format!(": {} of {}", count_parts(mission.directive.parts.len()), Medium::Chat.line_within(one, 60)),
        several => format!(": {} of {} files", count_parts(mission.directive.parts.len()), several.len()),
    };
    let place = if mission.opening.is_some() { "in the thread below" } else { "here" };
    format!("I take this as a mission, {}{of}. The plan and the progress come {place}.", title(mission))
}

pub(super) fn cancel_button(mission: &Mission) -> Button {
    MissionButton::of(Choice::Cancel, &mission.id).render()
}

pub(super) fn ask_cancel(mission: &Mission) -> String {
    format!("Cancel {}? There is work in it. It can be taken back for an hour.", title(mission))
}

pub(super) fn confirm_buttons(mission: &Mission) -> Vec<Button> {
    [Choice::CancelNow, Choice::Keep].map(|choice| MissionButton::of(choice, &mission.id).render()).into()
}

/// A mission without steps was cancelled.
pub(super) fn cancelled(mission: &Mission, by: &str, roster: &Roster) -> OutboundMessage {
    let text = format!("{} cancelled {}.", Medium::Chat.line_within(by, 40), title(mission));
    OutboundMessage { buttons: vec![MissionButton::of(Choice::Restore, &mission.id).render()], ..say(mission, roster, text) }
}

/// A cancellation was taken back.
pub(super) fn restored(mission: &Mission, status: MissionStatus, by: &str, roster: &Roster) -> OutboundMessage {
    let goes_on = match status {
        MissionStatus::Proposed => "The plan waits for your word.",
        MissionStatus::Paused => "It is paused, as before. `/mission resume` goes on.",
        _ => "It goes on where it was.",
    };
    let text = format!("{} took back that {} was cancelled. {goes_on}", Medium::Chat.line_within(by, 40), title(mission));
    let start = (status == MissionStatus::Proposed).then(|| MissionButton::of(Choice::Start, &mission.id).render());
    OutboundMessage { buttons: start.into_iter().chain([cancel_button(mission)]).collect(), ..say(mission, roster, text) }
}

pub(super) fn reading(mission: &Mission) -> String {
    let parts = count_parts(mission.directive.parts.len());
    format!(
        "Planning. The directive has {parts}; the plan will say which step serves which. `/mission tell` adds something for those who work on it."
    )
}

/// `▰▰▰▱▱▱ 3 of 6 steps · $0.04 · Vince: Write the interface`, one line that is edited in place.
pub(super) fn progress(mission: &Mission, items: &[WorkItem], cost: Money, roster: &Roster) -> String {
    let progress = Progress::of(items);
    let full = (progress.done * BAR).checked_div(progress.steps).unwrap_or(0);
    let mut text = format!("{}{} {} of {} steps done", "▰".repeat(full), "▱".repeat(BAR - full), progress.done, progress.steps);
    let is_over = |id: &WorkItemId| items.iter().any(|item| item.id == *id && item.status.is_over());
    if let Some(phase) = mission.plan.as_ref().and_then(|plan| plan.find_phase(is_over)) {
        let _ = write!(text, " · {}", phase.as_str());
    }
    if cost != Money::ZERO {
        let _ = write!(text, " · {cost}");
    }
    if mission.status == MissionStatus::Paused {
        text.push_str(" · paused");
    }
    let busy: Vec<&WorkItem> = items.iter().filter(|item| matches!(item.status, WorkStatus::InProgress | WorkStatus::InReview)).collect();
    for item in busy.iter().take(BUSY) {
        let who = item.persona.as_ref().map_or("somebody", |slug| roster.name_of(slug));
        let doing = if item.status == WorkStatus::InReview { "in review: " } else { "" };
        let _ = write!(text, "\n{who}: {doing}{}", Medium::Chat.line_within(&item.what, TITLE));
    }
    for item in items.iter().filter(|item| item.status == WorkStatus::Waiting) {
        let why = item.wait.as_ref().map_or(String::new(), Wait::describe);
        let _ = write!(text, "\nWaits {}: {}", Medium::Chat.line_within(&why, 120), Medium::Chat.line_within(&item.what, TITLE));
    }
    text
}

/// Reports that most of the budget is used.
pub(super) fn budget_low(mission: &Mission, used: &Refused, step: i64, roster: &Roster) -> OutboundMessage {
    let (spent, allowed) = (used.limit.render(used.spent), used.limit.render(used.allowed));
    let text = format!("{} has used {spent} of its budget of {allowed}. When that is used up, its steps wait.", title(mission));
    OutboundMessage { buttons: vec![raise_button(mission, used, step)], ..say(mission, roster, text) }
}

/// Reports that nothing goes on before the budget is raised.
pub(super) fn budget_used_up(mission: &Mission, used: &Refused, step: i64, roster: &Roster) -> OutboundMessage {
    let (spent, allowed) = (used.limit.render(used.spent), used.limit.render(used.allowed));
    let text = format!(
        "{} has come to the end of its budget: {spent} of {allowed} are used, and the next call may cost more than what is left. What is done is \
         kept, and the rest waits.",
        title(mission)
    );
    OutboundMessage { buttons: vec![raise_button(mission, used, step), cancel_button(mission)], ..say(mission, roster, text) }
}

fn raise_button(mission: &Mission, used: &Refused, step: i64) -> Button {
    let tokens = matches!(used.limit, Limit::MissionTokens(_));
    let button = MissionButton::of(Choice::Raise { tokens, from: used.allowed }, &mission.id).render();
    Button { label: format!("Raise by {}", used.limit.render(step)), ..button }
}

/// The state of the mission, for a command or a question.
pub(super) fn status(mission: &Mission, items: &[WorkItem], (cost, messages): (Money, usize), roster: &Roster) -> String {
    let about = format!("{}: {}", title(mission), mission.status.as_str());
    let why = mission.why.as_ref().map_or(String::new(), |why| format!(", {}", Medium::Chat.line_within(why, 300)));
    if items.is_empty() {
        return format!("{about}{why}.");
    }
    let mut text = format!("{about}{why}.\n{}", progress(mission, items, cost, roster));
    match messages {
        0 => {}
        1 => text.push_str("\n1 message between colleagues so far; the thread has it."),
        many => _ = write!(text, "\n{many} messages between colleagues so far; the thread has them."),
    }
    if let Some(told) = delivery::removed_citations(items) {
        let _ = write!(text, "\n{told}");
    }
    if let Some(plan) = &mission.plan {
        for line in plan::left_out_lines(mission, plan) {
            let _ = write!(text, "\nLeft out: {}", line.trim_start_matches("- "));
        }
        for (_, question) in plan.open_questions() {
            let _ = write!(text, "\nAsked, without an answer so far: {}", Medium::Chat.line_within(question, 200));
        }
    }
    text
}

pub(super) fn list(missions: &[Mission]) -> String {
    if missions.is_empty() {
        return "There are no missions. Drop a document into a channel and say \"plan this\", or use `/mission start`.".to_owned();
    }
    let line = |mission: &Mission| {
        let steps = mission.plan.as_ref().map_or(String::new(), |plan| format!(", {}", wording::count(plan.steps.len(), "step")));
        format!("- {}: {}{steps}", title(mission), mission.status.as_str())
    };
    missions.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The expected cost, beside the actual one.
fn of_expected(mission: &Mission) -> String {
    let expected = mission.plan.as_ref().and_then(|plan| plan.expected);
    expected.map_or_else(String::new, |money| format!(" (expected: about {money})"))
}

/// The cost of each step and of each persona.
pub(super) fn costs(mission: &Mission, items: &[WorkItem], planning: Money, budget: Option<Money>, roster: &Roster) -> String {
    let total: Money = items.iter().map(|item| item.cost).sum::<Money>() + planning;
    let of = budget.map_or_else(String::new, |budget| format!(" of {budget}"));
    let mut text = format!("{} has cost {total}{of}{}: planning {planning}", title(mission), of_expected(mission));
    let mut by_persona: BTreeMap<&str, Money> = BTreeMap::new();
    for item in items {
        let who = item.persona.as_ref().map_or("nobody", |slug| roster.name_of(slug));
        let sum = by_persona.entry(who).or_default();
        *sum = *sum + item.cost;
    }
    for (who, money) in by_persona.iter().filter(|(_, money)| **money != Money::ZERO) {
        let _ = write!(text, ", {who} {money}");
    }
    text.push('.');
    for item in items {
        let _ =
            write!(text, "\n- {}: {} ({})", Medium::Chat.line_within(&item.what, TITLE), item.cost, item.status.as_str().replace('_', " "));
    }
    text
}

pub(super) fn no_plan(mission: &Mission, faults: &[String], item: &WorkItem, roster: &Roster) -> OutboundMessage {
    let faults: Vec<String> = faults.iter().take(6).map(|fault| format!("- {}", Medium::Chat.line_within(fault, 240))).collect();
    let text = format!(
        "I have no plan for {}. Two drafts were refused:\n{}\nIt stays with me as \"{}\" (`#{}`). You can also ask for less at once.",
        title(mission),
        faults.join("\n"),
        Medium::Chat.line_within(&item.what, TITLE),
        item.short_id()
    );
    to_asker(mission, say(mission, roster, text))
}

fn to_asker(mission: &Mission, message: OutboundMessage) -> OutboundMessage {
    OutboundMessage {
        place: Placement::Channel,
        reply_to: mission.message.clone(),
        pings: mission.by.iter().map(|(id, _)| id.clone()).collect(),
        ..message
    }
}

pub(super) fn replanned(failed: &str, why: &str, next: &Step, roster: &Roster) -> String {
    format!(
        "\"{}\" could not be done: {}. Another way: {} does \"{}\".",
        Medium::Chat.line_within(failed, TITLE),
        Medium::Chat.line_within(why, 300).trim_end_matches('.'),
        roster.name_of(&next.owner),
        Medium::Chat.line_within(&next.title, TITLE)
    )
}

pub(super) fn stands_still(mission: &Mission, items: &[WorkItem]) -> String {
    let open: Vec<String> = items
        .iter()
        .filter(|item| !item.status.is_over())
        .take(LISTED)
        .map(|item| format!("- {} ({})", Medium::Chat.line_within(&item.what, TITLE), item.status.as_str().replace('_', " ")))
        .collect();
    format!(
        "{} stands still: nobody works on what is left, and nobody is asked.\n{}\n`/mission retry` starts it again.",
        title(mission),
        open.join("\n")
    )
}
