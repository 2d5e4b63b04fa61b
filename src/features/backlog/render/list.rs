//! The backlog as a table.

use std::fmt::Write as _;

use chrono_tz::Tz;

use crate::features::backlog::model::{Owner, PersonRequest, WorkItem, WorkStatus, name_of_helper};
use kernel::chat::medium::{Medium, flatten, shorten};
use kernel::ids::PersonaSlug;
use kernel::persona::roster::Roster;
use kernel::time::show_time;

use crate::features::backlog::render::labels;

/// The column width that keeps fifteen rows within one message.
const WHAT: usize = 38;
const OWNER: usize = 12;
const STATUS: usize = 22;

/// The most lines of what waits for people.
const WAITING: usize = 5;

#[derive(Debug, Clone, Copy)]
pub struct ListView<'a> {
    pub items: &'a [WorkItem],
    /// The whole backlog by status. Statuses without items are missing.
    pub counts: &'a [(WorkStatus, u64)],
    /// More items match than are shown.
    pub more: bool,
    /// What waits for people, oldest first.
    pub waiting: &'a [(PersonRequest, WorkItem)],
    /// Personas that an operator has paused: what they own waits.
    pub paused: &'a [PersonaSlug],
    /// The team's zone, for dates.
    pub zone: Tz,
    /// For a terminal: the table is fitted to it later, so its cells are not cut here, and commands are those of the command line.
    pub is_whole: bool,
}

