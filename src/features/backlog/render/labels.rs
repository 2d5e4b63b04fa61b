//! Short texts for owners, times, waits and evidence.

use chrono::{DateTime, Utc};
use chrono_tz::Tz;

use crate::features::backlog::model::{Evidence, Judge, Origin, Owner, Urgency, Wait, WorkItem, WorkStatus, name_of_helper, short_id};
use kernel::chat::medium::Medium;
use kernel::commands::KANBAN_PAGE;
use kernel::figure::amount;
use kernel::persona::roster::Roster;
use kernel::time::show_time;

const NAME: usize = 40;

/// `27 Nov`.
pub(super) fn day(at: DateTime<Utc>, zone: Tz) -> String {
    at.with_timezone(&zone).format("%-d %b").to_string()
}

/// When an item is due, or how urgent it is.
pub(super) fn when(item: &WorkItem, zone: Tz) -> String {
    item.due.map_or_else(|| urgency(item.urgency), |due| format!("due {}", show_time(due, zone)))
}

/// `in progress`.
pub(super) fn status(status: WorkStatus) -> String {
    status.as_str().replace('_', " ")
}

pub(super) fn urgency(urgency: Urgency) -> String {
    urgency.as_str().replace('_', " ")
}

pub fn name_of_owner<'a>(owner: &'a Owner, roster: &'a Roster) -> &'a str {
    match owner {
        Owner::Persona(slug) => roster.name_of(slug),
        Owner::Person { name, .. } => name,
    }
}

/// `ready → in progress`. A new item has no first part, and neither has what leaves the status as it is.
pub fn describe_change(from: Option<WorkStatus>, to: WorkStatus) -> String {
    from.filter(|from| *from != to).map_or_else(|| status(to), |from| format!("{} → {}", status(from), status(to)))
}

/// A name, escaped.
pub(super) fn name(name: &str) -> String {
    Medium::Chat.line_within(name, NAME)
}

pub(super) fn judge<'a>(judge: &'a Judge, roster: &'a Roster) -> &'a str {
    match judge {
        Judge::Persona(slug) => roster.name_of(slug),
        Judge::Person(name) => name,
    }
}

/// `waits for Ann`, short enough for a table.
pub(super) fn wait(wait: &Wait) -> String {
    match wait {
        Wait::Answer { of } => format!("waits for {of}"),
        Wait::Help { of } => format!("waits for help from {}", name_of_helper(of.as_ref())),
        Wait::Approval { .. } => "waits for approval".to_owned(),
        Wait::Budget { .. } => "waits for budget".to_owned(),
        Wait::Model => "waits for a model".to_owned(),
        Wait::Replan { .. } => "waits for another plan".to_owned(),
        Wait::Paused => "its mission is paused".to_owned(),
        Wait::Decision { .. } | Wait::Duplicate { .. } | Wait::Kind { .. } => "waits for a decision".to_owned(),
    }
}

pub(super) fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Meeting(_) => "a standup".to_owned(),
        Origin::Person { name, .. } => name.clone(),
        Origin::WorkItem(item) => format!("work on #{}", short_id(item)),
        Origin::CommandLine => "the command line".to_owned(),
        Origin::KanbanPage => KANBAN_PAGE.to_owned(),
    }
}

