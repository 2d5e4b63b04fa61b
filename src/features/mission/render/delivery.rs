//! The delivery of a mission.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::coverage::{render_coverage, what_is_open};
use super::{TITLE, of_expected, say, sentence, text_file, title, to_asker};
use crate::features::backlog::model::{Artefact, Evidence, WorkItem, WorkStatus};
use crate::features::backlog::render::{attach_some, how_to_merge};
use crate::features::mission::button::{Choice, MissionButton};
use crate::features::mission::model::plan::Plan;
use crate::features::mission::model::{Mission, Progress};
use kernel::chat::medium::Medium;
use kernel::chat::outbound::OutboundMessage;
use kernel::ids::WorkItemId;
use kernel::money::Money;
use kernel::persona::roster::Roster;

/// The most characters of the summary, and the most failed steps that are named.
const SUMMARY: usize = 900;
const FAILURES: usize = 6;

/// The most branches whose merge is explained.
const BRANCHES: usize = 3;

/// Delivers the mission where it was asked for: the summary, the branches to merge, what was served and what not, open points, files.
pub(in crate::features::mission) fn delivery(
    mission: &Mission,
    whole: &WorkItem,
    items: &[WorkItem],
    files: &[Artefact],
    cost: Money,
    roster: &Roster,
) -> OutboundMessage {
    let Progress { steps, done, .. } = Progress::of(items);
    let verb = match whole.status {
        WorkStatus::Done => "is done",
        WorkStatus::Cancelled => "was cancelled",
        _ => "has failed",
    };
    let mut text = format!("{} {verb}. {done} of {steps} steps done, {cost}{}.", title(mission), of_expected(mission));
    let last = mission.plan.as_ref().and_then(Plan::last_step).and_then(|step| items.iter().find(|item| item.id == step.item));
    let said = match whole.status {
        WorkStatus::Done => last.and_then(|item| item.outcome.as_deref()),
        _ => whole.outcome.as_deref(),
    };
    if let Some(said) = said.filter(|said| !said.trim().is_empty()) {
        let _ = write!(text, "\n{}", sentence(&Medium::Chat.line_within(said, SUMMARY)));
    }
    let is_cause = |item: &&WorkItem| item.status == WorkStatus::Failed && !fails_with_another(item, items);
    for item in items.iter().filter(is_cause).take(FAILURES) {
        let why = item.outcome.as_deref().map_or(String::new(), |why| format!(": {}", Medium::Chat.line_within(why, 300)));
        let _ = write!(text, "\n- \"{}\" failed{why}", Medium::Chat.line_within(&item.what, TITLE));
    }
    if let Some(told) = removed_citations(items) {
        let _ = write!(text, "\n{told}");
    }
    let merges: Vec<String> = branches_to_merge(items).map(how_to_merge).collect();
    text.extend(merges.iter().take(BRANCHES).map(String::as_str));
    if merges.len() > BRANCHES {
        text.push_str("\nThere are more branches to merge: the thread has each with its step.");
    }
    let mut message = OutboundMessage { id: mission.message_id(&format!("delivery-{}", whole.run)), ..say(mission, roster, "") };
    if let Some(plan) = &mission.plan {
        text.push_str(&what_is_open(mission, plan, items));
        let table = render_coverage(&mission.directive, Some(plan), items, roster);
        message.files.push(text_file("coverage.md", format!("# {}\n\n{table}", Medium::File.line(&mission.title))));
    }
    if !attach_some(&mut message.files, files).is_empty() {
        text.push_str("\nThe thread has more files, each with its step.");
    }
    if whole.status == WorkStatus::Cancelled {
        message.buttons.push(MissionButton::of(Choice::Restore, &mission.id).render());
    }
    if whole.status != WorkStatus::Done && !items.is_empty() {
        message.buttons.push(MissionButton::of(Choice::Retry, &mission.id).render());
    }
    message.text = text;
    to_asker(mission, message)
}

/// Says how many citations were removed from the results because nobody had read the pages. None if there are none.
pub(super) fn removed_citations(items: &[WorkItem]) -> Option<String> {
    let removed = items.iter().flat_map(|item| &item.evidence).map(|found| match found {
        Evidence::Uncited { pages, .. } => pages.len(),
        _ => 0,
    });
    match removed.sum() {
        0 => None,
        1 => Some(
            "1 citation was taken out, because nobody had read the page. What rested on it alone is marked \"(no source)\".".to_owned(),
        ),
        many => Some(format!(
            "{many} citations were taken out, because nobody had read the pages. What rested on them alone is marked \"(no source)\"."
        )),
    }
}

/// The finished steps that changed a repository, without those whose change is in the branch of another one.
fn branches_to_merge(items: &[WorkItem]) -> impl Iterator<Item = &WorkItem> {
    let has_branch = |item: &&WorkItem| item.status == WorkStatus::Done && !how_to_merge(item).is_empty();
    let mut open: Vec<&WorkItem> = items.iter().filter(has_branch).collect();
    let mut contained: HashSet<&WorkItemId> = HashSet::new();
    while let Some(item) = open.pop() {
        let added = item.depends_on.iter().filter_map(|need| items.iter().find(|other| other.id == *need));
        for need in added.collect::<Vec<_>>() {
            if contained.insert(&need.id) {
                open.push(need);
            }
        }
    }
    items.iter().filter(has_branch).filter(move |item| !contained.contains(&item.id))
}

/// Whether an item failed because another one that it needs was lost.
fn fails_with_another(item: &WorkItem, items: &[WorkItem]) -> bool {
    item.depends_on.iter().any(|need| items.iter().any(|other| other.id == *need && other.status != WorkStatus::Done))
}