/// A line with totals, then a table.
pub fn render_list(view: &ListView<'_>, roster: &Roster) -> String {
    let counted: Vec<String> = view.counts.iter().map(|(status, count)| format!("{count} {}", labels::status(*status))).collect();
    if counted.is_empty() {
        return "The backlog is empty. Add items with `/backlog add`, or hold a standup.".to_owned();
    }
    let mut text = format!("The backlog: {}.\n", counted.join(", "));
    if view.items.is_empty() && !view.waiting.is_empty() {
        push_waiting(&mut text, view);
        return text;
    }
    if view.items.is_empty() {
        let all_over = view.counts.iter().all(|(status, _)| status.is_over());
        text.push_str(if all_over { "Nothing is open." } else { "No items match this filter." });
        return text;
    }
    text.push_str("\n| id | what | owner | status | when |\n| --- | --- | --- | --- | --- |\n");
    let fit = |text: &str, most: usize| Medium::Chat.cell(&if view.is_whole { flatten(text) } else { shorten(text, most) });
    for item in view.items {
        let cells = [
            item.short_id().to_owned(),
            fit(&item.what, WHAT),
            fit(labels::name_of_owner(&item.owner, roster), OWNER) + if view.is_held_up(item) { " (paused)" } else { "" },
            fit(&stands(item), STATUS),
            item.due.map_or_else(|| labels::urgency(item.urgency), |due| format!("due {}", labels::day(due, view.zone))),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    if view.more {
        text.push_str("\nThere are more items. Filter by status or owner to see them.");
    }
    push_paused(&mut text, view, roster);
    push_waiting(&mut text, view);
    text
}

impl ListView<'_> {
    /// Whether the item waits because its owner is paused. One in review waits for its reviewer.
    pub fn is_held_up(&self, item: &WorkItem) -> bool {
        !item.status.is_over()
            && item.status != WorkStatus::InReview
            && matches!(&item.owner, Owner::Persona(slug) if self.paused.contains(slug))
    }
}

/// Which owners of these items are paused, and how they go on.
fn push_paused(text: &mut String, view: &ListView<'_>, roster: &Roster) {
    let is_shown =
        |slug: &&PersonaSlug| view.items.iter().any(|item| view.is_held_up(item) && item.owner == Owner::Persona((*slug).clone()));
    let resume = if view.is_whole { "teamroom team resume " } else { "/team resume persona:" };
    for slug in view.paused.iter().filter(is_shown) {
        let name = labels::name(roster.name_of(slug));
        let _ = write!(text, "\n{name} is paused, so these items wait until `{resume}{name}`.");
    }
    if text.ends_with('.') {
        text.push('\n');
    }
}

/// For whom something waits, since when, and how often they were reminded.
fn push_waiting(text: &mut String, view: &ListView<'_>) {
    if view.waiting.is_empty() {
        return;
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str("\nWaiting for people:\n");
    for (request, item) in view.waiting.iter().take(WAITING) {
        let _ = writeln!(text, "- {}", render_request(request, item, view.zone));
    }
    if view.waiting.len() > WAITING {
        let _ = writeln!(text, "- and {} more", view.waiting.len() - WAITING);
    }
}

/// `Ann: Pay the bill (#a1b2c3), since Fri 20 Nov, 10:00, reminded twice`.
pub fn render_request(request: &PersonRequest, item: &WorkItem, zone: Tz) -> String {
    let whom = name_of_helper(item.find_helper());
    let reminded = match request.reminders {
        0 => String::new(),
        1 => ", reminded once".to_owned(),
        2 => ", reminded twice".to_owned(),
        times => format!(", reminded {times} times"),
    };
    let due = item.due.map_or(String::new(), |due| format!(", due {}", show_time(due, zone)));
    let what = Medium::Chat.line_within(&item.what, WHAT);
    let since = show_time(request.asked_at, zone);
    format!("{}: {what} (#{}), since {since}{due}{reminded}", labels::name(whom), item.short_id())
}

/// An item in one line without markup, for a model.
pub fn render_plain(item: &WorkItem, roster: &Roster) -> String {
    let owner = labels::name_of_owner(&item.owner, roster);
    format!("#{} {} ({}, {owner}, {})", item.short_id(), flatten(&item.what), stands(item), labels::when(item, roster.zone()))
}

/// The status, or what the item waits for.
fn stands(item: &WorkItem) -> String {
    match &item.wait {
        Some(wait) if item.status == WorkStatus::Waiting => labels::wait(wait),
        _ => labels::status(item.status),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use crate::features::backlog::model::Wait;
    use kernel::chat::format::{TextFormat, align_tables};

    #[test]
    fn a_list_says_who_is_to_do_what_and_how_it_stands() {
        let waiting = WorkItem {
            status: WorkStatus::Waiting,
            wait: Some(Wait::Answer { of: "Ann".to_owned() }),
            owner: Owner::Person { id: "7".into(), name: "Ann|`x`".to_owned() },
            ..sample::item()
        };
        let counts = [(WorkStatus::Done, 1), (WorkStatus::Waiting, 1)];
        let asked_at = "2026-11-20T10:00:00Z".parse().expect("a time");
        let request = PersonRequest { item: waiting.id.clone(), run: 0, person: "7".into(), asked_at, reminders: 2, reminded_at: None };
        let asked = [(request, waiting.clone())];
        let view = ListView {
            items: &[sample::done(), waiting],
            counts: &counts,
            more: true,
            waiting: &asked,
            paused: &[],
            zone: Tz::Europe__Berlin,
            is_whole: false,
        };
        insta::assert_snapshot!(align_tables(&render_list(&view, &kernel::testing::roster::roster())));
    }

    #[test]
    fn a_paused_owner_is_named_with_what_ends_it() {
        let vince = Owner::Persona("vince".into());
        let ready = WorkItem { owner: vince.clone(), status: WorkStatus::Ready, ..sample::item() };
        let in_review = WorkItem { status: WorkStatus::InReview, ..ready.clone() };
        let items = [ready, in_review, WorkItem { owner: vince, ..sample::done() }];
        let roster = kernel::testing::roster::roster();
        let view = ListView {
            items: &items,
            counts: &[(WorkStatus::Ready, 1)],
            more: false,
            waiting: &[],
            paused: &[],
            zone: Tz::UTC,
            is_whole: false,
        };
        assert!(!render_list(&view, &roster).contains("paused"));
        let paused = ["vince".into(), "kelly".into()];
        let text = render_list(&ListView { paused: &paused, ..view }, &roster);
        assert_eq!(text.matches("Vince (paused)").count(), 1, "{text}");
        assert!(text.ends_with("\nVince is paused, so these items wait until `/team resume persona:Vince`.\n"), "{text}");
        assert!(!text.contains("Kelly is paused"), "{text}");
        let text = render_list(&ListView { paused: &paused, is_whole: true, ..view }, &roster);
        assert!(text.ends_with("until `teamroom team resume Vince`.\n"), "{text}");
    }

    #[test]
    fn an_empty_backlog_says_how_it_is_filled() {
        let roster = kernel::testing::roster::roster();
        let empty = ListView { items: &[], counts: &[], more: false, waiting: &[], paused: &[], zone: Tz::UTC, is_whole: false };
        assert!(render_list(&empty, &roster).contains("/backlog add"));
        let filtered = ListView { counts: &[(WorkStatus::Done, 2)], ..empty };
        assert_eq!(render_list(&filtered, &roster), "The backlog: 2 done.\nNothing is open.");
        let filtered = ListView { counts: &[(WorkStatus::Ready, 2)], ..empty };
        assert_eq!(render_list(&filtered, &roster), "The backlog: 2 ready.\nNo items match this filter.");
    }

    #[test]
    fn fifteen_long_rows_are_one_message() {
        let item = WorkItem {
            what: "wide words ".repeat(30),
            owner: Owner::Person { id: "7".into(), name: "Ann ".repeat(30) },
            status: WorkStatus::Waiting,
            wait: Some(Wait::Answer { of: "Somebody with a long name".to_owned() }),
            ..sample::item()
        };
        let items = vec![item; 15];
        let counts = [(WorkStatus::New, 10_000), (WorkStatus::InProgress, 3), (WorkStatus::InReview, 1), (WorkStatus::Waiting, 20)];
        let view = ListView { items: &items, counts: &counts, more: true, waiting: &[], paused: &[], zone: Tz::UTC, is_whole: false };
        let text = align_tables(&render_list(&view, &kernel::testing::roster::roster()));
        assert!(TextFormat::plain(2000).fits(&text), "{} characters", text.chars().count());
    }
}