/// A summary of all evidence: files by name, links by number.
pub(super) fn evidence_in_short(evidence: &[Evidence], roster: &Roster) -> String {
    let links = evidence.iter().filter(|found| matches!(found, Evidence::Link { .. })).count();
    let others = evidence.iter().filter_map(|found| {
        Some(match found {
            // The review is listed instead of its criteria.
            Evidence::Link { .. } | Evidence::Criterion { .. } => return None,
            Evidence::File { path, .. } => path.clone(),
            Evidence::Branch { branch, .. } => format!("branch {branch}"),
            Evidence::Uncited { pages, .. } => removed_citations(pages.len()),
            Evidence::Delivered { at, .. } => format!("delivered {}", roster.show_time(*at)),
            Evidence::Answer { by, at, .. } => format!("answer by {by}, {}", roster.show_time(*at)),
            Evidence::Test { exit_code, .. } => format!("test exit {exit_code}"),
            Evidence::NotHeld { tests, on_base: true } => format!("{} on the base, too", failing(tests)),
            Evidence::NotHeld { tests, on_base: false } => format!("{} now and then", failing(tests)),
            Evidence::Value { name, value, unit, .. } => format!("{name} {}", amount(*value, name, unit)),
            Evidence::Reading { feed, .. } => format!("data of {feed}"),
            Evidence::NotMet { name, value, unit, .. } => format!("{name} still {}", amount(*value, name, unit)),
            Evidence::Review { by, .. } => format!("accepted by {}", judge(by, roster)),
        })
    });
    let links = match links {
        0 => None,
        1 => Some("1 link".to_owned()),
        links => Some(format!("{links} links")),
    };
    others.chain(links).collect::<Vec<_>>().join(", ")
}

/// One piece of evidence with all details and the digest of what it shows, cut to twelve characters, for those who want to check it.
pub(super) fn evidence_with_digest(found: &Evidence, roster: &Roster) -> String {
    let digest = match found {
        Evidence::File { sha256, .. } | Evidence::Link { sha256, .. } => format!(", sha256 {}", short_hash(sha256)),
        _ => String::new(),
    };
    evidence(found, roster) + &digest
}

/// One piece of evidence with all details.
pub(super) fn evidence(found: &Evidence, roster: &Roster) -> String {
    match found {
        Evidence::File { path, bytes, form, .. } => format!("file {path}: {form}, {bytes} bytes"),
        Evidence::Branch { repository, branch, diffstat, tests, .. } => {
            format!("branch {branch} of {repository}: {}{}", total(diffstat), changed_tests(tests))
        }
        Evidence::Link { url, at, .. } => format!("{url} fetched {}", roster.show_time(*at)),
        Evidence::Uncited { path, pages } => {
            format!("{} of {path}, because the pages were never read: {}", removed_citations(pages.len()), pages.join(", "))
        }
        Evidence::Delivered { message, at, .. } => format!("message {} delivered {}", message.bare(), roster.show_time(*at)),
        Evidence::Answer { by, text, at } => format!("{by} answered {}: {text}", roster.show_time(*at)),
        Evidence::Test { command, exit_code, at } => format!("\"{command}\" ended with {exit_code}, {}", roster.show_time(*at)),
        Evidence::NotHeld { .. } => found.describe_not_held().unwrap_or_default(),
        Evidence::Value { feed, name, value, unit, at } => {
            format!("{feed}: {name} was {}, {}", amount(*value, name, unit), roster.show_time(*at))
        }
        Evidence::Reading { feed, at } => format!("{feed} gave data, {}", roster.show_time(*at)),
        Evidence::NotMet { feed, name, value, unit, at } => {
            format!("{feed}: {name} was still {}, {}", amount(*value, name, unit), roster.show_time(*at))
        }
        Evidence::Criterion { criterion, shown, by, .. } => format!("{criterion} — {} found: \"{shown}\"", judge(by, roster)),
        Evidence::Review { by, note, at } => format!("{} accepted it, {}: {note}", judge(by, roster), roster.show_time(*at)),
    }
}

fn failing(tests: &[String]) -> String {
    if tests.len() == 1 { "1 test fails".to_owned() } else { format!("{} tests fail", tests.len()) }
}

/// `2 citations taken out`
fn removed_citations(count: usize) -> String {
    if count == 1 { "1 citation taken out".to_owned() } else { format!("{count} citations taken out") }
}

/// The last line of a diffstat: "1 file changed, 1 insertion(+), 1 deletion(-)".
pub(crate) fn total(diffstat: &str) -> &str {
    diffstat.lines().last().unwrap_or_default().trim()
}

/// What a reviewer must know of changed tests. Empty without any.
pub(crate) fn changed_tests(tests: &[String]) -> String {
    if tests.is_empty() { String::new() } else { format!("; tests changed: {}", tests.join(", ")) }
}

pub(super) fn short_hash(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}
