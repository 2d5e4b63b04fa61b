//! How each part of the directive is covered.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::doer;
use crate::features::backlog::model::{WorkItem, WorkStatus};
use crate::features::mission::model::Mission;
use crate::features::mission::model::directive::{Directive, Part, PartKind};
use crate::features::mission::model::plan::{Plan, Served, Step, count_parts};
use kernel::chat::medium::Medium;
use kernel::persona::roster::Roster;

/// The most rows of a table: a file of a few megabytes, which every platform takes.
const ROWS: usize = 20_000;

/// The most lines of open parts in a message. The file has all of them.
const OPEN: usize = 6;

/// A row for each part: which step serves it and how far that is, or why nobody does.
pub(in crate::features::mission) fn render_coverage(
    directive: &Directive,
    plan: Option<&Plan>,
    items: &[WorkItem],
    roster: &Roster,
) -> String {
    let medium = Medium::File;
    let mut text = "| part | says | served by |\n| ---: | --- | --- |\n".to_owned();
    let coverage = plan.map(|plan| plan.coverage(directive)).unwrap_or_default();
    for (number, part) in directive.numbers().zip(&directive.parts).take(ROWS) {
        let by = match coverage.get(&number) {
            Some(Served::By(steps)) => steps.iter().map(|step| name_with_state(step, items, roster)).collect::<Vec<_>>().join("; "),
            Some(Served::LeftOut(why)) => format!("left out: {}", medium.cell(why)),
            Some(Served::Nobody) | None => "**open**: no step serves it".to_owned(),
        };
        let _ = writeln!(text, "| {number} | {} | {by} |", says(part));
    }
    if directive.parts.len() > ROWS {
        let _ = writeln!(text, "\nAnd {}.", count_parts(directive.parts.len() - ROWS).replace("part", "more part"));
    }
    text
}

/// A part in a cell of the table, without the marks of Markdown.
fn says(part: &Part) -> String {
    let text = Medium::File.line_within(&part.text.replace(" | ", " · "), 90);
    match part.kind {
        PartKind::Document => format!("file {text}"),
        PartKind::Heading(_) => format!("**{text}**"),
        PartKind::Task(true) => format!("☑ {text}"),
        PartKind::Task(false) => format!("☐ {text}"),
        PartKind::Item => format!("• {text}"),
        PartKind::Code => format!("code: {text}"),
        PartKind::Row | PartKind::Paragraph => text,
    }
}

fn name_with_state(step: &Step, items: &[WorkItem], roster: &Roster) -> String {
    let title = Medium::File.cell(&step.title);
    let owner = doer(step, roster);
    match items.iter().find(|item| item.id == step.item) {
        Some(item) => format!("{title} ({owner}, {})", item.status.as_str().replace('_', " ")),
        None => format!("{title} ({owner})"),
    }
}

/// How many parts are served, left out and open.
pub(in crate::features::mission) fn count(coverage: &BTreeMap<usize, Served<'_>>) -> (usize, usize, usize) {
    let count = |is: fn(&Served<'_>) -> bool| coverage.values().filter(|served| is(served)).count();
    (count(|s| matches!(s, Served::By(_))), count(|s| matches!(s, Served::LeftOut(_))), count(|s| matches!(s, Served::Nobody)))
}

/// A part is served only when all its steps are done. Neighbouring parts with the same reason share a line.
pub(super) fn what_is_open(mission: &Mission, plan: &Plan, items: &[WorkItem]) -> String {
    let is_done = |step: &Step| items.iter().any(|item| item.id == step.item && item.status == WorkStatus::Done);
    let all = mission.directive.parts.len();
    let mut served = 0;
    let mut open: Vec<(usize, usize, String)> = Vec::new();
    for (number, by) in plan.coverage(&mission.directive) {
        let why = match by {
            Served::By(steps) => match steps.iter().find(|step| !is_done(step)).map(|step| &step.title) {
                None => {
                    served += 1;
                    continue;
                }
                Some(title) => format!("\"{}\" was not done", Medium::Chat.line_within(title, 80)),
            },
            Served::LeftOut(why) => format!("left out. {}", Medium::Chat.line_within(why, 160)),
            Served::Nobody => "no step serves it".to_owned(),
        };
        match open.last_mut() {
            Some((_, last, reason)) if *last + 1 == number && *reason == why => *last = number,
            _ => open.push((number, number, why)),
        }
    }
    let mut text = format!("\n{served} of {} of the directive served", count_parts(all));
    if open.is_empty() {
        text.push('.');
        return text;
    }
    text.push_str("; not:");
    for (first, last, why) in open.iter().take(OPEN) {
        let says = mission.directive.find(*first).map_or(String::new(), |part| Medium::Chat.line_within(&part.text, 60));
        let numbers = if first == last { first.to_string() } else { format!("{first}–{last}") };
        let _ = write!(text, "\n- {numbers} \"{says}\"{}: {why}", if first == last { "" } else { " …" });
    }
    if open.len() > OPEN {
        let _ = write!(text, "\n- and {} more, in coverage.md", open.len() - OPEN);
    }
    text
}
