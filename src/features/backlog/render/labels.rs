//! Short texts for owners, times, waits and evidence.

use chrono::{DateTime, Utc};

use crate::features::backlog::model::{Evidence, Judge, Origin, Owner, Urgency, Wait, WorkStatus, name_of_helper, short_id};
use kernel::chat::medium::Medium;
use kernel::figure::amount;
use kernel::persona::roster::Roster;

const NAME: usize = 40;

/// `2026-11-20 08:03 UTC`.
pub(super) fn time(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
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

/// `ready → in progress`. A new item has no first part.
pub fn describe_change(from: Option<WorkStatus>, to: WorkStatus) -> String {
    from.map_or_else(|| status(to), |from| format!("{} → {}", status(from), status(to)))
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
        Wait::Decision { .. } | Wait::Duplicate { .. } => "waits for a decision".to_owned(),
    }
}

pub(super) fn origin(origin: &Origin) -> String {
    match origin {
        Origin::Meeting(_) => "a standup".to_owned(),
        Origin::Person { name, .. } => name.clone(),
        Origin::WorkItem(item) => format!("work on #{}", short_id(item)),
        Origin::CommandLine => "the command line".to_owned(),
    }
}

/// A summary of all evidence: files by name, links by number.
pub(super) fn evidence_in_short(evidence: &[Evidence], roster: &Roster) -> String {
    let links = evidence.iter().filter(|found| matches!(found, Evidence::Link { .. })).count();
    let others = evidence.iter().filter_map(|found| {
        Some(match found {
            Evidence::Link { .. } => return None,
            Evidence::File { path, .. } => path.clone(),
            Evidence::Delivered { at, .. } => format!("delivered {}", at.format("%H:%M UTC")),
            Evidence::Answer { by, at, .. } => format!("answer by {by}, {}", at.format("%H:%M UTC")),
            Evidence::Test { exit_code, .. } => format!("test exit {exit_code}"),
            Evidence::Value { name, value, unit, .. } => format!("{name} {}", amount(*value, name, unit)),
            Evidence::Reading { feed, .. } => format!("data of {feed}"),
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

/// One piece of evidence with all details. Hashes are cut to twelve characters.
pub(super) fn evidence(found: &Evidence, roster: &Roster) -> String {
    match found {
        Evidence::File { path, sha256, bytes, form } => format!("file {path}: {form}, {bytes} bytes, sha256 {}", short_hash(sha256)),
        Evidence::Link { url, sha256, at } => format!("{url} fetched {}, sha256 {}", time(*at), short_hash(sha256)),
        Evidence::Delivered { message, at, .. } => format!("message {} delivered {}", message.bare(), time(*at)),
        Evidence::Answer { by, text, at } => format!("{by} answered {}: {text}", time(*at)),
        Evidence::Test { command, exit_code, at } => format!("\"{command}\" ended with {exit_code}, {}", time(*at)),
        Evidence::Value { feed, name, value, unit, at } => {
            format!("{feed}: {name} was {}, {}", amount(*value, name, unit), time(*at))
        }
        Evidence::Reading { feed, at } => format!("{feed} gave data, {}", time(*at)),
        Evidence::Review { by, note, at } => format!("{} accepted it, {}: {note}", judge(by, roster), time(*at)),
    }
}

pub(super) fn short_hash(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}
